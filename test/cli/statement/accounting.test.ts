// svcpay writes files for accounting programs in their documented formats. A third-party parser
// reads the OFX statement.
import { readFileSync, writeFileSync } from 'node:fs';
import { parse as parseOfx } from 'ofx-js';
import { parse } from 'csv-parse/sync';
import Big from 'big.js';
import * as v from 'valibot';
import { describe, expect } from 'vitest';
import { svcpay } from '../../support/in-process.js';
import { payoutWords } from '../../support/payout.js';
import { test } from '../../support/svcpay.js';

type Row = Record<string, string>;

const row = v.record(v.string(), v.string());
const statementSchema = v.looseObject({
  BANKTRANLIST: v.object({ DTSTART: v.string(), DTEND: v.string(), STMTTRN: v.array(row) }),
});
const ofxSchema = v.object({
  OFX: v.looseObject({
    BANKMSGSRSV1: v.object({ STMTTRNRS: v.looseObject({ STMTRS: statementSchema }) }),
  }),
});

const rowsOf = (stdout: string): Row[] => parse(stdout, { columns: true });

describe('svcpay statement', () => {
  test('writes Koinly rows that add up to the wallet balances, with a swap in one row', async ({
    around,
  }) => {
    await around.sandbox.seed('history', 2);
    const run = await svcpay(['statement', '-o', 'koinly'], around);
    expect(run.exitCode).toBe(0);
    expect(run.stdout.split('\n')[0]).toBe(
      'Date,Sent Amount,Sent Currency,Received Amount,Received Currency,Fee Amount,Fee Currency,Net Worth Amount,Net Worth Currency,Label,Description,TxHash',
    );
    const rows = rowsOf(run.stdout);
    const sums = new Map<string, Big>();
    const add = (ccy = '', amount = '', sign: 1 | -1): void => {
      if (ccy !== '') sums.set(ccy, new Big(amount).times(sign).plus(sums.get(ccy) ?? 0));
    };
    for (const row of rows) {
      expect(row['Date']).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
      add(row['Sent Currency'], row['Sent Amount'], -1);
      add(row['Fee Currency'], row['Fee Amount'], -1);
      add(row['Received Currency'], row['Received Amount'], 1);
    }
    const { accounts } = await around.sandbox.status();
    for (const { ccy, amount } of accounts[0]?.wallets ?? [])
      expect(`${sums.get(ccy)?.toFixed()} ${ccy}`).toBe(`${new Big(amount).toFixed()} ${ccy}`);
    expect(
      rows.filter((row) => row['Sent Currency'] === 'USDT' && row['Received Currency'] === 'BTC')
        .length,
    ).toBeGreaterThan(3);
    expect(new Set(rows.map(({ TxHash }) => TxHash)).size).toBe(rows.length);
  });

  test('writes the movements of a fiat wallet for Xero and QuickBooks with dates in the time zone of --tz', async ({
    around,
  }) => {
    await around.sandbox.seed('history');
    await svcpay(['swap', '20usd', 'USDT', '--yes', '--ref', 'inv-7', '--note', '=1+1'], around);
    const xero = await svcpay(
      ['statement', '-o', 'xero', '--wallet', 'USD', '--tz', 'Asia/Tokyo'],
      around,
    );
    const [first, latest] = rowsOf(xero.stdout);
    expect(xero.stdout.split('\n')[0]).toBe(
      '*Date,*Amount,Payee,Description,Reference,Check Number,Account Code',
    );
    expect(latest).toMatchObject({
      '*Amount': '-20.05',
      Payee: 'USDT wallet',
      Description: 'Swapped USDT wallet: =1+1',
      Reference: 'inv-7',
    });
    expect(first).toMatchObject({ '*Amount': '5000.00', Payee: 'BTC wallet' });
    const now = await around.sandbox.clock.now();
    expect(latest?.['*Date']).toBe(new Date(now + 9 * 3_600_000).toISOString().slice(0, 10));
    const quickbooks = rowsOf(
      (await svcpay(['statement', '-o', 'quickbooks', '--wallet', 'USD', '--tz', 'UTC'], around))
        .stdout,
    );
    expect(quickbooks.map((row) => row['Amount'])).toEqual(['5000.00', '-20.05']);
    const [year, month, day] = new Date(now).toISOString().slice(0, 10).split('-');
    expect(Object.entries(quickbooks[1] ?? {})[0]).toEqual(['Date', `${month}/${day}/${year}`]);
  });

  test.for(['xero', 'quickbooks --wallet BTC', 'xero --wallet USDT', 'koinly --wallet USD'])(
    'refuses statement -o %s, because the wallet does not fit the format',
    async (args, { around }) => {
      expect(await svcpay(['statement', '-o', ...args.split(' ')], around)).toMatchObject({
        exitCode: 2,
        stdout: '',
      });
    },
  );

  test('writes the payee for Xero and the fiat value of a payment for Koinly', async ({
    around,
  }) => {
    await svcpay(['config', 'set', 'fiat', 'usd'], around);
    const invoice = await around.sandbox.invoice('100000sat');
    await svcpay(['send', 'lightning', invoice, '--yes'], around);
    const row = rowsOf((await svcpay(['statement', '-o', 'koinly'], around)).stdout).at(-1);
    const rate = (await svcpay(['rates', 'BTCUSD', '-q'], around)).stdout.trim();
    expect(row).toMatchObject({
      'Sent Amount': '0.001',
      'Net Worth Amount': new Big('0.001').times(rate).toFixed(2),
      'Net Worth Currency': 'USD',
    });
    const [first] = rowsOf((await svcpay(['tx', 'export', '-o', 'csv'], around)).stdout);
    expect(first).toMatchObject({ fiat: 'USD', sourceFiatRate: rate, destFiatRate: rate });

    await svcpay([...payoutWords({ '--from': 'USD' }), '--yes', '--no-wait'], around);
    await around.sandbox.clock.advance('1d');
    const xero = ['statement', '-o', 'xero', '--wallet', 'USD'];
    expect(rowsOf((await svcpay(xero, around)).stdout).at(-1)).toMatchObject({
      Payee: 'LE VAN A',
      Description: 'Sent LE VAN A',
    });
    const quickbooks = ['statement', '-o', 'quickbooks', '--wallet', 'USD'];
    expect((await svcpay(quickbooks, around)).stdout).toContain('Sent LE VAN A');
  });

  test('writes the accounts of the mapping file, which statement accounts init begins', async ({
    around,
  }) => {
    const payout = [...payoutWords({ '--from': 'USD' }), '--note', 'wage', '--yes', '--no-wait'];
    await svcpay(payout, around);
    await around.sandbox.clock.advance('1d');
    const init = ['statement', 'accounts', 'init', '--json'];
    const { file } = (await svcpay(init, around)).json() as { file: string };
    expect(await svcpay(init, around)).toMatchObject({ exitCode: 2, stdout: '' });
    const rules = readFileSync(file, 'utf8');
    expect(rules).toMatch(/^send,\S+,LE VAN A,,Expenses:Svcpay:Vnd-instant$/m);
    writeFileSync(file, rules.replace('Expenses:Svcpay:Vnd-instant', 'Expenses:Wages'));
    const of = async (...args: string[]) =>
      (await svcpay(['statement', '-o', ...args], around)).stdout;
    expect(await of('hledger')).toContain('Expenses:Wages  ');
    expect(await of('beancount')).toContain('open Expenses:Wages\n');
    expect(rowsOf(await of('xero', '--wallet', 'USD')).at(-1)?.['Account Code']).toBe(
      'Expenses:Wages',
    );
    expect(await of('quickbooks', '--wallet', 'USD')).toContain(
      'Expenses:Wages: Sent LE VAN A: wage',
    );
    writeFileSync(file, rules.replace('Expenses:Svcpay:Vnd-instant', 'wages'));
    expect(await svcpay(['statement', '-o', 'hledger'], around)).toMatchObject({ exitCode: 2 });
  });
});

