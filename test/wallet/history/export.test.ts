// Exports of the history have balanced entries, one record for a swap, and escaped text from
// outside.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Big from 'big.js';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ListedTransaction } from '../../../src/api/types.js';
import { sanitize } from '../../../src/terminal/sanitize.js';
import { parsedToLines } from '../../../src/terminal/rows/json.js';
import { exportLines, type ExportFormat } from '../../../src/wallet/history/export.js';
import { ledgerEntryOf } from '../../../src/wallet/history/ledger-entry.js';
import { isInstalled } from '../../support/installed.js';

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
  format: ExportFormat,
  transactions: readonly ListedTransaction[],
  rawCells = false,
  kept?: { readonly fiat: string; readonly rates: Readonly<Record<string, string>> },
): Promise<string> {
  async function* source(): AsyncGenerator<readonly ListedTransaction[]> {
    yield transactions;
  }
  const pieces: string[] = [];
  for await (const piece of exportLines(source(), {
    format,
    jsonLines: parsedToLines,
    clean: sanitize,
    rawCells,
    zone: 'UTC',
    ccy: 'USD',
    leftOut: () => undefined,
    local: () => Promise.resolve(() => ({ payee: undefined, kept })),
  }))
    pieces.push(piece);
  return pieces.join('');
}

describe('ledgerEntryOf', () => {
  /**
   * The sum of the postings in each currency. If a posting has a cost, the sum uses the cost
   * instead of the amount.
   */
  const sumOf = (txn: ListedTransaction): Record<string, string> => {
    const sums = new Map<string, Big>();
    for (const { amount, cost } of ledgerEntryOf(txn, sanitize)?.postings ?? []) {
      const { ccy, value } = cost ?? amount;
      sums.set(ccy, (sums.get(ccy) ?? new Big(0)).plus(value));
    }
    return Object.fromEntries([...sums].map(([ccy, sum]) => [ccy, sum.toFixed()]));
  };

  test.for(Object.entries(kinds))(
    'balances the postings of a transaction to zero (%s)',
    ([, txn]) => {
      expect(Object.values(sumOf(txn))).toEqual(['0']);
    },
  );

  test('balances the postings of any amounts and fees to zero', () => {
    const amount = fc
      .integer({ min: 1, max: 2_100_000_000 })
      .map((sats) => Number(new Big(sats).times('1e-8').toFixed()));
    fc.assert(
      fc.property(
        amount,
        amount,
        amount,
        amount,
        fc.boolean(),
        (sent, got, service, network, swap) => {
          const txn = transaction({
            sourceReq: side(swap ? 'USDT' : 'BTC', 'servicepay', sent, {
              servicepayFees: service,
              networkFees: network,
            }),
            destReq: side('BTC', swap ? 'servicepay' : 'lightning', got),
          });
          expect(Object.values(sumOf(txn))).toEqual(['0']);
        },
      ),
    );
  });

  test.for([
    ['Lightning send', '-0.00002507'],
    ['on-chain send with deducted fees', '-0.001'],
    ['on-chain send from USDT with deducted fees', '-100'],
    ['swap', '-25.0625'],
    ['USDT send', '-26.05'],
  ] as const)('debits the total cost of a transaction from the wallet (%s)', ([kind, left]) => {
    expect(ledgerEntryOf(kinds[kind], sanitize)?.postings[0]?.amount.value.toFixed()).toBe(left);
  });

  test.for(['quoted', 'srccreated', 'destsent', 'failed', 'expired', 'usercanceled'])(
    'returns no ledger entry for a transaction in the state `%s`',
    (txnState) => {
      expect(ledgerEntryOf(transaction({ txnState }), sanitize)).toBeUndefined();
    },
  );
});

