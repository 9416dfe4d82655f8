// A text file with a hash file in the format of sha256sum, which reveals changes to the text. The
// hash file of a text file also contains the hash of the previous text file's hash file, so that
// the files form a chain.
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { Failure } from '../../formats/failure.js';
import { isThere, openFolder } from './home.js';

const hashFile = (path: string): string => `${path}.sha256`;

export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

const hashLine = (path: string, text: string): string => `${sha256Of(text)}  ${basename(path)}\n`;

const readText = (path: string): string => (isThere(path) ? readFileSync(path, 'utf8') : '');

/**
 * Returns the text of the hash file.
 * @param after the path of the previous text file in the chain
 */
function hashLines(path: string, text: string, after: string | undefined): string {
  if (after === undefined) return hashLine(path, text);
  const earlier = hashFile(after);
  return hashLine(earlier, readText(earlier)) + hashLine(path, text);
}

/**
 * Writes the hash file before the text file, so that every text file has a hash. Throws Failure
 * `usage` if the file cannot be written.
 * @param after the path of the previous text file in the chain, in the same folder
 */
export function writeSealed(path: string, text: string, after?: string): void {
  openFolder(dirname(path));
  try {
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    writeFileSync(hashFile(path), hashLines(path, text, after), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch (cause) {
    throw new Failure('usage', `${path} cannot be written.`, { cause });
  }
}

/** Throws Failure `books-differ` if the text was changed or is missing. */
export function readSealed(path: string, sha256: string, after?: string): string {
  if (!isThere(path))
    throw new Failure('books-differ', `${path}, a file of a closed month, is missing.`, {
      hint: 'Restore the file and its hash file from a backup.',
    });
  const text = readText(path);
  if (sha256Of(text) === sha256 && readText(hashFile(path)) === hashLines(path, text, after))
    return text;
  throw new Failure(
    'books-differ',
    `${path} was changed after the month was closed: its SHA-256 differs from the one in ` +
      `${hashFile(path)}.`,
    { hint: 'Restore the file and its hash file from a backup.' },
  );
}
