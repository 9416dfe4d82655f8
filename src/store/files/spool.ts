// A private copy of input that svcpay reads twice, so that the input cannot change between the
// reads.
import { randomUUID } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../../formats/failure.js';

export type Spool = Awaited<ReturnType<typeof openSpool>>;

/**
 * Copies the input to a private file, which is deleted by the end of `close` at the latest. The
 * private file is in the temporary folder, because the home may be read-only. Throws Failure
 * `usage` if the disk is full.
 */
export async function openSpool(source: AsyncIterable<Buffer>) {
  const folder = tmpdir();
  const path = join(folder, `svcpay-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600).catch((cause: unknown) => {
    throw noSpace(folder, cause);
  });
  // Unlinks the copy at once if the system allows this, so that a crash leaves no file behind.
  let named = await unlink(path).then(
    () => false,
    () => true,
  );
  const close = async (): Promise<void> => {
    await file.close();
    if (named) await unlink(path);
    named = false;
  };
  try {
    for await (const chunk of source) {
      await file.write(chunk).catch((cause: unknown) => {
        throw noSpace(folder, cause);
      });
    }
  } catch (error) {
    await close();
    throw error;
  }
  /** Reads the complete input from its start. */
  const read = (): AsyncIterable<Buffer> => file.createReadStream({ start: 0, autoClose: false });
  return { read, close };
}

const noSpace = (folder: string, cause: unknown): Failure =>
  new Failure('usage', `Nothing was sent: the folder ${folder} cannot hold a copy of the file.`, {
    hint: 'Free disk space, or set TMPDIR to another folder.',
    cause,
  });
