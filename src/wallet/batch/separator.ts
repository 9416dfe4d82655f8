// Finds the separator of a CSV file: the one that a first line `sep=;` names, or the one that the
// head has most of.
import { errorOf } from '../../formats/unknown.js';

export interface Separated {
  /** The file without its `sep=` line. */
  readonly bytes: AsyncIterable<Buffer>;
  readonly separator: string;
  /** The number of the first line in `bytes`. */
  readonly firstLine: number;
}

const separators = [',', ';', '\t'] as const;

/** @param longest so many bytes of the first lines are looked at */
export async function openSeparated(
  source: AsyncIterable<Buffer>,
  longest: number,
): Promise<Separated> {
  const chunks = source[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  let failure: unknown;
  while (start.length < longest && !hasHead(start)) {
    const next = await chunks.next().catch((error: unknown) => {
      failure = error;
      return { done: true as const, value: undefined };
    });
    if (next.done === true) break;
    start = Buffer.concat([start, next.value]);
  }
  const named = /^(?:\u00EF\u00BB\u00BF)?sep=(.)\r?(?:\n|$)/i.exec(start.toString('latin1'));
  const left = named === null ? start : start.subarray(named[0].length);
  const separator = named?.[1] ?? likeliest(left.toString('latin1'));
  const bytes = async function* (): AsyncGenerator<Buffer> {
    yield left;
    if (failure !== undefined) throw errorOf(failure);
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  return { bytes: bytes(), separator, firstLine: named === null ? 1 : 2 };
}

/** Two lines, because the first can be that of the separator. */
function hasHead(start: Buffer): boolean {
  const whole = start.toString('latin1').split('\n').slice(0, -1);
  return whole.filter((line) => line.trim() !== '').length >= 2;
}

/** Separators within quotes do not count. */
function likeliest(text: string): string {
  const [head = ''] = text.split(/\r\n|[\r\n]/).filter((line) => line.trim() !== '');
  const bare = head.replaceAll(/"[^"]*"/g, '');
  const counts = separators.map((each) => bare.split(each).length);
  return separators[counts.indexOf(Math.max(...counts))] ?? ',';
}
