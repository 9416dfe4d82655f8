// Tests the screens that people see, at 80 and at 40 columns: quotes, payouts, receipts, invoices,
// tables and failures.
import { Big } from 'big.js';
import { Chalk } from 'chalk';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Wallet, Transaction } from '../../src/api/types.js';
import { amountWithSats, money } from '../../src/formats/amount.js';
import { Failure } from '../../src/formats/failure.js';
import { cardLines } from '../../src/terminal/cards/card.js';
import { failureJson, failureLines } from '../../src/terminal/next-step.js';
import { invoiceCard, type InvoiceCard } from '../../src/terminal/cards/invoice-card.js';
import { createOutput } from '../../src/terminal/output.js';
import { pointsAligned, widthOf, asciiGlyphs } from '../../src/terminal/text.js';
import { relativeTime } from '../../src/terminal/time.js';
import {
  besideSteps,
  recordLine,
  stepsLine,
  waitingText,
  stateWord,
} from '../../src/terminal/cards/steps.js';
import { quoteCard, type QuoteCard } from '../../src/terminal/cards/quote-card.js';
import { receipt } from '../../src/terminal/cards/receipt.js';
import type { Canvas } from '../../src/terminal/terminal.js';
import { transactionKind, transactionList } from '../../src/terminal/views/transaction-view.js';
import { whereaboutsLine, walletList } from '../../src/terminal/views/wallet-view.js';
import { openPlainScreen } from './support.js';

const plain = (columns: number, rows = 60, blocks: Canvas['blocks'] = false): Canvas => ({
  style: new Chalk({ level: 0 }),
  columns,
  rows,
  blocks,
});
const coloured: Canvas = { style: new Chalk({ level: 1 }), columns: 80, rows: 60, blocks: 'half' };

const txnId = 'c1d2e3f4-5e07-4094-92cd-1aeb3fbe8297';
const payee = '03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad';
/** A time in the time zone of the machine, which screens use. */
const now = new Date(2026, 2, 1, 14, 2, 31).getTime();
const btc = (value: string) => money('BTC', value);

const payment: QuoteCard = {
  about: [
    { label: 'Pay', value: 'Coffee House, order 118', note: 'says the invoice' },
    { label: 'To', value: payee, whole: true },
    { label: 'Expires', value: 'in 48 minutes' },
  ],
  receives: btc('0.000025'),
  serviceFee: btc('0.00000005'),
  networkFee: btc('0.00000002'),
  namesFees: true,
  total: btc('0.00002507'),
  left: btc('1.24497493'),
};

const swap: QuoteCard = {
  about: [],
  getsLabel: 'You get',
  receives: money('USDT', '70.796845'),
  serviceFee: btc('0.0000005'),
  networkFee: btc('0'),
  namesFees: true,
  total: btc('0.0010005'),
  rate: new Big('70796.845'),
  validForMs: 29_000,
};

describe('quoteCard', () => {
  test('shows a quote at 80 columns', () => {
    expect(quoteCard(payment, plain(80))).toEqual([
      '  Pay       Coffee House, order 118   says the invoice',
      `  To        ${payee}`,
      '  Expires   in 48 minutes',
      '',
      '  Recipient gets   0.00002500 BTC   2 500 sat',
      '  Service fee      0.00000005 BTC       5 sat',
      '  Network fee      0.00000002 BTC       2 sat',
      '  ───────────────────────────────────────────',
      '  You pay          0.00002507 BTC   2 507 sat   fee 0.28 %',
      '  Left in wallet   1.24497493 BTC',
    ]);
  });

  test('omits amounts in satoshis at 40 columns, and puts notes and the key of the recipient on separate lines', () => {
    expect(quoteCard(payment, plain(40))).toEqual([
      '  Pay       Coffee House, order 118',
      '            says the invoice',
      '  To',
      payee,
      '  Expires   in 48 minutes',
      '',
      '  Recipient gets   0.00002500 BTC',
      '  Service fee      0.00000005 BTC',
      '  Network fee      0.00000002 BTC',
      '  ───────────────────────────────',
      '  You pay          0.00002507 BTC',
      '                   fee 0.28 %',
      '  Left in wallet   1.24497493 BTC',
    ]);
  });

  test.each(
    [
      { serviceFee: '0', networkFee: '0', pays: '0.5', note: 'no fee' },
      { serviceFee: '0.00000001', networkFee: '0', pays: '0.5', note: 'fee below 0.01 %' },
      { serviceFee: '0.1', networkFee: '0.1', pays: '0.2', note: 'all fees' },
      { serviceFee: '0.1', networkFee: '0', pays: '0.3', note: 'fee 50.00 %' },
    ].map((each) => [each.note, each.serviceFee, each.networkFee, each.pays, each] as const),
  )(
    'shows "%s" if the service fee is %s, the network fee %s and the total %s',
    (_note, _serviceFee, _networkFee, _pays, { note, ...fees }) => {
      const card = {
        ...payment,
        serviceFee: btc(fees.serviceFee),
        networkFee: btc(fees.networkFee),
        total: btc(fees.pays),
      };
      expect(quoteCard(card, plain(80)).find((line) => line.includes('You pay'))).toMatch(
        new RegExp(` ${note}$`),
      );
    },
  );

  test('shows no figures for missing fees', () => {
    const card = quoteCard(
      {
        ...payment,
        about: [],
        serviceFee: btc('0'),
        networkFee: btc('0'),
        namesFees: false,
        total: payment.receives,
      },
      plain(80),
    );
    expect(card.join('\n')).not.toMatch(/Service fee|no fee/);
    expect(card.find((line) => line.includes('You pay'))).toMatch(
      /0\.00002500 BTC +2 500 sat +fee not reported$/,
    );
  });
});

