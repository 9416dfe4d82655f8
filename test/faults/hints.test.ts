// The command in a hint runs as printed and names exactly the reference of the payment, whatever
// characters the reference contains.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect } from 'vitest';
import { svcpay } from '../support/in-process.js';
import { lnurl, test } from '../support/strict.js';
import { environment } from '../support/svcpay.js';

const program = resolve(import.meta.dirname, '../../bin/svcpay.js');

const references = [
  '-order',
  '--json',
  '-',
  '--',
  "it's",
  'a  b',
  '$(touch touched)',
  '; touch touched',
  '=order',
  '~',
  '\\',
  'Überweisung',
  'line\nbreak',
  '\u202Etfel',
  "\u{1F3FB}'\\x",
];

describe('the command in a hint', () => {
  test.for(references)(
    'retries the payment with the reference %j if a shell runs the command as printed',
    async (ref, { strict }) => {
      const { service, home } = strict;
      const around = { home: home('home'), sandbox: service };
      service.temper.reads = ({ body, state }) =>
        state !== 'quoted' && body['extRefId'] === ref ? 'failed' : state;
      const failed = await svcpay([...lnurl('shop').split(' '), `--ref=${ref}`], around);
      expect(failed).toMatchObject({ exitCode: 6 });
      const hint = failed.error().hint ?? '';
      const shell = `svcpay() { "${process.execPath}" "${program}" --yes "$@"; }\n${hint.slice(hint.indexOf('svcpay '))}`;
      const run = promisify(execFile)('bash', ['-c', shell], {
        env: environment(around),
        cwd: resolve(around.home, '..'),
      });
      expect(
        await run.catch((error: unknown) => ({
          ...Object(error),
          stdout: `${String(error)} ${Object(error).stderr} ${Object(error).code}`,
        })),
      ).toMatchObject({ stdout: expect.stringContaining('completed') });
      expect([...service.transactions.values()].map(({ body }) => body['extRefId'])).toEqual([
        ref,
        `${ref}~2`,
      ]);
      expect(existsSync(join(around.home, '../touched'))).toBe(false);
    },
  );
});
