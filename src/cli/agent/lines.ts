// The lines of a byte stream, none longer than it may be.

/** A line, or that one was too long: what it said is dropped. */
export type Line = { readonly text: string } | { readonly tooLong: true };

const newline = 0x0a;

/** Yields each line without its end; those with nothing but space are left out. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array | string>,
  longest: number,
): AsyncGenerator<Line, void, void> {
  let parts: Buffer[] = [];
  let length = 0;
  const line = (): Line[] => {
    const text = length > longest ? undefined : Buffer.concat(parts).toString('utf8').trim();
    parts = [];
    length = 0;
    if (text === undefined) return [{ tooLong: true }];
    return text === '' ? [] : [{ text }];
  };
  for await (const chunk of chunks) {
    let rest = Buffer.from(chunk);
    for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
      add(rest.subarray(0, end));
      yield* line();
      rest = rest.subarray(end + 1);
    }
    add(rest);
  }
  yield* line();

  function add(part: Buffer): void {
    length += part.length;
    if (length <= longest) parts.push(part);
    else parts = [];
  }
}
