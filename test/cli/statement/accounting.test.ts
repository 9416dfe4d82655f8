// svcpay writes files for accounting programs in their documented formats. A third-party parser
// reads the OFX statement.
import { parse as parseOfx } from 'ofx-js';
import { parse } from 'csv-parse/sync';
import Big from 'big.js';
import * as v from 'valibot';
import { describe, expect, test as plain } from 'vitest';
import type { ListedTransaction } from '../../../src/api/types.js';
import { sanitize } from '../../../src/terminal/sanitize.js';
import { exportLines } from '../../../src/wallet/history/export.js';
import { svcpay } from '../../support/in-process.js';
import { payoutWords } from '../../support/payout.js';
import { test } from '../../support/svcpay.js';
import { start, swapped } from '../../wallet/books/support.js';

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

describe('svcpay tx export', () => {
  test('writes Koinly rows that add up to the wallet balances, with a swap in one row', async ({
    around,
  }) => {
    await around.sandbox.seed('history', 2);
    const run = await svcpay(['tx', 'export', '-o', 'koinly'], around);
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
      ['tx', 'export', '-o', 'xero', '--wallet', 'USD', '--tz', 'Asia/Tokyo'],
      around,
    );
    const [latest, first] = rowsOf(xero.stdout);
    expect(xero.stdout.split('\n')[0]).toBe(
      '*Date,*Amount,Payee,Description,Reference,Check Number',
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
      (await svcpay(['tx', 'export', '-o', 'quickbooks', '--wallet', 'USD'], around)).stdout,
    );
    expect(quickbooks.map((row) => row['Amount'])).toEqual(['-20.05', '5000.00']);
    const [year, month, day] = new Date(now).toISOString().slice(0, 10).split('-');
    expect(Object.entries(quickbooks[0] ?? {})[0]).toEqual(['Date', `${month}/${day}/${year}`]);
  });

  test.for([
    'xero',
    'quickbooks --wallet BTC',
    'xero --wallet USDT',
    'csv --wallet USD',
    'koinly --wallet USD',
  ])(
    'refuses tx export -o %s, because the wallet does not fit the format',
    async (args, { around }) => {
      expect(await svcpay(['tx', 'export', '-o', ...args.split(' ')], around)).toMatchObject({
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
    const [row] = rowsOf((await svcpay(['tx', 'export', '-o', 'koinly'], around)).stdout);
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
    const xero = ['tx', 'export', '-o', 'xero', '--wallet', 'USD'];
    expect(rowsOf((await svcpay(xero, around)).stdout)[0]).toMatchObject({
      Payee: 'LE VAN A',
      Description: 'Sent LE VAN A',
    });
    const quickbooks = ['tx', 'export', '-o', 'quickbooks', '--wallet', 'USD'];
    expect((await svcpay(quickbooks, around)).stdout).toContain('Sent LE VAN A');
  });

  plain.for(['xero', 'quickbooks'] as const)(
    'writes at most 1,000 rows for %s, and refuses more',
    async (format) => {
      const write = async (count: number): Promise<number> => {
        async function* pages(): AsyncGenerator<ListedTransaction[]> {
          for (let at = 0; at < count; at += 1) {
            yield [
              swapped({
                txnId: `t${at}`,
                createdAt: start - at,
                note: 'n'.repeat(60),
                sourceReq: { ccy: 'USD', method: 'servicepay', amtSettled: 1 },
              }),
            ];
          }
        }
        let text = '';
        const options = {
          format,
          jsonLines: () => '',
          clean: sanitize,
          rawCells: false,
          zone: 'UTC',
          ccy: 'USD',
          leftOut: () => undefined,
          local: () => Promise.resolve(() => ({ payee: undefined, kept: undefined })),
        };
        try {
          for await (const piece of exportLines(pages(), options)) text += piece;
        } catch (error) {
          expect(text).toBe('');
          throw error;
        }
        return text.trimEnd().split('\n').length;
      };
      expect(await write(1_000)).toBe(1_001);
      await expect(write(1_001)).rejects.toThrow(
        `go back to ${new Date(start - 999).toISOString()}`,
      );
    },
  );
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
