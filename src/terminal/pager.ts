// Output through the pager of the person, such as `less`.
import { spawn, type ChildProcess } from 'node:child_process';
import { Writable } from 'node:stream';
import type { OutputStream, Terminal } from './terminal.js';

type Env = Readonly<Record<string, string | undefined>>;

/** The pager of a terminal; undefined without one. */
export function pagerOf(
  env: Env,
  { stdoutIsTty, isDumb }: Pick<Terminal, 'stdoutIsTty' | 'isDumb'>,
): string | undefined {
  const command = env['PAGER']?.trim() ?? '';
  return stdoutIsTty && !isDumb && command !== '' && command !== 'cat' ? command : undefined;
}

export interface Pager {
  /** In place of stdout; the pager starts with its first text, and ends it by closing. */
  readonly stdout: OutputStream;
  /** Resolves when the person has left the pager. */
  end(): Promise<void>;
}

/** @param env its environment; less keeps colours, and ends at once if one screen is enough */
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
    // Its writes report the same.
    started.stdin?.on('error', () => undefined);
    ended = new Promise((resolve) => started.on('close', resolve).on('error', resolve));
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
      await new Promise<void>((resolve) => {
        if (stream.destroyed) resolve();
        else stream.on('error', () => resolve()).end(() => resolve());
      });
      await ended;
    },
  };
}
