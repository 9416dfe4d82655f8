// Encodes a square black-and-white picture as PNG with one bit per pixel and three chunks.
import { crc32, deflateSync } from 'node:zlib';

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

export function encodePng(
  size: number,
  isDark: (row: number, column: number) => boolean,
): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // The PNG has one bit per pixel in greyscale. The compression, filter and interlacing methods
  // have the simplest value, 0.
  header.writeUInt8(1, 8);
  const pixels = Buffer.concat(
    Array.from({ length: size }, (_, row) => scanline(size, (column) => isDark(row, column))),
  );
  return Buffer.concat([
    Buffer.from(signature),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/**
 * Encodes a line of pixels: a filter byte (no filter), then eight pixels per byte, with the
 * leftmost pixel in the highest bit. A bit with the value 1 is a white pixel.
 */
function scanline(size: number, isDark: (column: number) => boolean): Buffer {
  const line = Buffer.alloc(1 + Math.ceil(size / 8));
  for (let column = 0; column < size; column++) {
    const index = 1 + (column >> 3);
    if (!isDark(column)) line.writeUInt8(line.readUInt8(index) | (0x80 >> (column & 7)), index);
  }
  return line;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