describe('hledger export', () => {
  test('writes a swap as one record with its fee and rate', async () => {
    expect(await exported('hledger', [kinds.swap])).toBe(`; Written by svcpay. Dates are in UTC.

commodity 1.000000 USDT
commodity 1.00000000 BTC
account Assets:Svcpay:USDT
account Expenses:Svcpay:Fees:Service
account Assets:Svcpay:BTC

2026-03-01 * Swap
    ; time: 2026-03-01T14:02:31.000Z
    ; txn-id: ad79a67a
    ; rate: 0.00001
    Assets:Svcpay:USDT  -25.0625 USDT
    Expenses:Svcpay:Fees:Service  0.0625 USDT
    Assets:Svcpay:BTC  0.00025 BTC @@ 25 USDT
`);
  });

  test.for([
    ['hledger', '\nP 2026-03-01 BTC 98765.43 USD\n'],
    ['beancount', '\n2026-03-01 price BTC 98765.43 USD\n'],
  ] as const)('writes the exchange rates at settlement as %s prices', async ([format, price]) => {
    const kept = { fiat: 'USD', rates: { BTC: '98765.43', USD: '1' } };
    const text = await exported(format, [kinds.swap], false, kept);
    expect(text).toContain(price);
    expect(text).not.toContain('USD 1');
  });

  test('writes a note with line breaks on one line', async () => {
    const text = await exported('hledger', [kinds.payout]);
    expect(text.match(/^2026/gm)).toHaveLength(1);
  });

  test.skipIf(!isInstalled('hledger'))(
    'writes a journal that hledger reads with the right balances',
    async () => {
      const file = await written('svcpay.journal', await exported('hledger', Object.values(kinds)));
      execFileSync('hledger', ['-f', file, 'check', '--strict']);
      const balance = execFileSync(
        'hledger',
        ['-f', file, 'balance', 'Assets', '-O', 'csv', '--no-total'],
        { encoding: 'utf8' },
      );
      expect(parse(balance)).toEqual([
        ['account', 'balance'],
        ['Assets:Svcpay:BTC', '-0.00047607 BTC'],
        ['Assets:Svcpay:USDT', '-151.112500 USDT'],
      ]);
    },
  );
});

describe('beancount export', () => {
  test('opens each used account exactly once', async () => {
    const text = await exported('beancount', [...Object.values(kinds), ...Object.values(kinds)]);
    const opened = [...text.matchAll(/^1970-01-01 open (\S+)$/gm)].map(([, name]) => name);
    const used = new Set([...text.matchAll(/^ {2}([A-Z]\S+)/gm)].map(([, name]) => name));
    expect(new Set(opened)).toEqual(used);
    expect(opened).toHaveLength(used.size);
  });

  test('escapes quotes and backslashes in a note', async () => {
    expect(await exported('beancount', [kinds.payout])).toContain(
      '2026-03-01 * "Send vnd-instant" "rent; \\"March\\" \\\\ {0} 2026-01-01 * \\"injected\\""\n',
    );
  });

  test.skipIf(!isInstalled('bean-check'))('writes a ledger that bean-check accepts', async () => {
    const file = await written(
      'svcpay.beancount',
      await exported('beancount', Object.values(kinds)),
    );
    expect(spawnSync('bean-check', [file], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
  });
});

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

  test.for(['=HYPERLINK("http://x")', '+1', '-1', '@SUM(A1)', '＝1'])(
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
  const formats = ['csv', 'jsonl', 'hledger', 'beancount'] as const;

  test.for(formats)(
    'writes hostile text to %s without escape sequences or extra records',
    async (format) => {
      const text = await exported(format, cases);
      // oxlint-disable-next-line no-control-regex
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2028]/);
      expect(text.match(/^\s*Assets:Evil/m)).toBeNull();
      expect(text.match(/^2026-01-01/m)).toBeNull();
      const records = text.match(
        format === 'csv' || format === 'jsonl' ? /\n/g : /^2026-03-01 \* /gm,
      )?.length;
      expect(records).toBe(
        {
          csv: cases.length + 1,
          jsonl: cases.length,
          hledger: cases.length - 2,
          beancount: cases.length - 2,
        }[format],
      );
    },
  );

  test.skipIf(!isInstalled('hledger'))(
    'writes hostile text to a journal that hledger accepts',
    async () => {
      const file = await written('svcpay.journal', await exported('hledger', cases));
      execFileSync('hledger', ['-f', file, 'check', '--strict']);
    },
  );

  test.skipIf(!isInstalled('bean-check'))(
    'writes hostile text to a ledger that bean-check accepts',
    async () => {
      const file = await written('svcpay.beancount', await exported('beancount', cases));
      expect(spawnSync('bean-check', [file], { encoding: 'utf8' })).toMatchObject({
        status: 0,
        stderr: '',
      });
    },
  );
});

test('exportLines writes the transactions of the service unchanged as JSON lines', async () => {
  const lines = (await exported('jsonl', Object.values(kinds))).trimEnd().split('\n');
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual(Object.values(kinds));
});

async function written(name: string, text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-export-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
