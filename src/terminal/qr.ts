// QR codes.
export interface QrSpace { readonly maxColumns: number; readonly maxRows: number }
export function qrLines(text: string, space: QrSpace): string[] | undefined {
  return text.length > space.maxColumns ? undefined : [];
}
