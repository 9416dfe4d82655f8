// Exports of the history have exact amounts and escaped text from outside.
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import type { ListedTransaction } from '../../../src/api/types.js';
import { listRows } from '../../../src/terminal/rows/list.js';
import { exportList } from '../../../src/terminal/views/transaction-view.js';
import { openPlainScreen } from '../../terminal/support.js';

const at = Date.UTC(2026, 2, 1, 14, 2, 31);

const side = (ccy: string, method: string, amtRequested: number, more: object = {}) => ({
  ccy,
  method,
  amtRequested,
  amtSettled: amtRequested,
  ...more,
});

function transaction(changes: Partial<ListedTransaction>): ListedTransaction {
  return {
    txnId: 'ad79a67a',
    txnState: 'completed',
    createdAt: at,
    sourceReq: side('BTC', 'servicepay', 0.000025, {
      servicepayFees: 0.00000005,
      networkFees: 0.00000002,
    }),
    destReq: side('BTC', 'lightning', 0.000025),
    ...changes,
  };
}

const kinds = {
  'Lightning send': transaction({ extRefId: 'order-118', note: 'coffee' }),
  'on-chain send with deducted fees': transaction({
    sourceReq: side('BTC', 'servicepay', 0.001, {
      servicepayFees: 0.000002,
      networkFees: 0.000003,
    }),
    destReq: side('BTC', 'on-chain', 0.001, { amtSettled: 0.000995 }),
  }),
  'on-chain send from USDT with deducted fees': transaction({
    fxRate: 0.00001,
    sourceReq: side('USDT', 'servicepay', 100, { servicepayFees: 0.2, networkFees: 0.3 }),
    destReq: side('BTC', 'on-chain', 0.001, { amtSettled: 0.000995 }),
  }),
  'USDT send': transaction({
    sourceReq: side('USDT', 'servicepay', 25, { servicepayFees: 0.05, networkFees: 1 }),
    destReq: side('USDT', 'tron', 25),
  }),
  'Lightning receive': transaction({
    sourceReq: side('BTC', 'lightning', 0.0005, { servicepayFees: 0, networkFees: 0 }),
    destReq: side('BTC', 'servicepay', 0.0005),
  }),
  swap: transaction({
    fxRate: 0.00001,
    sourceReq: side('USDT', 'servicepay', 25, { servicepayFees: 0.0625, networkFees: 0 }),
    destReq: side('BTC', 'servicepay', 0.00025),
  }),
  payout: transaction({
    fxRate: 2_500_000_000,
    note: 'rent; "March" \\ {0}\n2026-01-01 * "injected"',
    sourceReq: side('BTC', 'servicepay', 0.0002, { servicepayFees: 0.000001, networkFees: 0 }),
    destReq: side('VND', 'vnd-instant', 500_000),
  }),
} satisfies Record<string, ListedTransaction>;

async function exported(
  format: 'csv' | 'jsonl',
  transactions: readonly ListedTransaction[],
  rawCells = false,
): Promise<string> {
  const { terminal, stdout } = openPlainScreen({ tty: false });
  const options = { terminal, format, rawCells, fields: undefined, onlyValue: false };
  await listRows(options, transactions, exportList);
  return stdout();
}

describe('CSV export', () => {
  test('writes completed and failed transactions with exact amounts', async () => {
    const text = await exported('csv', [kinds.payout, transaction({ txnState: 'failed' })]);
    const rows: Record<string, string>[] = parse(text, { columns: true });
    expect(rows).toMatchObject([
      {
        txnState: 'completed',
        sourceAmount: '0.0002',
        destAmount: '500000',
        fxRate: '2500000000',
        note: kinds.payout.note?.replace('\n', '\\n'),
      },
      { txnState: 'failed', servicepayFees: '0.00000005', networkFees: '0.00000002' },
    ]);
  });

  test.for(['=HYPERLINK("http://x")', '+1', '-1+1', '@SUM(A1)', '＝1'])(
    'writes the note %s as text instead of a formula',
    async (note) => {
      const [row] = parse(await exported('csv', [transaction({ note, extRefId: note })]), {
        columns: true,
      }) as Record<string, string>[];
      expect(row).toMatchObject({
        note: `'${note}`,
        extRefId: `'${note}`,
        sourceAmount: '0.000025',
      });
      const [raw] = parse(await exported('csv', [transaction({ note })], true), {
        columns: true,
      }) as Record<string, string>[];
      expect(raw).toMatchObject({ note });
    },
  );

  test('writes the CSV header even for an empty history', async () => {
    expect(await exported('csv', [])).toMatch(/^time,txnId,.*\n$/);
  });
});

describe('export of hostile text', () => {
  const evil =
    '\u001b[2J\u202e\n2026-01-01 * "injected"\n  Assets:Evil  1000000 BTC, date:2020-01-01 ; x\r\u2028';
  const texts = ['txnId', 'extRefId', 'note', 'accountDisplayName'] as const;
  const changed = (field: string): ListedTransaction => transaction({ [field]: evil });
  const methods = (which: 'sourceReq' | 'destReq', value: string) =>
    transaction({ [which]: { ...kinds.swap[which], method: value } });
  const cases = [
    ...texts.map(changed),
    methods('sourceReq', evil),
    methods('destReq', evil),
    methods('destReq', '-'),
    methods('destReq', 'über'),
    transaction({ destReq: side(`BTC\n${evil}`, 'lightning', 0.000025) }),
    transaction({
      sourceReq: side(evil, 'servicepay', 0.000025),
      destReq: side(evil, 'lightning', 0.000025),
    }),
  ];

  test.for(['csv', 'jsonl'] as const)(
    'writes hostile text to %s without escape sequences or extra records',
    async (format) => {
      const text = await exported(format, cases);
      // oxlint-disable-next-line no-control-regex
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2028]/);
      expect(text.match(/\n/g)).toHaveLength(cases.length + (format === 'csv' ? 1 : 0));
    },
  );
});

test('JSONL export writes the transactions of the service unchanged as JSON lines', async () => {
  const lines = (await exported('jsonl', Object.values(kinds))).trimEnd().split('\n');
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual(Object.values(kinds));
});
