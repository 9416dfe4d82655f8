export function pack(root: string, folder: string): string;
