// Proposals under faults: a kill at each step, several homes on one database, a refusal between the
// card and the answer, and a proposer who is another user of the machine.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { postgresDatabase } from '../../src/store/database/postgres.js';
import { journalPart } from '../../src/store/journal/schema.js';
import { openSqlJournal } from '../../src/store/journal/sql-journal.js';
import { pay } from '../../src/wallet/payment/pay.js';
import { batchFile, paidReferences } from '../support/batch.js';
import { test, timeoutFlags, type Payment } from '../support/faults.js';
import type { Exchange } from '../support/faulty-proxy.js';
import { svcpay, svcpayTty, type Here } from '../support/in-process.js';
import { isInstalled } from '../support/installed.js';
import { runsAll } from '../support/part.js';
import { hasPostgres } from '../support/postgres.js';
import { preparedDatabase, prepareTables } from '../support/prepared-database.js';
import { usingPostgres } from '../support/shared-postgres.js';
import { environment, startSvcpay } from '../support/svcpay.js';
import { approved, asked, bench } from '../wallet/support/machine.js';

const server = usingPostgres();

/** Proposes one payment, or the two rows of a batch, and returns the id. */
async function propose(kind: 'payment' | 'batch', outbox: string): Promise<string> {
  const file = batchFile(outbox, ['E1,ada@example.com,1000sat,,', ',bob@example.com,1000sat,,']);
  const what = kind === 'batch' ? ['batch', file] : ['send', 'ada@example.com', '1000sat'];
  const args = ['propose', ...what, '--max-total', '3000sat', '--outbox', outbox, '-q'];
  const run = await svcpay(args, {
    home: join(outbox, 'home'),
    env: { SVCPAY_NETWORK: 'testnet' },
  });
  expect(run).toMatchObject({ exitCode: 0 });
  return run.stdout.trim();
}

const paying = (id: string, outbox: string): string[] => [
  'proposals',
  'pay',
  id,
  ...`--digest ${id} --yes --json --outbox`.split(' '),
  outbox,
  ...timeoutFlags,
];

