// Shows output through the person's pager, such as `less`.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { OutputStream, Terminal } from './terminal.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Returns the command of the pager for a terminal, or undefined if no pager is configured. */
export function pagerOf(
  env: Env,
  { stdoutIsTty, isDumb }: Pick<Terminal, 'stdoutIsTty' | 'isDumb'>,
): string | undefined {
  const command = env['PAGER']?.trim() ?? '';
  return stdoutIsTty && !isDumb && command !== '' && command !== 'cat' ? command : undefined;
}

interface Pager {
  /**
   * The stream to which the command writes instead of stdout. The first text on the stream starts
   * the pager, and closing the stream ends the pager.
   */
  readonly stdout: OutputStream;
  /** Resolves when the person leaves the pager. */
  end(): Promise<void>;
}

/**
 * @param env the environment of the pager. By default, `less` keeps colours, and ends at once if
 * the text fits on one screen.
 */
export function openPager(command: string, stdout: OutputStream, env: Env): Pager {
  const { columns = 0, rows = 0 } = stdout;
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  const start = (): ChildProcess => {
    const started = spawn(command, {
      shell: true,
      env: { LESS: 'FRX', LV: '-c', ...env },
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    // Ignores an error of the pager's input, because each write reports the error too.
    started.stdin?.on('error', () => undefined);
    ended = once(started, 'close').catch(() => undefined);
    return started;
  };
  const stream = new Writable({
    write(text: Buffer, _encoding, done) {
      child ??= start();
      child.stdin?.write(text, done);
    },
    final(done) {
      if (child === undefined) done();
      else child.stdin?.end(done);
    },
  });
  return {
    stdout: Object.assign(stream, { isTTY: true, columns, rows }),
    async end() {
      await finished(stream.end()).catch(() => undefined);
      await ended;
    },
  };
}
