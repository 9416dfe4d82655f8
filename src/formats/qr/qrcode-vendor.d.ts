// Types of the encoder inside qrcode-terminal 0.12.0, limited to the parts that svcpay uses. The
// package qrcode-terminal itself does not contain types.
declare module 'qrcode-terminal/vendor/QRCode/index.js' {
  export interface BitBuffer {
    put(value: number, bits: number): void;
  }

  /** A part of the text, encoded in one of the modes that the QR standard defines. */
  export interface Segment {
    readonly mode: number;
    getLength(): number;
    write(buffer: BitBuffer): void;
  }

  class QRCode {
    /** If the type number is below 1, `make` finds the smallest type that fits. */
    constructor(typeNumber: number, errorCorrectLevel: number);
    readonly dataList: Segment[];
    /** Throws if the text does not fit into the largest type of QR code. */
    make(): void;
    getModuleCount(): number;
    isDark(row: number, column: number): boolean;
  }

  export default QRCode;
}
