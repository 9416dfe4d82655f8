// Tests that a statement keeps the columns In, Out, Fee and Balance on a narrow screen.
import Big from 'big.js';
import { expect, test } from 'vitest';
import { createTable } from '../../../src/terminal/rows/table.js';
import { widthOf } from '../../../src/terminal/text.js';
import { statementList } from '../../../src/terminal/views/statement-view.js';
import type { StatementRow } from '../../../src/formats/statement-row.js';
import { openScreen } from '../support.js';

const line = (of: Partial<StatementRow>): StatementRow => ({
  date: '2026-10-03',
  time: '2026-10-03T10:00:00.000Z',
  created: null,
  wallet: 'BTC',
  kind: 'send',
  counterparty: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  method: 'on-chain',
  reference: 'order-118',
  note: null,
  in: new Big(0),
  out: new Big('0.003'),
  fee: new Big('0.000003'),
  balance: new Big('1.197177'),
  fiatValue: new Big('300.30'),
  fiatRate: new Big('100000'),
  exchangedRate: null,
  fiat: 'USD',
  serviceFee: new Big(0),
  networkFee: new Big('0.000003'),
  exchanged: null,
  exchangedCcy: null,
  destination: null,
  paymentHash: null,
  approvedBy: null,
  txnId: 'c1d2e3f4-5e07-4094-92cd-1aeb3fbe8297',
  ...of,
});

test.for([
  [80, 'BTC', '0.00000300'],
  [60, 'BTC', '0.00000300'],
  [80, 'VND', '3 000'],
  [60, 'VND', '3 000'],
] as const)(
  'a statement at %d columns keeps the columns In, Out, Fee and Balance of a %s wallet',
  ([columns, wallet, fee]) => {
    const { style } = openScreen().terminal;
    const rows = [
      line({
        wallet,
        ...(wallet === 'VND' && {
          out: new Big(500_000),
          fee: new Big(3_000),
          balance: new Big(49_497_000),
          in: new Big(0),
        }),
      }),
    ];
    const shown = statementList.columns.filter(({ only }) => only !== 'rows');
    const { head, rows: drawn } = createTable(shown, { style, columns })(rows);
    const text = [...head, ...drawn.flat()];
    expect(Math.max(...text.map(widthOf))).toBeLessThanOrEqual(columns);
    for (const title of ['In', 'Out', 'Fee', 'Balance']) expect(head.join('')).toContain(title);
    expect(head.join('')).not.toMatch(/Wallet|Id/);
    expect(drawn.flat().join('')).toContain(fee);
  },
);
