// If svcpay may open only a few files, it ends with an error within seconds, whichever file it
// cannot open.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { expect } from 'vitest';
import { environment, test } from '../support/svcpay.js';

const program = resolve(import.meta.dirname, '../../bin/svcpay.js');

interface End {
  readonly isKilled: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

const limited = (
  most: number,
  args: readonly string[],
  env: Record<string, string>,
  redirection = '',
): Promise<End> =>
  new Promise((done) => {
    const words = [
      '-c',
      `ulimit -n ${most}; exec "$0" "$@" ${redirection}`,
      process.execPath,
      program,
      ...args,
    ];
    execFile(
      'bash',
      words,
      { env, timeout: 20_000, killSignal: 'SIGKILL' },
      (error, stdout, stderr) => done({ isKilled: error?.killed === true, stdout, stderr }),
    );
  });

// With fewer than 19 file descriptors, Node does not start. With 30 or more, svcpay pays.
test.for([19, 21, 23, 25, 26, 27, 29])(
  'svcpay send ends within seconds with an explanation if it may open only %d files',
  { timeout: 40_000 },
  async (most, { around }) => {
    const send = ['send', 'lightning', await around.sandbox.invoice('1000sat'), '--yes', '--json'];
    const { isKilled, stdout, stderr } = await limited(most, send, environment(around));
    expect(isKilled).toBe(false);
    if (stdout === '') expect(stderr).not.toBe('');
    if (stderr.includes('cannot be used: Too many open files'))
      expect(stderr).toContain('ulimit -n');
    expect(around.sandbox.requests('PUT').length).toBeLessThanOrEqual(stdout === '' ? 0 : 1);
  },
);

test.for([25, 27])(
  'svcpay send ends within seconds if it may open only %d files and stderr cannot be written',
  { timeout: 40_000 },
  async (most, { around }) => {
    const send = ['send', 'lightning', await around.sandbox.invoice('1000sat'), '--yes', '--json'];
    expect(await limited(most, send, environment(around), '2>/dev/full')).toMatchObject({
      isKilled: false,
    });
  },
);