describe('svcpay statement -o ofx', () => {
  test('writes movements, balance and texts that a third-party OFX parser reads', async ({
    around,
  }) => {
    await around.sandbox.seed('history');
    const note = 'Fish & <Chips> "Ltd"';
    const swap = await svcpay(['swap', '20usd', 'USDT', '--yes', '--note', note, '-q'], around);
    const run = await svcpay(['statement', '--wallet', 'USD', '-o', 'ofx'], around);
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    const statement = v.parse(ofxSchema, await parseOfx(run.stdout)).OFX.BANKMSGSRSV1.STMTTRNRS
      .STMTRS;
    expect(statement).toMatchObject({
      CURDEF: 'USD',
      BANKACCTFROM: { ACCTID: expect.stringMatching(/^USD-.{4,18}$/) },
      LEDGERBAL: { BALAMT: '4979.95' },
    });
    expect(statement.BANKTRANLIST.STMTTRN).toMatchObject([
      { TRNTYPE: 'CREDIT', TRNAMT: '5000.00', NAME: 'BTC wallet' },
      {
        TRNTYPE: 'DEBIT',
        TRNAMT: '-20.05',
        NAME: 'USDT wallet',
        FITID: swap.stdout.trim(),
        MEMO: expect.stringContaining('Fish & <Chips> "Ltd"'),
      },
    ]);
  });

  test.for([['the BTC wallet', 'BTC'], ['the USDT wallet', 'USDT'], ['all wallets']])(
    'refuses an OFX statement of %s, because OFX needs one fiat wallet',
    async ([, ...wallet], { around }) => {
      expect(
        await svcpay(
          ['statement', '-o', 'ofx', ...wallet.flatMap((each) => ['--wallet', each])],
          around,
        ),
      ).toMatchObject({ exitCode: 2, stdout: '' });
    },
  );
});
