// Decompresses responses, because a server may compress them unasked.
import { entryOf } from '../../formats/unknown.js';

/** Undoes `content-encoding`; rejects if it cannot. */
export async function unpacked(bytes: Buffer, coding: string, mostBytes: number): Promise<Buffer> {
  const { brotliDecompressSync, gunzipSync, inflateSync } = await import('node:zlib');
  const undo: Readonly<Record<string, (packed: Buffer) => Buffer>> = {
    gzip: (packed) => gunzipSync(packed, { maxOutputLength: mostBytes }),
    deflate: (packed) => inflateSync(packed, { maxOutputLength: mostBytes }),
    br: (packed) => brotliDecompressSync(packed, { maxOutputLength: mostBytes }),
    identity: (whole) => whole,
  };
  return codingsOf(coding).reduceRight((packed, name) => {
    const unpack = entryOf(undo, name);
    if (unpack === undefined)
      throw new Error(`the answer is compressed as ${name}, which was not requested`);
    return unpack(packed);
  }, bytes);
}

/** In the order of application. */
const codingsOf = (coding: string): string[] =>
  coding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim().replace(/^x-/, ''));
