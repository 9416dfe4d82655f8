// Five months of an account: ledger programs and an OFX reader reach the same balances, any split of
// the period has the same rows in each format, and several machines close the months.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Big from 'big.js';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { parse as parseOfx } from 'ofx-js';
import * as v from 'valibot';
import { describe, expect, onTestFinished } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/server.js';
import { deposit } from '../../support/deposit.js';
import { isInstalled } from '../../support/installed.js';
import { quickTime, svcpay, type Here } from '../../support/in-process.js';
import { hasPostgres } from '../../support/postgres.js';
import { preparedDatabase } from '../../support/prepared-database.js';
import { usingPostgres } from '../../support/shared-postgres.js';
import { test as base } from '../../support/svcpay.js';

type Row = Readonly<Record<string, string>>;

const dayMs = 86_400_000;
const seeded = 5;

interface Firm extends Here {
  readonly sandbox: Sandbox;
  /** The first and the last day of the history, in epoch ms. */
  readonly days: readonly [first: number, last: number];
  readonly months: readonly string[];
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** An account with five months of payments on every rail, a deposit and its adjustment. */
const test = base.extend<{ firm: Firm }>({
  firm: async ({ home, sandbox }, use) => {
    const around = { home, sandbox, ...quickTime(), sleep: () => Promise.resolve() };
    await sandbox.seed('history', seeded);
    await deposit(around, '0.1');
    const last = await sandbox.clock.now();
    const first = last - seeded * 31 * dayMs;
    const adjust = ['statement', 'adjust', '0.1btc', '--on', dayOf(last - 45 * dayMs)];
    await svcpay([...adjust, '--note', 'a "deposit"; by hand', '--yes'], around);
    const months = new Set<string>();
    for (let at = first; at <= last; at += dayMs) months.add(dayOf(at).slice(0, 7));
    await use({ ...around, days: [first, last], months: [...months] });
  },
});

async function statement(firm: Here, ...args: string[]): Promise<string> {
  const run = await svcpay(['statement', '--tz', 'UTC', ...args], firm);
  expect(run).toMatchObject({ exitCode: 0, stderr: '' });
  return run.stdout;
}

const rowsOf = (csv: string): Row[] => parse(csv, { columns: true });

function stored(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-months-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** The closing balance of each wallet that moved, as `BTC 1.2`. */
const closingsOf = (csv: string): string[] =>
  rowsOf(csv)
    .filter(({ kind, balance }) => kind === 'closing' && balance !== '0')
    .map(({ wallet, balance = '' }) => `${wallet} ${new Big(balance).toFixed()}`);

/** Splits the text of a format into rows that do not depend on the period. */
const recordsOf: Readonly<Record<string, (text: string) => string[]>> = {
  csv: (text) =>
    rowsOf(text)
      .filter(({ kind }) => kind !== 'opening' && kind !== 'closing')
      .map((row) => JSON.stringify(row)),
  hledger: (text) =>
    text
      .split('\n\n')
      .filter((part) => /^\d{4}-/.test(part) && !/ \* (?:Opening|Closing) balance/.test(part))
      .map((part) => part.trim()),
  beancount: (text) =>
    text
      .split('\n\n')
      .filter((part) => /^\d{4}-\S+ \*/.test(part))
      .map((part) => part.trim()),
  koinly: (text) => text.trim().split('\n').slice(1),
  xero: (text) => text.trim().split('\n').slice(1),
  quickbooks: (text) => text.trim().split('\n').slice(1),
  ofx: (text) => text.match(/<STMTTRN>.*<\/STMTTRN>/g) ?? [],
};

const ofxRow = v.looseObject({ TRNAMT: v.string() });
const ofxStatement = v.looseObject({
  BANKTRANLIST: v.looseObject({ STMTTRN: v.optional(v.union([ofxRow, v.array(ofxRow)]), []) }),
  LEDGERBAL: v.looseObject({ BALAMT: v.string() }),
});
const ofxSchema = v.object({
  OFX: v.looseObject({
    BANKMSGSRSV1: v.object({ STMTTRNRS: v.looseObject({ STMTRS: ofxStatement }) }),
  }),
});

const ofOneWallet = new Set(['xero', 'quickbooks', 'ofx']);

describe('five months of an account', () => {
  test('have the balances that hledger, beancount and an OFX reader add up', async ({ firm }) => {
    const { months } = firm;
    let beancount = '';
    for (const [index, month] of months.entries()) {
      const period = index === 0 ? ['--to', month] : ['--month', month];
      const closings = closingsOf(await statement(firm, ...period, '-o', 'csv'));
      if (isInstalled('hledger')) {
        const file = stored('month.journal', await statement(firm, ...period, '-o', 'hledger'));
        execFileSync('hledger', ['-f', file, 'check', '--strict']);
        const flags = ['balance', 'Assets', '-O', 'csv', '--no-total', '--layout=bare'];
        const balances = rowsOf(
          execFileSync('hledger', ['-f', file, ...flags], { encoding: 'utf8' }),
        ).map(({ commodity, balance = '' }) => `${commodity} ${new Big(balance).toFixed()}`);
        expect(balances.toSorted()).toEqual(closings.toSorted());
      }
      beancount += await statement(firm, ...period, '-o', 'beancount');
      const ofx = await statement(firm, ...period, '-o', 'ofx', '--wallet', 'USD');
      const usd = rowsOf(await statement(firm, ...period, '-o', 'csv', '--wallet', 'USD'));
      const { BANKTRANLIST, LEDGERBAL } = v.parse(ofxSchema, await parseOfx(ofx)).OFX.BANKMSGSRSV1
        .STMTTRNRS.STMTRS;
      const sum = [BANKTRANLIST.STMTTRN]
        .flat()
        .reduce((total, { TRNAMT }) => total.plus(TRNAMT), new Big(usd[0]?.['balance'] ?? NaN));
      expect(LEDGERBAL.BALAMT).toBe(sum.toFixed(2));
    }
    if (isInstalled('bean-check'))
      expect(
        spawnSync('bean-check', [stored('all.beancount', beancount)], { encoding: 'utf8' }),
      ).toMatchObject({ status: 0, stderr: '' });
  });

  test('have the same rows in any split of the period, in each format', async ({ firm }) => {
    const [first, last] = firm.days;
    const cut = fc.integer({ min: 1, max: Math.floor((last - first) / dayMs) - 1 });
    const read = (format: string, ...period: string[]): Promise<string> => {
      const wallet = ofOneWallet.has(format) ? ['--wallet', 'USD'] : [];
      return statement(firm, '-o', format, ...wallet, ...period);
    };
    for (const [format, records] of Object.entries(recordsOf)) {
      const whole = records(await read(format)).toSorted();
      expect(whole.length).toBeGreaterThan(0);
      await fc.assert(
        fc.asyncProperty(cut, async (days) => {
          const at = first + days * dayMs;
          const parts = [
            await read(format, '--to', dayOf(at)),
            await read(format, '--from', dayOf(at + dayMs)),
          ];
          expect(parts.flatMap(records).toSorted()).toEqual(whole);
        }),
        { numRuns: 2 },
      );
    }
  });

  test('need no more requests than pages and one read per settlement time', async ({ firm }) => {
    const month = firm.months.at(-2) ?? '';
    const requests = () => firm.sandbox.requests('GET').map(({ path }) => path);
    await statement(firm, '--month', month, '-q');
    const before = requests().length;
    await statement(firm, '--month', month, '-q');
    const paths = requests().slice(before);
    expect(paths.filter((path) => /\/transaction\/./.test(path))).toEqual([]);
    expect(paths.filter((path) => path.includes('/transaction?')).length).toBeLessThan(4);
  });

  test('are sealed again with the same content after a restored backup and a lost file', async ({
    firm,
  }) => {
    const month = firm.months.at(-3) ?? '';
    const folder = join(firm.home, 'closed');
    const close = (at: Here) =>
      svcpay(
        ['statement', 'close', month, '--folder', folder, '--tz', 'UTC', '--yes', '--json'],
        at,
      );
    const fresh = { ...firm, home: join(firm.home, 'fresh') };
    const backup = { ...firm, home: `${firm.home}-backup` };
    cpSync(firm.home, backup.home, { recursive: true });
    onTestFinished(() => rmSync(backup.home, { recursive: true, force: true }));
    const first = await close(firm);
    expect(first).toMatchObject({ exitCode: 0 });
    expect(await close(backup)).toMatchObject({ exitCode: 0, stdout: first.stdout });
    const { file } = first.json() as { file: string };
    const text = readFileSync(file, 'utf8');
    const lacking = await close(fresh);
    expect(lacking.error()).toMatchObject({ exitCode: 10 });
    expect(lacking.stderr).toMatch(/svcpay statement adjust 0\.1btc --on/);
    unlinkSync(file);
    expect(await close(firm)).toMatchObject({ exitCode: 0, stdout: first.stdout });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});

const server = usingPostgres();

test.skipIf(!hasPostgres)(
  'two machines with one database close the months in turn, and see the same corrections',
  async ({ firm }) => {
    const url = await preparedDatabase(server());
    const machines = ['one', 'two'].map((name): Here => ({
      ...firm,
      home: join(firm.home, name),
      env: { SVCPAY_DATABASE_URL: url },
    }));
    const [one, two] = machines;
    if (one === undefined || two === undefined) throw new Error('no machines');
    const on = dayOf(firm.days[1] - 45 * dayMs);
    await svcpay(['statement', 'adjust', '0.1btc', '--on', on, '--yes'], one);
    const months = firm.months.slice(-4, -1);
    const close = (at: Here, month: string) =>
      svcpay(['statement', 'close', month, '--tz', 'UTC', '--json'], at);
    for (const [index, month] of months.entries())
      expect(await close(index % 2 === 0 ? one : two, month)).toMatchObject({ exitCode: 0 });
    const [first = ''] = months;
    const [here, there] = [await close(one, first), await close(two, first)];
    expect([here.exitCode, there.exitCode]).toEqual([0, 0]);
    const { sha256 } = here.json() as { sha256: string };
    expect(there.json()).toMatchObject({ sha256 });
    const late = await svcpay(
      ['statement', 'adjust', '1btc', '--on', `${first}-02`, '--yes', '--json'],
      two,
    );
    expect(late.error()).toMatchObject({ exitCode: 2 });
    const csv = (at: Here) => statement(at, '-o', 'csv');
    expect(await csv(one)).toBe(await csv(two));
  },
);
