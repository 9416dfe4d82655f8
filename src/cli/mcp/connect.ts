// Passes the messages between this process and an svcpay mcp of another user, through the Unix
// socket on which that server listens.
import { once } from 'node:events';
import { createConnection } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { Failure } from '../../formats/failure.js';
import { codeOf } from '../../formats/text.js';

/** Resolves when the server or the signal has closed the connection. */
export async function passThrough(
  path: string,
  stdin: Readable,
  stdout: Writable,
  signal: AbortSignal,
): Promise<void> {
  const socket = createConnection(path);
  signal.addEventListener('abort', () => socket.destroy(), { once: true });
  stdin.pipe(socket);
  try {
    for await (const chunk of socket) if (!stdout.write(chunk)) await once(stdout, 'drain');
  } catch (cause) {
    if (signal.aborted) return;
    throw new Failure('temporary', `No svcpay mcp answers at ${path} (${codeOf(cause)}).`, {
      hint: 'Check that the server runs, and that this user belongs to the group of the socket.',
      cause,
    });
  } finally {
    stdin.destroy();
  }
}