/** @param finished the hook of the test, which concurrent tests need */
const newFolder = (finished = onTestFinished): string => {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-outbox-'));
  finished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const exchanges: readonly Exchange[] = [
  'sign-in',
  'wallets',
  'create request',
  'confirmation',
  'read',
];
const moments = exchanges.flatMap((exchange) =>
  (['before', 'after'] as const).map((when) => [when, exchange] as const),
);
const steps = (['payment', 'batch'] as const).flatMap((kind) =>
  moments
    .filter(([when]) => runsAll || when === (kind === 'batch' ? 'before' : 'after'))
    .map((moment) => [kind, ...moment] as const),
);

describe.concurrent('svcpay proposals pay killed with SIGKILL', () => {
  test.for(steps)(
    'pays a %s once after a kill %s the %s',
    async ([kind, when, exchange], { payment, onTestFinished: finished }) => {
      const outbox = newFolder(finished);
      const id = await propose(kind, outbox);
      const held = payment.proxy.hold(exchange, when);
      const running = startSvcpay(paying(id, outbox), payment.around);
      await held;
      running.child.kill('SIGKILL');
      await running.ended;
      payment.proxy.mend();
      for (let run = 0; run < 2; run += 1)
        expect(await svcpay(paying(id, outbox), payment.around)).toMatchObject({ exitCode: 0 });
      const references = kind === 'batch' ? ['E1', `proposal:${id}/2`] : [`proposal:${id}`];
      expect(await paidReferences(payment.around)).toEqual(references);
      expect(await payment.timesPaid()).toBe(references.length);
    },
  );
});

const machine = ({ around }: Payment, url: string, owner: string): Here => ({
  ...around,
  owner,
  home: newFolder(),
  env: { SVCPAY_DATABASE_URL: url },
});

describe.skipIf(!hasPostgres)('svcpay proposals pay on a shared database', () => {
  test.for(['payment', 'batch'] as const)(
    'pays a %s once from three homes at the same time',
    async (kind, { payment }) => {
      const [url, outbox] = [await preparedDatabase(server()), newFolder()];
      const id = await propose(kind, outbox);
      const homes = ['a', 'b', 'c'].map((owner) => machine(payment, url, owner));
      const runs = await Promise.all(homes.map((home) => svcpay(paying(id, outbox), home)));
      expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
      expect(await payment.timesPaid()).toBe(kind === 'batch' ? 2 : 1);
    },
  );

  test.for(['payment', 'batch'] as const)(
    'pays nothing of a %s that another home refuses between the card and the answer',
    async (kind, { payment }) => {
      const [url, outbox] = [await preparedDatabase(server()), newFolder()];
      const id = await propose(kind, outbox);
      const where = ['--outbox', outbox];
      const tty = svcpayTty(['proposals', 'pay', id, ...where], machine(payment, url, 'a'));
      await tty.waitFor(/Pay [^]*\(y\/N\)/);
      const refused = await svcpay(
        ['proposals', 'refuse', id, ...where],
        machine(payment, url, 'b'),
      );
      expect(refused).toMatchObject({ exitCode: 0 });
      tty.type('y\r');
      expect(await tty.ended).toBe(2);
      expect(tty.text()).toContain('the proposal was refused');
      expect(await payment.timesPaid()).toBe(0);
    },
  );
});

test.skipIf(!hasPostgres)(
  'two homes that pay the rows of a batch together stay within its highest total',
  async () => {
    const [on, url] = [bench(), server().database()];
    const machines = await Promise.all(
      ['a', 'b'].map(async (owner) => {
        const clock = (): number => performance.now();
        const database = postgresDatabase({ url, source: 'the test', clock });
        onTestFinished(() => database.close());
        await prepareTables(database, journalPart);
        const budget = { name: 'proposal:id', total: { BTC: '0.000025' } };
        const sleep = async (ms: number): Promise<void> => void (on.time += ms);
        return { ...on.deps, journal: openSqlJournal(database, () => true), owner, budget, sleep };
      }),
    );
    const ended = await Promise.allSettled(
      Array.from({ length: 6 }, (_, row) => {
        const deps = machines[row % 2] ?? on.deps;
        const request = { instruction: asked, ref: `row ${row}`, terms: {}, consent: approved };
        return pay(request, { wait: 'forever', retry: false }, deps);
      }),
    );
    const refusals = ended.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(refusals).toHaveLength(4);
    for (const each of refusals)
      expect(each).toMatchObject({
        kind: 'limit',
        message: expect.stringContaining("over the proposal's highest total"),
      });
    expect(on.transactions.filter(({ txnState }) => txnState === 'completed')).toHaveLength(2);
  },
);

const canTrace = process.getuid?.() === 0 && isInstalled('setpriv') && isInstalled('strace');

test.skipIf(!canTrace)(
  'a proposer with another uid opens no file of the owner and no secret, and the card shows the uid',
  async ({ payment: { around } }) => {
    const nobody = 65_534;
    const folder = newFolder();
    const [outbox, home, trace] = ['outbox', 'home', 'trace'].map((name) => join(folder, name));
    if (outbox === undefined || home === undefined || trace === undefined) throw new Error();
    mkdirSync(outbox);
    mkdirSync(home);
    chmodSync(folder, 0o755);
    chmodSync(outbox, 0o1777);
    chownSync(home, nobody, nobody);
    const words = ['send', 'ada@example.com', '1000sat', '--max-total', '3000sat', '-q'];
    const program = resolve(import.meta.dirname, '../../bin/svcpay.js');
    const nobodys = `setpriv --reuid ${nobody} --regid ${nobody} --clear-groups`.split(' ');
    const traced = ['-f', '-qq', '-o', trace, '-e', 'trace=%file,%network', ...nobodys];
    const proposing = [process.execPath, program, 'propose', ...words, '--outbox', outbox];
    const env = environment({ home, env: { SVCPAY_NETWORK: 'testnet' } });
    const options = { cwd: '/', encoding: 'utf8', env } as const;
    const id = execFileSync('strace', [...traced, ...proposing], options).trim();
    const calls = readFileSync(trace, 'utf8').split('\n');
    expect(calls.some((call) => call.includes(`${id}.proposal.json`))).toBe(true);
    const ofSecrets = /secret|credential|keyring|token|journal|connect\(/i;
    const inHomes = calls.filter((call) => call.includes(around.home) || call.includes(home));
    expect(calls.filter((call) => call.includes(around.home))).toEqual([]);
    expect(inHomes.filter((call) => ofSecrets.test(call))).toEqual([]);
    const shown = await svcpay(['proposals', 'show', id, '--outbox', outbox, '--json'], around);
    expect(shown.json()).toMatchObject({ uid: nobody, isOwn: false, state: 'open' });
  },
);
