// A text file to which svcpay appends complete lines durably.
import { randomUUID } from 'node:crypto';
import { open, realpath, rename, rm, type FileHandle } from 'node:fs/promises';
import { Failure } from '../../formats/failure.js';

/**
 * Opens a file, or creates the file with `head` as its first line. Removes an incomplete last line
 * of an existing file. Throws Failure `usage` if the file begins with a different line or cannot be
 * written.
 */
export async function openAppendFile(path: string, head: string) {
  const file = await open(path, 'a+', 0o600).catch((cause: unknown) => {
    throw unusable(path, 'svcpay cannot open the file', cause);
  });
  await prepare(file, path, head).catch(async (error: unknown) => {
    await file.close();
    throw error;
  });
  let waiting = '';
  let closing: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let last: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    const text = waiting;
    waiting = '';
    next = undefined;
    await file.appendFile(text);
    await file.datasync();
  };
  return {
    /** Reads the content of the open file, even if another process has replaced the file. */
    read: (): AsyncIterable<Buffer> => file.createReadStream({ start: 0, autoClose: false }),
    /**
     * Replaces the file and its first line atomically. The caller must not append lines after
     * `replace`.
     */
    async replace(lines: AsyncIterable<string>, first = head): Promise<void> {
      await last;
      const { mode } = await file.stat();
      const place = await realpath(path);
      const unfinished = `${place}.${randomUUID()}`;
      const whole = await open(unfinished, 'wx', mode);
      try {
        await whole.appendFile(`${first}\n`);
        for await (const line of lines) await whole.appendFile(`${line}\n`);
        await whole.sync();
        await rename(unfinished, place);
      } finally {
        await whole.close();
        await rm(unfinished, { force: true });
      }
    },
    /**
     * Appends a line, and resolves when the line is on disk. Lines that are appended at the same
     * time share one write.
     */
    append(line: string): Promise<void> {
      waiting += `${line}\n`;
      if (next === undefined)
        last = next = last.then(flush).catch((cause: unknown) => Promise.reject(lost(path, cause)));
      return next;
    },
    close: async (): Promise<void> => {
      await last.catch(() => undefined);
      // Every line is on disk already, so an error on close has no effect.
      closing ??= file.close().catch(() => undefined);
      await closing;
    },
  };
}

const lost = (path: string, cause: unknown): Failure =>
  new Failure(
    'unexpected',
    `The results can no longer be written to ${path}. The journal contains all payments.`,
    {
      hint:
        'Free disk space and run the same command again, which continues the batch and pays no ' +
        'row twice.',
      cause,
    },
  );

const chunk = 65_536;

/** Writes `head` into an empty file, and removes an incomplete last line. */
async function prepare(file: FileHandle, path: string, head: string): Promise<void> {
  const { size } = await file.stat();
  const start = Buffer.alloc(Buffer.byteLength(head) + 1);
  const { bytesRead } = await file.read(start, 0, start.length, 0);
  const found = start.subarray(0, bytesRead).toString();
  if (found !== `${head}\n`.slice(0, found.length))
    throw unusable(path, 'the file is not the result of a batch');
  if (found.length <= head.length) {
    await file.truncate(0);
    await file.appendFile(`${head}\n`);
    return file.datasync();
  }
  const end = await lastLineEnd(file, size);
  if (end < size) await file.truncate(end);
}

/** The position of the end of the last complete line. */
async function lastLineEnd(file: FileHandle, size: number): Promise<number> {
  for (let to = size; to > 0; to -= chunk) {
    const from = Math.max(0, to - chunk);
    const bytes = Buffer.alloc(to - from);
    await file.read(bytes, 0, bytes.length, from);
    const at = bytes.lastIndexOf('\n');
    if (at >= 0) return from + at + 1;
  }
  return 0;
}

const unusable = (path: string, why: string, cause?: unknown): Failure =>
  new Failure('usage', `Nothing was sent: the results cannot be written to ${path}: ${why}.`, {
    hint: 'Name another file for the results.',
    cause,
  });
