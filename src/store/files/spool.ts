// A private copy of what is read once and needed twice: it cannot change in between, and is gone when it is closed.
import { randomUUID } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../formats/failure.js';
import { openFolder } from './home.js';

export type Spool = Awaited<ReturnType<typeof openSpool>>;

/** Throws Failure `usage` where the folder has no room for it. */
export async function openSpool(folder: string, source: AsyncIterable<Buffer>) {
  const path = join(openFolder(folder), `spool-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600).catch((cause: unknown) => {
    throw noRoom(folder, cause);
  });
  // Where the system allows it the name goes at once, so that a crash leaves nothing behind.
  let named = await unlink(path).then(() => false, () => true);
  const close = async (): Promise<void> => {
    await file.close();
    if (named) await unlink(path);
    named = false;
  };
  try {
    for await (const chunk of source) {
      await file.write(chunk).catch((cause: unknown) => {
        throw noRoom(folder, cause);
      });
    }
  } catch (error) {
    await close();
    throw error;
  }
  /** All of it from the start, as often as wanted. */
  const read = (): AsyncIterable<Buffer> => file.createReadStream({ start: 0, autoClose: false });
  return { read, close };
}

const noRoom = (folder: string, cause: unknown): Failure =>
  new Failure('usage', `Nothing was sent: the folder ${folder} cannot hold a copy of the file.`, {
    hint: 'Make room, or set SVCPAY_HOME to another folder.',
    cause,
  });
