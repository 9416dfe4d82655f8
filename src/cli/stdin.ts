// Reads stdin up to a size limit, and reads files that the command line names.
import { readFile } from 'node:fs/promises';
import { Failure } from '../formats/failure.js';
import type { Deps } from './define.js';

const longest = 16 * 1024 * 1024;

export const readStdin = async (deps: Deps<'stdin'>): Promise<string> =>
  (await readStdinBytes(deps)).toString('utf8');

/**
 * Reads stdin to the end. Throws Failure `usage` if stdin is a terminal, because svcpay would
 * otherwise wait silently.
 */
export async function readStdinBytes({ stdin }: Deps<'stdin'>): Promise<Buffer> {
  if (stdin.isTTY)
    throw new Failure('usage', 'Nothing is piped into svcpay.', {
      hint: 'Pipe the input: … | svcpay …',
    });
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin.open()) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > longest) throw new Failure('usage', 'The input on stdin is larger than 16 MiB.');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** Reads a file. Throws Failure `usage` if svcpay cannot read the file. */
export const readGivenFile = (file: string): Promise<Buffer> =>
  readFile(file).catch((cause: unknown) => {
    throw new Failure('usage', `The file ${file} cannot be read.`, { cause });
  });

/** Reads the text of a file, or the text on stdin for `-`. */
export const readGivenText = async (file: string, context: Deps<'stdin'>): Promise<string> =>
  file === '-' ? readStdin(context) : (await readGivenFile(file)).toString('utf8');