test('quoteCard shows a fee above 5 % as a warning before all amounts', () => {
  const expensive = {
    ...payment,
    about: [],
    networkFee: btc('0.000003'),
    total: btc('0.00002805'),
  };
  const lines = quoteCard(expensive, coloured);
  expect(lines[0]).toBe('  \u001B[33m12.20 % goes to fees: 0.00000305 BTC, a high share\u001B[39m');
  expect(lines.find((line) => line.includes('You pay'))).toContain('\u001B[33mfee 12.20 %');
  expect(quoteCard(payment, plain(80)).join('\n')).not.toContain('goes to fees');
});

test('quoteCard shows the worth of bitcoin amounts if rates are available', () => {
  const worth = ({ ccy, value }: ReturnType<typeof btc>) =>
    ccy === 'BTC' ? money('USD', value.times(70_000)) : undefined;
  const lines = quoteCard({ ...payment, worth }, plain(80));
  expect(lines.find((line) => line.includes('Recipient gets'))).toMatch(
    /2 500 sat {3}≈ 1\.75 USD$/,
  );
  expect(lines.find((line) => line.includes('You pay'))).toMatch(/fee 0\.28 % {3}≈ 1\.75 USD$/);
});

test('quoteCard shows the rate of a swap in both directions, and aligns amounts of different currencies at the decimal point', () => {
  expect(quoteCard(swap, plain(80))).toEqual([
    '  Rate      1 BTC = 70 796.845 USDT   1 USDT ≈ 0.0000141249 BTC',
    '  Quote     valid 29 seconds',
    '',
    '  You get       70.796845 USDT',
    '  Service fee    0.00000050 BTC',
    '  ─────────────────────────────',
    '  You pay        0.00100050 BTC   fee 0.05 %',
  ]);
});

const invoice: InvoiceCard = {
  title: `Receive ${amountWithSats(btc('0.0005'))} over Lightning`,
  code: `lnbc500u1${'q'.repeat(291)}`,
  text: `lnbc500u1${'q'.repeat(291)}`,
  details: [{ label: 'Page', value: 'https://pay.example/ad79a67a' }],
};

