// Reads stdin, up to a limit, and files from the command line.
import { readFile } from 'node:fs/promises';
import { Failure } from '../formats/failure.js';
import type { Context } from './context.js';

const longest = 16 * 1024 * 1024;

export const readStdin = async (context: Context): Promise<string> =>
  (await readStdinBytes(context)).toString('utf8');

/** Throws Failure `usage` at a terminal, instead of waiting silently. */
export async function readStdinBytes({ stdin }: Context): Promise<Buffer> {
  if (stdin.isTTY)
    throw new Failure('usage', 'Nothing is piped in.', { hint: 'Pipe it: … | svcpay …' });
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin.open()) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > longest) throw new Failure('usage', 'stdin is too large.');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Throws Failure `usage` if the file cannot be read. */
export const readGivenFile = (file: string): Promise<Buffer> =>
  readFile(file).catch((cause: unknown) => {
    throw new Failure('usage', `The file ${file} cannot be read.`, { cause });
  });

/** The text of a file, or of stdin for `-`. */
export const readGivenText = async (file: string, context: Context): Promise<string> =>
  file === '-' ? readStdin(context) : (await readGivenFile(file)).toString('utf8');
