// A text file with its SHA-256 in the format of sha256sum, which reveals changes.
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { Failure } from '../../formats/failure.js';
import { isThere, openFolder } from './home.js';

const hashFile = (path: string): string => `${path}.sha256`;

export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

const hashLine = (path: string, text: string): string => `${sha256Of(text)}  ${basename(path)}\n`;

/** Writes the hash first, so that every text has one. Throws Failure `usage` if it cannot be written. */
export function writeSealed(path: string, text: string): void {
  openFolder(dirname(path));
  try {
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    writeFileSync(hashFile(path), hashLine(path, text), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch (cause) {
    throw new Failure('usage', `${path} cannot be written.`, { cause });
  }
}

/** Undefined if the file does not exist. Throws Failure `books-differ` for a changed text. */
export function readSealed(path: string): string | undefined {
  if (!isThere(path)) return undefined;
  const text = readFileSync(path, 'utf8');
  const hash = isThere(hashFile(path)) ? readFileSync(hashFile(path), 'utf8') : '';
  if (hash === hashLine(path, text)) return text;
  throw new Failure(
    'books-differ',
    `${path} was changed after it was closed: its SHA-256 is not the one in ${hashFile(path)}.`,
    {
      hint: 'Restore both files from a backup, or remove them to close the month again.',
    },
  );
}