describe('invoiceCard', () => {
  const shape = (canvas: Canvas): string =>
    invoiceCard(invoice, canvas)
      .map((line) =>
        line.includes('\u001B[')
          ? 'code'
          : line.includes('qqq')
            ? 'text'
            : (line.trim().split(' ')[0] ?? ''),
      )
      .filter((word, i, words) => word !== words[i - 1])
      .join(' ');

  test.each(
    [
      { rows: 44, what: 'puts the QR code above the text', expected: 'Receive  code  text  Page ' },
      {
        rows: 37,
        what: 'puts the details above the code, and the text below the code',
        expected: 'Receive  Page  code text ',
      },
      {
        rows: 24,
        what: 'shows a hint instead of the code',
        expected: 'Receive  text  Page  The ',
      },
    ].map((each) => [each.what, each.rows, each] as const),
  )(
    'fits the QR code and the text into the window: it %s in %s rows',
    (_what, _rows, { rows, expected }) => {
      expect(shape(plain(80, rows, 'half'))).toBe(expected);
    },
  );

  test('draws sextants above the text in a window of 80 x 24', () => {
    expect(shape(plain(80, 24, 'sextants'))).toBe('Receive  Page  code text');
  });

  test('writes the invoice as one line from the first column, so that a terminal copies it whole', () => {
    expect(invoiceCard(invoice, plain(40))).toContain(invoice.text);
  });

  test.each([
    [
      'one-time request',
      'bitcoin:tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx?amount=0.01',
      'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
    ],
    [
      'permanent address',
      'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
      'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    ],
  ])('shows the address below the QR code of a %s at 80 x 24 cells', (_, code, text) => {
    const lines = invoiceCard(
      { title: 'Receive', code, text, details: [{ label: 'URI', value: code, whole: true }] },
      plain(80, 24, 'half'),
    );
    const last = lines.findLastIndex((line) => line.includes('\u001B['));
    expect(last).toBeGreaterThan(0);
    expect(lines.indexOf(text)).toBeGreaterThan(last);
    expect(
      lines.indexOf(text) - lines.findIndex((line) => line.includes('\u001B[')),
    ).toBeLessThanOrEqual(22);
  });

  test('lists the written files instead of the advice on --qr-file', () => {
    const lines = invoiceCard({ ...invoice, qrFile: 'code.svg' }, plain(80, 24, 'half'));
    expect(lines.join('\n')).toContain('QR code   written to code.svg');
    expect(lines.join('\n')).not.toContain('--qr-file');
  });

  test('explains how to write the code to a file if half blocks are unavailable', () => {
    expect(invoiceCard(invoice, plain(80)).at(-2)).toBe(
      '  This terminal cannot draw the QR code: --qr-file code.svg saves the QR code.',
    );
  });
});

function transaction(over: Partial<Transaction>): Transaction {
  return {
    txnId,
    txnState: 'completed',
    createdAt: now - 240_000,
    fxRate: 1,
    sourceReq: {
      ccy: 'BTC',
      method: 'servicepay',
      amtRequested: 0.000025,
      servicepayFees: 0.00000005,
      networkFees: 0.00000002,
      updatedAt: now - 238_200,
    },
    destReq: { ccy: 'BTC', method: 'lightning', reqDetails: { paymentRequest: 'lnbc25u1qqq' } },
    ...over,
  };
}

describe('receipt', () => {
  test('shows a completed payment at 80 columns', () => {
    expect(
      receipt(
        transaction({ extRefId: 'order-118', note: 'tea\nfor two' }),
        {
          now,
          isVerbose: true,
          invoice: { paymentHash: 'ab12', payee: '03ab', description: 'Coffee' },
          total: money('BTC', '0.00002507'),
          times: new Map([['srccreated', Date.UTC(2026, 2, 1, 13, 58, 31) + 500]]),
        },
        plain(80),
      ),
    ).toEqual([
      '  Lightning send   done   2026-03-01',
      '',
      '  13:58:31      ✓ quoted      4 minutes ago',
      '  13:58:31      ✓ confirmed   after 0.5 s',
      '                ✓ sent',
      '  13:58:32      ✓ settled     after 1.8 s',
      '',
      '  The money left your BTC wallet.',
      '',
      '  Source        0.00002500 BTC   2 500 sat',
      '  Service fee   0.00000005 BTC       5 sat',
      '  Network fee   0.00000002 BTC       2 sat',
      '  ────────────────────────────────────────',
      '  Total         0.00002507 BTC   2 507 sat',
      '',
      '  From          BTC wallet',
      '  To            BTC over Lightning',
      '  Invoice       lnbc25u1qqq',
      '  For           Coffee',
      '  Payee         03ab',
      '  Hash          ab12',
      '  Reference     order-118',
      '  Note          tea\\nfor two',
      `  Transaction   ${txnId}`,
    ]);
  });

  test.for([
    ['Nothing was taken from your BTC wallet.', 'lightning', 'failed'],
    ['Returned to your BTC wallet.', 'on-chain', 'failed'],
    ['Returned to your BTC wallet.', 'vnd-instant', 'rejected'],
    ['The service may hold 0.01002500 BTC. Ask the service about this id.', 'on-chain', 'error'],
  ] as const)(
    'shows "%s" for a payment with the method %s in state %s',
    ([place, method, state]) => {
      const txn = transaction({
        txnState: state,
        sourceReq: { ccy: 'BTC', method: 'servicepay' },
        destReq: { ccy: 'BTC', method },
      });
      const total = money('BTC', '0.010025');
      const lines = receipt(txn, { now, total }, plain(80)).join('\n');
      expect(lines).toContain(place);
      expect(lines).not.toMatch(/^\s*Total/m);
    },
  );

  test('shows an amount only once in a receipt if both sides are equal', () => {
    const side = { ccy: 'BTC', amtSettled: 0.0005 };
    const received = transaction({
      sourceReq: { ...side, method: 'lightning' },
      destReq: { ...side, method: 'servicepay' },
    });
    const lines = receipt(received, { now }, plain(80));
    expect(lines.filter((line) => line.includes('0.0005'))).toEqual([
      '  Amount        0.00050000 BTC   50 000 sat',
    ]);
  });

  test('keeps the transaction id whole at 40 columns', () => {
    const lines = receipt(transaction({}), { now }, plain(40));
    expect(lines.slice(-2)).toEqual(['  Transaction', `  ${txnId}`]);
    expect(lines.every((line) => widthOf(line) <= 40)).toBe(true);
  });

  test('shows the date of a receipt once, even if it is more than a week ago', () => {
    const later = now + 30 * 86_400_000;
    expect(receipt(transaction({}), { now: later }, plain(80)).slice(0, 3)).toEqual([
      '  Lightning send   done   2026-03-01',
      '',
      '  13:58:31      ✓ quoted',
    ]);
  });

  test('shows the times of past states in a receipt, and lists the coming states', () => {
    const timeline = (txnState: string): string[] =>
      receipt(transaction({ txnState }), { now }, plain(80)).slice(2, 6);
    expect(timeline('srccreated')).toEqual([
      '  13:58:31      ✓ quoted      4 minutes ago',
      '  13:58:32      ● confirmed   after 1.8 s',
      '                ○ sent',
      '                ○ settled',
    ]);
    expect(timeline('failed').slice(0, 3)).toEqual([
      '  13:58:31      ✓ quoted      4 minutes ago',
      '  13:58:32      ✗ failed      after 1.8 s',
      '',
    ]);
  });
});

describe('stepsLine', () => {
  const over = (source: string, dest: string, txnState: string): string =>
    stepsLine(
      transaction({
        txnState,
        sourceReq: { ccy: 'BTC', method: source },
        destReq: { ccy: 'BTC', method: dest },
      }),
      plain(80),
    );

  test.each(
    [
      {
        what: 'a send',
        source: 'servicepay',
        dest: 'lightning',
        steps: '✓ quoted ── ✓ confirmed ── ✓ sent ── ✓ settled',
      },
      {
        what: 'a payout',
        source: 'servicepay',
        dest: 'vnd-instant',
        steps: '✓ quoted ── ✓ confirmed ── ✓ sent ── ✓ settled',
      },
      { what: 'a swap', source: 'servicepay', dest: 'servicepay', steps: '✓ quoted ── ✓ settled' },
      {
        what: 'a Lightning receive',
        source: 'lightning',
        dest: 'servicepay',
        steps: '✓ quoted ── ✓ invoice ready ── ✓ received',
      },
      {
        what: 'an on-chain receive',
        source: 'on-chain',
        dest: 'servicepay',
        steps: '✓ quoted ── ✓ address ready ── ✓ seen ── ✓ received',
      },
    ].map((each) => [each.what, each] as const),
  )('shows the steps of %s', (_what, { source, dest, steps }) => {
    expect(over(source, dest, 'completed')).toBe(steps);
  });

  test('ends the steps of a failed payment with the failure', () => {
    expect(
      stepsLine(transaction({ txnState: 'failed' }), plain(80), ['quoted', 'srccreated']),
    ).toBe('✓ quoted ── ✓ confirmed ── ✗ failed');
    const chain = {
      ccy: 'BTC',
      method: 'on-chain',
      reqDetails: { confirmations: 2, requiredConfirmations: 6 },
    };
    const sent = transaction({ txnState: 'destsent', destReq: chain });
    expect(stepsLine(sent, plain(80))).toBe(
      '✓ quoted ── ✓ confirmed ── ● sent ── ○ settled   2 of 6 confirmations',
    );
    expect(stepsLine(sent, plain(60))).toBe('● sent ── ○ settled   2 of 6 confirmations');
    expect(asciiGlyphs(stepsLine(sent, plain(60)))).toBe(
      '> sent -- - settled   2 of 6 confirmations',
    );
    expect(stateWord(transaction({ txnState: 'failed' }))).toBe('failed');
    expect(stateWord(transaction({ txnState: 'destsent' }))).toBe('sent');
    expect(stateWord(transaction({ txnState: 'constructor' }))).toBe('constructor');
  });
});

describe('waitingText', () => {
  const sent = transaction({ txnState: 'destsent' });
  const usually = 'on-chain usually takes 30 min';

  test.each(
    [
      { what: 'a payment that was just confirmed', txn: sent, ms: 2_900, text: '' },
      {
        what: 'a payment on its way',
        txn: sent,
        ms: 4 * 60_000,
        text: `4 min · ${usually} · Ctrl-C is safe: the payment continues`,
      },
      { what: 'a quote', txn: transaction({ txnState: 'quoted' }), ms: 60_000, text: '' },
      {
        what: 'a completed payment',
        txn: transaction({ txnState: 'completed' }),
        ms: 60_000,
        text: '',
      },
      {
        what: 'incoming money',
        txn: transaction({ txnState: 'srccreated', sourceReq: { ccy: 'BTC', method: 'on-chain' } }),
        ms: 60_000,
        text: '',
      },
    ].map((each) => [each.text, each.what, each] as const),
  )('shows the waiting text "%s" for %s', (_text, _what, { txn, ms, text }) => {
    expect(waitingText(txn, ms, usually)).toBe(text);
  });

  test('puts the waiting text next to the steps of a payment, or shortened below the steps in a narrow window', () => {
    const text = waitingText(sent, 60_000, usually);
    const steps = stepsLine(sent, plain(140));
    expect(besideSteps(steps, text, plain(140))).toBe(`${steps}     ${text}`);
    expect(besideSteps(steps, text, plain(60))).toBe(
      `${steps}\n1 min · ${usually} · Ctrl-C is safe`,
    );
    expect(besideSteps(steps, '', plain(60))).toBe(steps);
  });
});

test.each(
  [
    { source: 'servicepay', dest: 'lnurl', kind: 'Lightning send' },
    { source: 'servicepay', dest: 'tron', kind: 'USDT send' },
    { source: 'servicepay', dest: 'ke-kes-mobile', kind: 'Payout' },
    { source: 'servicepay', dest: null, kind: 'Send' },
    { source: 'on-chain', dest: 'servicepay', kind: 'On-chain receive' },
    { source: 'tron', dest: 'servicepay', kind: 'Deposit' },
    { source: 'servicepay', dest: 'constructor', kind: 'Payout' },
    { source: null, dest: null, kind: 'Transaction' },
  ].map((each) => [each.kind, each.source, each.dest, each] as const),
)(
  'transactionKind returns "%s" for a transaction from %s to %s',
  (_kind, _source, _dest, { source, dest, kind }) => {
    expect(transactionKind({ sourceReq: { method: source }, destReq: { method: dest } })).toBe(
      kind,
    );
  },
);

describe('a table in the output', () => {
  const wallets: readonly Wallet[] = [
    { ccy: 'BTC', amount: 1.25, availableBalance: 1.245 },
    { ccy: 'USDT', amount: 10000, availableBalance: 10000 },
    { ccy: 'VND', amount: 50000000, availableBalance: 50000000 },
  ];
  const history = [
    transaction({
      sourceReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.001 },
      destReq: { ccy: 'USDT', method: 'servicepay', amtSettled: 70.796845 },
    }),
    transaction({ txnState: 'expired', createdAt: now - 30 * 86_400_000 }),
  ];

  async function drawn(
    columns: number | undefined,
    draw: (out: ReturnType<typeof createOutput>) => Promise<void>,
  ): Promise<string[]> {
    const { terminal, stdout } = openPlainScreen(
      columns === undefined ? { tty: false } : { columns },
    );
    await draw(createOutput(terminal, {}));
    return stdout().slice(0, -1).split('\n');
  }

  test('shows available, reserved and total amounts of wallets at 80 columns', async () => {
    const footer = whereaboutsLine({
      profile: 'acme',
      service: 'production',
      accountId: 'ne01-7f3a',
    });
    expect(await drawn(80, (out) => out.list(wallets, { ...walletList, footer }))).toEqual([
      '  Currency       Available        Reserved           Total',
      '  BTC           1.24500000      0.00500000      1.25000000',
      '  USDT           10 000.00            0.00       10 000.00',
      '  VND           50 000 000               0      50 000 000',
      '  acme · production · ne01-7f3a',
    ]);
  });

  test('omits the reserved amounts of wallets in a window of 36 columns', async () => {
    expect(await drawn(36, (out) => out.list(wallets.slice(0, 1), walletList))).toEqual([
      '  Currency    Available        Total',
      '  BTC        1.24500000   1.25000000',
    ]);
  });

  test('prints exact wallet amounts if stdout is a pipe', async () => {
    expect(await drawn(undefined, (out) => out.list(wallets, walletList))).toEqual([
      'BTC\t1.245\t0.005\t1.25',
      'USDT\t10000\t0\t10000',
      'VND\t50000000\t0\t50000000',
    ]);
  });

  const page = [
    ...history,
    transaction({
      txnId: '9e1b02aa-5e07-4094-92cd-1aeb3fbe8297',
      txnState: 'destsent',
      createdAt: now - 20_000,
      note: 'rent',
      sourceReq: {
        ccy: 'BTC',
        method: 'servicepay',
        amtRequested: 0.003,
        servicepayFees: 0.000006,
        networkFees: 0.000003,
      },
      destReq: {
        ccy: 'BTC',
        method: 'on-chain',
        reqDetails: {
          address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
          confirmations: 2,
          requiredConfirmations: 6,
        },
      },
    }),
  ];
  const ids = page.map((txn) => txn.txnId);
  const recipientOf = (id: string): string | undefined =>
    id === txnId ? 'Coffee House' : undefined;

  test.each([
    {
      columns: 140,
      lines: [
        '  All 3',
        '   4 min      ⇄ → 70.796845 USDT      −100 000 sat      swap                        c1d2e3f4',
        '  30 Jan      ↑ Coffee House            −2 500 sat      lightning      expired      c1d2e3f4',
        '     now      ↑ bc1q…f3t4             −300 000 sat      on-chain       2 of 6       9e1b02aa',
        '  svcpay tx get',
      ],
    },
    {
      columns: 80,
      lines: [
        '  All 3',
        '   4 min   ⇄ → 70.796845 USDT   −100 000 sat   swap                  c1d2e3f4',
        '  30 Jan   ↑ Coffee House         −2 500 sat   lightning   expired   c1d2e3f4',
        '     now   ↑ bc1q…f3t4          −300 000 sat   on-chain    2 of 6    9e1b02aa',
        '  svcpay tx get',
      ],
    },
    {
      columns: 60,
      lines: [
        '  All 3',
        '   4 min     ⇄ → 70.796845 USDT     −100 000 sat',
        '  30 Jan     ↑ Coffee House           −2 500 sat     expired',
        '     now     ↑ bc1q…f3t4            −300 000 sat     2 of 6',
        '  svcpay tx get',
      ],
    },
    {
      columns: 40,
      lines: [
        '  All 3',
        '  ⇄ → 70.796845 USDT      −100 000 sat',
        '  ↑ Coffee House            −2 500 sat',
        '    expired',
        '  ↑ bc1q…f3t4             −300 000 sat',
        '    2 of 6',
        '  svcpay tx get',
      ],
    },
  ])(
    'keeps amounts, fees and names of transactions at $columns columns',
    async ({ columns, lines }) => {
      const view = transactionList(now, {
        ids,
        recipientOf,
        heading: 'All 3',
        footer: 'svcpay tx get',
      });
      expect(await drawn(columns, (out) => out.list(page, view))).toEqual(lines);
    },
  );

  test('aligns numbers of several currencies at the decimal point', () => {
    expect(
      pointsAligned(['25.00 USDT', '50 000 sat', '−2 507 sat', '–', '50 000 000 VND', '1.5']),
    ).toEqual([
      '        25.00 USDT',
      '    50 000 sat    ',
      '    −2 507 sat    ',
      '         –        ',
      '50 000 000 VND    ',
      '         1.5      ',
    ]);
  });

  test('prints exact amounts, and each side of a transaction in its own columns, if stdout is a pipe', async () => {
    expect(
      await drawn(undefined, (out) => out.list(history.slice(0, 1), transactionList(now))),
    ).toEqual([
      `${new Date(now - 240_000).toISOString()}\tSwap\tBTC\t0.001\tUSDT\t70.796845\t\t\tcompleted\t${txnId}\t\t→ 70.796845 USDT`,
    ]);
  });
});

