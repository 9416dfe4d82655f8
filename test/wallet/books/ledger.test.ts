// The ledger formats write balanced entries, one record for a swap, and escaped text from outside.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Big from 'big.js';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ListedTransaction } from '../../../src/api/types.js';
import { dayWriter } from '../../../src/formats/calendar.js';
import { sanitize } from '../../../src/terminal/text.js';
import { accountsBy, type Rule, ledgerWriter } from '../../../src/wallet/books/programs.js';
import { booked } from '../../../src/wallet/books/movement.js';
import type { StatementRow } from '../../../src/formats/statement-row.js';
import { rowOf } from '../../../src/wallet/books/statement.js';
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

const rowsOf = (transactions: readonly ListedTransaction[]): StatementRow[] =>
  transactions.flatMap((txn) =>
    booked(txn, at).movements.map((each) => rowOf(each, new Big(0), dayWriter('UTC'))),
  );

function written(
  format: 'hledger' | 'beancount',
  transactions: readonly ListedTransaction[],
  changes: Partial<StatementRow> = {},
  rules: readonly Rule[] = [],
): string {
  const writer = ledgerWriter(format, 'UTC', accountsBy(rules), sanitize);
  const entries = rowsOf(transactions).map((row) => writer.entry({ ...row, ...changes }));
  return writer.head + entries.join('');
}

/** The sum of the postings in each currency, with the price of each posting. */
function sumOf(text: string): Record<string, string> {
  const sums = new Map<string, Big>();
  const posting = /^ {4}[A-Z]\S+ {2}(\S+) ([A-Z]+)(?: (@@?) (\S+) ([A-Z]+))?$/gm;
  for (const [, value = '', ccy = '', of, price = '', priceCcy = ''] of text.matchAll(posting)) {
    const [weight, unit] =
      of === undefined
        ? [new Big(value), ccy]
        : [of === '@' ? new Big(value).times(price) : new Big(price), priceCcy];
    sums.set(unit, (sums.get(unit) ?? new Big(0)).plus(weight));
  }
  return Object.fromEntries([...sums].map(([ccy, sum]) => [ccy, sum.toFixed()]));
}

const rates = {
  fiat: 'USD',
  fiatRate: new Big('98765.43'),
  exchangedRate: new Big('1.0003'),
} as const;

describe('entries of a ledger', () => {
  test.for(Object.entries(kinds))(
    'balance the postings of a transaction to zero, with and without stored rates (%s)',
    ([, txn]) => {
      expect(Object.values(sumOf(written('hledger', [txn])))).toEqual(['0']);
      expect(sumOf(written('hledger', [txn], rates))).toEqual({ USD: '0' });
    },
  );

  test('balance the postings of any amounts and fees to zero', () => {
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
          expect(Object.values(sumOf(written('hledger', [txn])))).toEqual(['0']);
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
  ] as const)('debit the total cost of a transaction from the wallet (%s)', ([kind, left]) => {
    expect(written('hledger', [kinds[kind]])).toMatch(
      new RegExp(`Assets:Svcpay:\\w+  ${left} [A-Z]+$`, 'm'),
    );
  });

  test('carry the rate of each payment, and post a gain or loss of an exchange', () => {
    const text = written('hledger', [kinds.swap], {
      ...rates,
      fiatRate: new Big('1.0003'),
      exchangedRate: new Big('98765.43'),
    });
    expect(text).toContain('Assets:Svcpay:USDT  -25.0625 USDT @ 1.0003 USD\n');
    expect(text).toContain('Assets:Svcpay:BTC  0.00025 BTC @ 98765.43 USD\n');
    expect(text).toMatch(/Income:Svcpay:Gains {2}0\.3161425 USD/);
  });

  test('use the account of the first matching rule', () => {
    const rule = { kind: '', method: '', payee: '', note: '', account: '' };
    const rules = [
      { ...rule, note: 'COFFEE', account: 'Expenses:Meals' },
      { ...rule, kind: 'fee', method: 'network', account: 'Expenses:Miners' },
      { ...rule, kind: 'wallet', method: 'BTC', account: 'Assets:Bitcoin' },
      { ...rule, kind: 'send', account: 'Expenses:Other' },
    ];
    const text = written('hledger', [kinds['Lightning send'], kinds['USDT send']], {}, rules);
    for (const name of ['Meals', 'Miners', 'Other']) expect(text).toContain(`Expenses:${name}  `);
    expect(text).toContain('Assets:Bitcoin  -0.00002507 BTC');
  });
});

describe('hledger', () => {
  test('writes a swap as one record with its fee', () => {
    expect(written('hledger', [kinds.swap])).toBe(`; Written by svcpay. Dates are in UTC.

commodity 1.000000 USDT
commodity 1.00000000 BTC
account Assets:Svcpay:USDT
account Assets:Svcpay:BTC
account Expenses:Svcpay:Fees:Service

2026-03-01 * Swap
    ; time: 2026-03-01T14:02:31.000Z
    ; txn-id: ad79a67a
    Assets:Svcpay:USDT  -25.0625 USDT
    Expenses:Svcpay:Fees:Service  0.0625 USDT
    Assets:Svcpay:BTC  0.00025 BTC @@ 25 USDT
`);
  });

  test('writes a note with line breaks on one line', () => {
    expect(written('hledger', [kinds.payout]).match(/^2026/gm)).toHaveLength(1);
  });

  test.skipIf(!isInstalled('hledger'))('reads the entries with the right balances', () => {
    const file = stored('svcpay.journal', written('hledger', Object.values(kinds)));
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
  });
});

describe('beancount', () => {
  test('opens each used account exactly once', () => {
    const text = written('beancount', [...Object.values(kinds), ...Object.values(kinds)]);
    const opened = [...text.matchAll(/^1970-01-01 open (\S+)$/gm)].map(([, name]) => name);
    const used = new Set([...text.matchAll(/^ {2}([A-Z]\S+)/gm)].map(([, name]) => name));
    expect(new Set(opened)).toEqual(used);
    expect(opened).toHaveLength(used.size);
  });

  test('escapes quotes and backslashes in a note', () => {
    expect(written('beancount', [kinds.payout])).toContain(
      '2026-03-01 * "Send vnd-instant" "rent; \\"March\\" \\\\ {0}\\\\n2026-01-01 * \\"injected\\""\n',
    );
  });

  test.skipIf(!isInstalled('bean-check'))('accepts the entries, with and without rates', () => {
    for (const changes of [{}, rates]) {
      const text = written('beancount', Object.values(kinds), changes);
      expect(
        spawnSync('bean-check', [stored('svcpay.beancount', text)], { encoding: 'utf8' }),
      ).toMatchObject({ status: 0, stderr: '' });
    }
  });
});

describe('hostile text', () => {
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

  test.for(['hledger', 'beancount'] as const)(
    'appears in %s without escape sequences or extra records',
    (format) => {
      const text = written(format, cases);
      // oxlint-disable-next-line no-control-regex
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2028]/);
      expect(text.match(/^\s*Assets:Evil/m)).toBeNull();
      expect(text.match(/^2026-01-01/m)).toBeNull();
      expect(text.match(/^2026-03-01 \* /gm)).toHaveLength(rowsOf(cases).length);
      const [program, ...args] =
        format === 'hledger' ? ['hledger', 'check', '--strict', '-f'] : ['bean-check'];
      if (isInstalled(program ?? ''))
        expect(
          spawnSync(program ?? '', [...args, stored(`svcpay.${format}`, text)], {
            encoding: 'utf8',
          }),
        ).toMatchObject({ status: 0, stderr: '' });
    },
  );
});

function stored(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-ledger-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
