// Tells a waiting script that something is ready: a JSON file that appears whole or not at all.
import { rename, rm, writeFile } from 'node:fs/promises';
import { Failure } from '../formats/failure.js';

/** Writes the file; the returned function removes it, so that nobody takes a server for ready that has ended. */
export async function announceReady(file: string, ready: { readonly pid: number; readonly url: string }): Promise<() => Promise<void>> {
  const unfinished = `${file}.${ready.pid}.tmp`;
  try {
    await writeFile(unfinished, `${JSON.stringify(ready)}\n`);
    await rename(unfinished, file);
  } catch (cause) {
    await rm(unfinished, { force: true });
    throw new Failure('usage', `The ready file ${file} cannot be written.`, { cause });
  }
  return () => rm(file, { force: true });
}
