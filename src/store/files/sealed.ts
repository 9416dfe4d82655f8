// A text file with a hash file in the format of sha256sum. svcpay never overwrites a file that has
// different content.
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { Failure } from '../../formats/failure.js';
import { isThere, openFolder } from './home.js';

export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Throws Failure `usage` if the file exists and has different content. */
export function checkSealed(path: string, text: string): void {
  if (!isThere(path) || readFileSync(path, 'utf8') === text) return;
  throw new Failure('usage', `${path} exists and has different content.`, {
    hint: 'Move that file away, or choose another folder with --folder.',
  });
}

/**
 * Writes the hash file before the text file, so that every text file has a hash. Throws Failure
 * `usage` if the file cannot be written, or if it exists and has different content.
 */
export function writeSealed(path: string, text: string): void {
  checkSealed(path, text);
  openFolder(dirname(path));
  try {
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    writeFileSync(`${path}.sha256`, `${sha256Of(text)}  ${basename(path)}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch (cause) {
    throw new Failure('usage', `${path} cannot be written.`, { cause });
  }
}