describe('views of text from outside', () => {
  const hostile = 'x\u001B[2J\u202E\n';
  const steering = /[\p{Cc}\p{Cf}]/u;

  test.each(
    [
      {
        what: 'a detail',
        lines: cardLines([{ label: hostile, value: hostile, note: hostile }], plain(80)),
      },
      {
        what: 'a key',
        lines: cardLines([{ label: 'To', value: hostile.repeat(30), whole: true }], plain(80)),
      },
      {
        what: 'an amount',
        lines: cardLines(
          [{ label: hostile, value: money(hostile, '1'), note: hostile }],
          plain(80),
        ),
      },
      { what: 'a rate', lines: cardLines([{ label: 'Rate', value: hostile }], plain(80)) },
      {
        what: 'an invoice',
        lines: invoiceCard({ ...invoice, title: hostile, text: hostile }, plain(80)),
      },
      { what: 'a record', lines: recordLine(hostile, hostile, plain(80)).split('\n') },
      {
        what: 'a receipt',
        lines: receipt(
          transaction({
            txnId: hostile,
            txnState: hostile,
            note: hostile,
            extRefId: hostile,
            sourceReq: { ccy: hostile, method: hostile, amtSettled: 1 },
            destReq: {
              ccy: 'BTC',
              method: hostile,
              amtSettled: 1,
              reqDetails: Object.fromEntries([[hostile, hostile]]),
            },
          }),
          { now },
          plain(80),
        ),
      },
    ].map((each) => [each.what, each] as const),
  )('escapes control characters in %s', (_what, { lines }) => {
    expect(lines.filter((line) => steering.test(line))).toEqual([]);
  });

  test('escapes control characters in every column of a table', async () => {
    const { terminal, stdout } = openPlainScreen();
    const columns = [
      { name: 'id', title: 'Id', value: () => hostile },
      { name: 'text', title: 'Text', value: () => 1, text: () => hostile },
    ];
    await createOutput(terminal, {}).list([{}], {
      columns,
      quiet: () => hostile,
      empty: '',
      footer: hostile,
    });
    expect(
      stdout()
        .split('\n')
        .filter((line) => steering.test(line)),
    ).toEqual([]);
  });
});

