// The command in a hint runs as printed and names exactly the reference of the payment, whatever
// characters the reference contains.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect } from 'vitest';
import { svcpay } from '../support/in-process.js';
import { payoutWords } from '../support/payout.js';
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

describe('the command of an abandoned payment', () => {
  test.for([
    ['a send', ['send', 'ada@example.com', '1300sat', '--note', "Ada's tea"]],
    ['a send of a fiat amount', ['send', 'ada@example.com', '5usd', '--from', 'btc']],
    ['a swap', ['swap', '25usdt', 'BTC', '--max-fee', '1%']],
    ['a payout', payoutWords()],
  ] as const)(
    'pays %s once if a shell runs it as printed',
    async ([, words], { home, sandbox }) => {
      const around = { home, sandbox };
      const asked = [...words, '--ref', 'order 1'];
      expect(await svcpay([...asked, '--quote-only'], around)).toMatchObject({ exitCode: 0 });
      await svcpay(['tx', 'cancel', 'order 1'], around);
      const resumed = await svcpay(['tx', 'resume', 'order 1', '--yes', '--json'], around);
      expect(resumed).toMatchObject({ exitCode: 2 });
      const printed = (resumed.error().hint ?? '').replace(/^To pay after all: /, '');
      const shell = `svcpay() { "${process.execPath}" "${program}" "$@" --yes --no-wait; }\n${printed}`;
      const run = () => promisify(execFile)('bash', ['-c', shell], { env: environment(around) });
      await run();
      await run();
      expect(sandbox.requests('PUT').filter(({ path }) => path.endsWith('/confirm'))).toHaveLength(
        1,
      );
      const repeated = await svcpay([...asked, '--yes', '--no-wait'], around);
      expect(repeated).toMatchObject({ exitCode: 0 });
    },
  );
});