describe('the width of lines', () => {
  const amount = fc
    .integer({ min: 1, max: 2_100_000_000_000_000 })
    .map((sats) => btc(new Big(sats).div(1e8).toFixed()));
  const words = fc.string({ unit: 'grapheme-ascii', maxLength: 120 });
  const details = fc.array(
    fc.record({
      label: fc.constantFrom('Pay', 'Left in wallet'),
      value: fc.oneof(words, amount),
      note: words,
      total: fc.boolean(),
    }),
    { maxLength: 3 },
  );
  const widest = (lines: readonly string[]): number => Math.max(0, ...lines.map(widthOf));

  test('cardLines never exceeds the width of the window', () => {
    fc.assert(
      fc.property(
        details,
        fc.integer({ min: 24, max: 100 }),
        (given, columns) => widest(cardLines(given, plain(columns))) <= columns,
      ),
    );
  });
});

test('recordLine wraps the record of a payment between words', () => {
  const record = recordLine(
    'Received 0.00050000 BTC (50 000 sat), 3 seconds after the request',
    txnId,
    plain(60),
  );
  expect(record.split('\n')).toEqual([
    'Received 0.00050000 BTC (50 000 sat), 3 seconds after',
    '    the request',
    `    ${txnId}`,
  ]);
});

test('quoteCard shows equal text with and without colours', () => {
  const bare = (lines: readonly string[]): string[] =>
    lines.map((line) => line.replace(/\u001B\[\d+m/g, '').trimEnd());
  expect(bare(quoteCard(payment, coloured))).toEqual(quoteCard(payment, plain(80)));
  expect(quoteCard(payment, coloured).join('')).toContain('\u001B[');
});

describe('failureLines', () => {
  const invoiceExpired = new Failure(
    'usage',
    'The invoice expired 4 minutes ago. Ask for a new one.',
  );

  test.each(
    [
      {
        failure: invoiceExpired,
        shown: ['Not sent. The invoice expired 4 minutes ago. Ask for a new one.'],
      },
      {
        failure: new Failure('usage', '50000 has no unit.'),
        shown: ['Not sent. 50000 has no unit.'],
      },
      {
        failure: new Failure('refused', 'The service refused the quote.'),
        shown: ['Nothing moved. The service refused the quote.'],
      },
      {
        failure: new Failure('pending', 'The service did not answer.', {
          next: { do: 'resume', id: txnId },
        }),
        shown: ['Outcome unknown. The service did not answer.', `  svcpay tx resume ${txnId}`],
      },
      {
        failure: new Failure('refused', 'it was refused.', { money: 'Nothing moved' }),
        shown: ['Nothing moved: it was refused.'],
      },
      {
        failure: new Failure('declined', '', { money: 'Nothing was sent' }),
        shown: ['Nothing was sent.'],
      },
      {
        failure: new Failure('interrupted', 'Interrupted during a question.'),
        shown: ['Nothing moved. Interrupted during a question.'],
      },
      { failure: new Failure('unexpected', 'Something broke.'), shown: ['Something broke.'] },
      {
        failure: new Failure('refused', 'BTC: \u001B[2J\nfaked line'),
        shown: ['Nothing moved. BTC: \\x1b[2J\\nfaked line'],
      },
    ].map((each) => [each.shown, each] as const),
  )('shows a failed payment as "%s"', (_shown, { failure, shown }) => {
    expect(failureLines(failure, { run: {}, money: true })).toEqual(shown);
  });

  test('shows only the reason if the command moves no money', () => {
    expect(failureLines(invoiceExpired, { run: {}, money: false })).toEqual([
      invoiceExpired.message,
    ]);
  });

  test('wraps a failure to the window, but not its command', () => {
    const failure = new Failure('temporary', 'The service does not answer at all.', {
      next: { do: 'run', command: 'doctor --a-very-long-flag' },
    });
    expect(failureLines(failure, { run: {}, money: true, canvas: plain(24) })).toEqual([
      '✗ Nothing moved. The',
      '  service does not',
      '  answer at all.',
      '  svcpay doctor --a-very-long-flag',
    ]);
  });

  test('puts the command of a hint on its own line if the hint does not fit', () => {
    const failure = new Failure('authentication', 'You are not logged in.', {
      hint: 'Log in, or try the sandbox without an account, e.g.',
      next: { do: 'run', command: '--sandbox wallets' },
    });
    expect(failureLines(failure, { run: {}, money: false, canvas: plain(60) }).slice(1)).toEqual([
      '  Log in, or try the sandbox without an account, e.g.:',
      '  svcpay --sandbox wallets',
    ]);
    expect(failureLines(failure, { run: {}, money: false, canvas: plain(80) })).toHaveLength(2);
  });

  test.for(
    (
      [
        {
          next: { do: 'sign-in' },
          hint: 'Check the key, then sign in again',
          advice: 'Check the key, then sign in again: svcpay login',
        },
        { next: { do: 'resume', id: txnId }, hint: undefined, advice: `svcpay tx resume ${txnId}` },
        {
          next: { do: 'show', id: "x'; rm -rf ~" },
          hint: undefined,
          advice: "svcpay tx get 'x'\\''; rm -rf ~'",
        },
        {
          next: { do: 'allow', destination: '~root' },
          hint: undefined,
          advice: "svcpay limits allow '~root'",
        },
      ] as const
    ).map((each) => [each.advice, each] as const),
  )('shows the next step as the command "%s"', ([, { next, hint, advice }]) => {
    const failure = new Failure('refused', 'No.', { next, hint });
    expect(failureLines(failure, { run: {}, money: false }).at(-1)).toBe(`  ${advice}`);
    expect(failureJson(failure, {})).toContain(JSON.stringify(advice));
  });

  test.each(
    [
      { message: 'You have 1 000 000 sat, and 1 250 000 sat are needed.', columns: 24 },
      {
        message: 'The fee would be 12.20 % of it, 0.00000305 BTC: more than --max-fee 1%.',
        columns: 30,
      },
    ].map((each) => [each.message, each] as const),
  )('wraps neither numbers nor flags of "%s"', (_message, { message, columns }) => {
    const lines = failureLines(new Failure('limit', message), {
      run: {},
      money: false,
      canvas: plain(columns),
    });
    for (const whole of message.match(/\d[\d ]*(?:\.\d+)? (?:sat|BTC|%)|--[a-z-]+ \d+%/g) ?? []) {
      expect(
        lines.some((line) => line.includes(whole)),
        `${whole} in ${lines.join('|')}`,
      ).toBe(true);
    }
  });

  test('writes a failure as one line of JSON with every known field', () => {
    const failure = new Failure('refused', 'No\n\u202E', {
      status: 400,
      code: '2005',
      txnId,
      hint: 'svcpay',
    });
    expect(failureJson(failure, {})).toBe(
      '{"error":{"kind":"refused","message":"No\\n\\u202e","status":400,"code":"2005",' +
        `"txnId":"${txnId}","hint":"svcpay","exitCode":3}}`,
    );
    expect(failureJson(invoiceExpired, {})).not.toContain('status');
  });
});

describe('relativeTime', () => {
  test.each(
    [
      { ms: 0, text: 'just now' },
      { ms: -999, text: 'just now' },
      { ms: -1000, text: '1 second ago' },
      { ms: -240_000, text: '4 minutes ago' },
      { ms: 48 * 60_000, text: 'in 48 minutes' },
      { ms: -3 * 86_400_000, text: '3 days ago' },
      { ms: -7 * 86_400_000, text: '2026-02-22' },
    ].map((each) => [each.ms, each.text, each] as const),
  )('shows the offset %s ms from now as "%s"', (_ms, _text, { ms, text }) => {
    expect(relativeTime(now + ms, now)).toBe(text);
  });
});
