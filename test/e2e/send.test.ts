// Tests svcpay send with every kind of destination: the create request, the card with the cost, and
// the question.
import { describe, expect } from 'vitest';
import { encodeInvoice } from '../../src/formats/bolt11/encode.js';
import { quickTime, svcpay, svcpayTty } from '../support/in-process.js';
import { createRequests, walletSide } from '../support/orders.js';
import { test, svcpayTty as startedTty } from '../support/svcpay.js';
import { called } from '../support/shapes.js';
import { until } from '../support/until.js';

const bitcoin = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const tron = 'TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW';
const tokenContract = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const ethereum = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
/** The LNURL that LUD-01 shows as its example. */
const lnurl =
  'LNURL1DP68GURN8GHJ7UM9WFMXJCM99E3K7MF0V9CXJ0M385EKVCENXC6R2C35XVUKXEFCV5MKVV34X5EKZD3EV56NYD3HXQURZEPEXEJXXEPNXSCRVWFNV9NXZCN9XQ6XYEFHVGCXXCMYXYMNSERXFQ5FNS';

const extRefId: unknown = expect.stringMatching(/^[0-9a-f-]{36}$/);

const kinds = [
  {
    kind: 'a Lightning Address',
    args: ['lnurl', 'Alice@Example.com', '5000sat'],
    wire: {
      sourceReq: walletSide('BTC', 0.00005),
      destReq: { ccy: 'BTC', method: 'lnurl', reqDetails: { address: 'alice@example.com' } },
    },
  },
  {
    kind: 'an LNURL from the USDT wallet',
    args: ['lnurl', lnurl.toLowerCase(), '5usdt'],
    wire: {
      sourceReq: walletSide('USDT', 5),
      destReq: { ccy: 'BTC', method: 'lnurl', reqDetails: { address: lnurl } },
    },
  },
  {
    kind: 'a Bitcoin address',
    args: ['onchain', bitcoin.toUpperCase(), '100000sat'],
    wire: {
      sourceReq: walletSide('BTC'),
      destReq: {
        ccy: 'BTC',
        method: 'on-chain',
        reqDetails: { address: bitcoin },
        amtRequested: 0.001,
      },
    },
  },
  {
    kind: 'a Bitcoin address with --deduct-fees',
    args: ['onchain', bitcoin, '0.001btc', '--deduct-fees', '--note', 'rent'],
    wire: {
      sourceReq: walletSide('BTC'),
      destReq: {
        ccy: 'BTC',
        method: 'on-chain',
        reqDetails: { address: bitcoin },
        amtRequested: 0.001,
      },
      deductNetworkFeesFromDest: true,
      note: 'rent',
    },
  },
  {
    kind: 'a TRON address from the BTC wallet',
    args: ['usdt', tron, '25.5usdt', '--from', 'BTC'],
    wire: {
      sourceReq: walletSide('BTC'),
      destReq: { ccy: 'USDT', method: 'tron', reqDetails: { address: tron }, amtRequested: 25.5 },
    },
  },
  {
    kind: 'a TRON address with --spend',
    args: ['usdt', tron, '--spend', '250000vnd'],
    wire: {
      sourceReq: walletSide('VND', 250_000),
      destReq: { ccy: 'USDT', method: 'tron', reqDetails: { address: tron } },
    },
  },
  {
    kind: 'a TRON address with --deduct-fees',
    args: ['usdt', tron, '25usdt', '--deduct-fees'],
    wire: {
      sourceReq: walletSide('USDT'),
      destReq: { ccy: 'USDT', method: 'tron', reqDetails: { address: tron }, amtRequested: 25 },
      deductNetworkFeesFromDest: true,
    },
  },
  {
    kind: 'a Lightning Address with --deduct-fees',
    args: ['lnurl', 'alice@example.com', '5usdt', '--deduct-fees'],
    wire: {
      sourceReq: walletSide('USDT', 5),
      destReq: { ccy: 'BTC', method: 'lnurl', reqDetails: { address: 'alice@example.com' } },
      deductNetworkFeesFromDest: true,
    },
  },
];

describe('svcpay send all', () => {
  test.for([
    ['BTC', 'a Bitcoin address', bitcoin, []],
    ['BTC', 'a Lightning Address', 'alice@example.com', []],
    ['USDT', 'a TRON address', tron, []],
    ['VND', 'a TRON address', tron, ['--from', 'VND']],
  ] as const)(
    'empties the %s wallet with a payment to %s',
    async ([ccy, , to, from], { around }) => {
      const balance = async () =>
        JSON.parse((await svcpay(['wallets', ccy, '--json'], around)).stdout)[0].availableBalance;
      expect(await balance()).toBeGreaterThan(0);
      const run = await svcpay(['send', to, 'all', ...from, '--yes', '--no-wait', '-q'], around);
      expect(run).toMatchObject({ exitCode: 0 });
      expect(await balance()).toBe(0);
    },
  );

  test('respects the limits and --max-fee', async ({ around }) => {
    const all = ['send', bitcoin, 'all', '--yes'];
    expect(await svcpay([...all, '--max-fee', '1sat'], around)).toMatchObject({ exitCode: 7 });
    await svcpay(['limits', 'set', '--per-payment', '0.5btc', '-q'], around);
    expect(await svcpay(all, around)).toMatchObject({ exitCode: 7 });
    expect(around.sandbox.requests('PUT')).toHaveLength(0);
  });
});

describe('svcpay send', () => {
  test.for(kinds.map((each) => [each.kind, each] as const))(
    'sends exactly the specified body to pay %s',
    async ([, { args, wire }], { around }) => {
      const run = await svcpay(['send', ...args, '--yes', '--no-wait', '--json'], around);
      expect(run).toMatchObject({ exitCode: 0 });
      expect(run.json()).toMatchObject({
        txnState: called('srccreated'),
        destReq: { method: wire.destReq.method },
      });
      expect(createRequests(around.sandbox)).toEqual([{ ...wire, extRefId }]);
    },
  );

  test.for([
    ['a Lightning Address', ['bob@example.com', '5000sat'], 'lnurl'],
    ['a Bitcoin address', [bitcoin, '5000sat'], 'on-chain'],
    ['a TRON address', [tron, '5usdt'], 'tron'],
    ['a bitcoin: URI', [`bitcoin:${bitcoin}?amount=0.0001&label=Shop`], 'on-chain'],
  ] as const)('recognizes %s as the destination', async ([, args, method], { around }) => {
    const run = await svcpay(['send', ...args, '--yes', '--no-wait', '--json'], around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({ destReq: { method } });
  });

  test('reads an invoice with the prefix lightning: from stdin and pays it', async ({ around }) => {
    const input = `  lightning:${(await around.sandbox.invoice('1000sat')).toUpperCase()}\n`;
    const run = await svcpay(['send', '-', '1000sat', '--yes', '--json'], { ...around, input });
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({ txnState: 'completed', destReq: { method: 'lightning' } });
  });

  test('pays over Lightning by default if a URI offers two methods', async ({ around }) => {
    const uri = `bitcoin:${bitcoin}?amount=0.00001&lightning=${await around.sandbox.invoice('1000sat')}`;
    const chain = await svcpay(
      ['send', uri, '--via', 'onchain', '--yes', '--quote-only', '--json'],
      around,
    );
    expect(chain.json()).toMatchObject({ txnState: 'quoted', destReq: { method: 'on-chain' } });
    const run = await svcpay(['send', uri, '--yes', '--json'], around);
    expect(run.json()).toMatchObject({ txnState: 'completed', destReq: { method: 'lightning' } });
    const again = await svcpay(['send', '--via', 'onchain', uri, '--yes'], around);
    expect(again).toMatchObject({ exitCode: 0 });
    expect(again.stdout).toContain(String(Reflect.get(Object(run.json()), 'txnId')));
    expect(again.stderr).toContain('Already paid, nothing was sent now');
  });

  test('pays no invoice of a URI whose address it has paid', async ({ around }) => {
    const quick = { ...around, ...quickTime() };
    const invoice = await around.sandbox.invoice('1000sat');
    const uri = `bitcoin:${bitcoin}?amount=0.00001&lightning=${invoice}`;
    const paid = await svcpay(
      ['send', uri, '--via', 'onchain', '--yes', '--no-wait', '--json'],
      quick,
    );
    expect(paid.json()).toMatchObject({ destReq: { method: 'on-chain' } });
    for (const other of [uri, invoice, `lightning:${invoice.toUpperCase()}`])
      await svcpay(['send', other, '--yes', '--no-wait'], quick);
    const refused = await svcpay(['send', invoice, '--ref', 'r-2', '--yes', '--json'], quick);
    expect(refused.error()).toMatchObject({ exitCode: 2, kind: 'already-paid' });
    expect(around.sandbox.requests('PUT')).toHaveLength(1);
  });

  test('accepts the amount "5 000 sat" as three arguments', async ({ around }) => {
    const run = await svcpay(
      ['send', 'bob@example.com', '5', '000', 'sat', '--yes', '--json'],
      around,
    );
    expect(run.json()).toMatchObject({
      txnState: 'completed',
      sourceReq: { amtRequested: 0.00005 },
    });
  });

  test("abandons a quote that pays the account's own deposit address", async ({ around }) => {
    const { stdout } = await svcpay(
      ['receive', 'address', 'usdt', '--chain', 'tron', '-q'],
      around,
    );
    const run = await svcpay(['send', 'usdt', stdout.trim(), '5usdt', '--yes'], around);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(/^Not sent: this is your own deposit address/);
    expect(around.sandbox.requests('PUT')).toEqual([]);
    const resumed = await svcpay(['tx', 'resume', '--yes', '--json'], around);
    expect(resumed.json()).toEqual([]);
    expect(around.sandbox.requests('PUT')).toEqual([]);
  });

  test("ends without a question if the quote pays the account's own deposit address", async ({
    around,
  }) => {
    const { stdout } = await svcpay(['receive', 'address', 'btc', '-q'], around);
    const tty = svcpayTty(['send', 'onchain', stdout.trim(), '20000sat'], around);
    expect(await tty.ended).toBe(2);
    expect(tty.text()).toContain('this is your own deposit address');
    expect(tty.text()).not.toContain('(y/N)');
  });

  test('refuses to pay from the parent account if --account names a subaccount', async ({
    around,
  }) => {
    const run = await svcpay(['send', tron, '5usdt', '--yes', '--account', 'ne01-child'], around);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toContain('ne01-child only with an API key of that account');
    expect(createRequests(around.sandbox)).toEqual([]);
  });
});

const changed = (address: string): string =>
  `${address.slice(0, -1)}${address.endsWith('x') ? 'z' : 'x'}`;

const amountless = encodeInvoice(
  {
    network: 'testnet',
    amountMsat: null,
    timestamp: Math.floor(Date.now() / 1000),
    paymentHash: '11'.repeat(32),
    paymentSecret: '22'.repeat(32),
    description: 'tips',
    expiry: 600,
  },
  new Uint8Array(32).fill(7),
);

interface Bad {
  readonly why: string;
  readonly args: (invoice: string) => readonly string[];
  readonly message: RegExp;
  readonly network?: string;
}

const bad: readonly Bad[] = [
  {
    why: 'a Bitcoin address with a wrong checksum',
    args: () => ['onchain', changed(bitcoin), '1000sat'],
    message: /checksum is wrong/,
  },
  {
    why: 'a TRON address with a wrong checksum',
    args: () => [changed(tron), '5usdt'],
    message: /checksum is wrong/,
  },
  {
    why: 'an Ethereum address with a wrong checksum',
    args: () => [ethereum.replace('aA', 'aa'), '5usdt'],
    message: /checksum/,
  },
  {
    why: 'an LNURL with a wrong checksum',
    args: () => ['lnurl', changed(lnurl.toLowerCase()), '5sat'],
    message: /checksum is wrong/,
  },
  {
    why: 'an address of another network',
    args: () => [bitcoin, '1000sat'],
    network: 'mainnet',
    message: /testnet address.*mainnet/s,
  },
  {
    why: 'an amount that differs from the invoice',
    args: (it) => [it, '999sat'],
    message: /this invoice is for 0\.00001000 BTC, not for 999sat/,
  },
  {
    why: 'an amount that differs from the URI',
    args: () => [`bitcoin:${bitcoin}?amount=0.1`, '0.2btc'],
    message: /for 0\.10000000 BTC, not for 0\.2btc/,
  },
  {
    why: 'an invoice without an amount',
    args: () => [amountless, '1000sat'],
    message: /no amount.*Ask for an invoice with an amount/s,
  },
  {
    why: 'an amount in USDT for a Bitcoin address',
    args: () => [bitcoin, '5usdt'],
    message: /amount in USDT, but the amount must be in BTC.*50000sat/,
  },
  {
    why: 'an amount in bitcoin for a TRON address',
    args: () => ['usdt', tron, '5000sat'],
    message: /amount in BTC, but the amount must be in USDT.*25usdt/,
  },
  {
    why: 'an on-chain amount below 1 000 sat',
    args: () => ['onchain', bitcoin, '999sat'],
    message: /999 sat is too little.*at least 1000sat/s,
  },
  {
    why: 'the contract address of USDT',
    args: () => ['usdt', tokenContract, '5usdt'],
    message: /USDT contract/,
  },
  {
    why: 'a USDT payment on Ethereum',
    args: () => ['usdt', ethereum, '5usdt'],
    message: /announced.*does not offer it yet.*TRON/s,
  },
  {
    why: 'a TRON address for an on-chain payment',
    args: () => ['onchain', tron, '1000sat'],
    message: /a TRON address, but send onchain requires a Bitcoin address/,
  },
  {
    why: '--deduct-fees for an invoice',
    args: (it) => [it, '--deduct-fees'],
    message: /an invoice fixes the amount received/,
  },
  {
    why: 'an amount in VND for a USDT payment',
    args: () => ['usdt', tron, '250000vnd'],
    message: /amount in VND.*To debit exactly 250000vnd/s,
  },
  {
    why: 'an amount together with --spend',
    args: () => ['usdt', tron, '25usdt', '--spend', '250000vnd'],
    message: /either the amount received or the amount debited/,
  },
  {
    why: '--spend for an on-chain payment',
    args: () => [bitcoin, '--spend', '5usdt'],
    message: /requires the amount received/,
  },
  {
    why: 'a --max-fee in the currency of another wallet',
    args: (it) => [it, '--max-fee', '1usdt'],
    message: /--max-fee 1usdt is in USDT.*Write --max-fee in BTC, e\.g\. 100sat/s,
  },
  {
    why: 'an amount before the destination',
    args: () => ['50000sat', 'bob@example.com'],
    message: /"50000sat" is an amount\. Write the destination first/,
  },
  {
    why: 'a word that is not a destination',
    args: () => ['somewhere', '5sat'],
    message: /"somewhere" is not an invoice, address/,
  },
];

describe('svcpay send with invalid input', () => {
  test.for(bad.map((each) => [each.why, each] as const))(
    'refuses %s before it requests a quote',
    async ([, { args, message, network }], { around }) => {
      const invoice = await around.sandbox.invoice('1000sat');
      const env = network === undefined ? {} : { SVCPAY_NETWORK: network };
      const run = await svcpay(['send', ...args(invoice), '--yes'], { ...around, env });
      expect(run).toMatchObject({ exitCode: 2, stdout: '' });
      expect(run.stderr).toMatch(/^Not sent[.:] /);
      expect(run.stderr).toMatch(message);
      expect(createRequests(around.sandbox)).toEqual([]);
    },
  );
});

describe('svcpay send at a terminal', () => {
  test.for([
    [
      'a Lightning Address',
      ['alice@example.com', '5000sat'],
      ['To        alice@example.com', /You pay\s+0\.00005013 BTC/],
    ],
    [
      'an LNURL',
      [lnurl, '5usdt', '--from', 'USDT'],
      ['service.com   host of the LNURL', 'Rate', /1 BTC ≈/, /You pay\s+5\.0125 USDT/],
    ],
    [
      'a TRON address',
      ['usdt', tron, '25usdt'],
      [tron, /Network fee\s+1\.00 USDT/, /You pay\s+26\.05 USDT/],
    ],
  ] as const)(
    'shows the cost of paying %s and pays after the person confirms',
    async ([, args, shown], { around }) => {
      // On a busy machine, the quick clock may pass the default time limit.
      const line = ['send', ...args, '--timeout', '10m'];
      const tty = svcpayTty(line, { ...around, ...quickTime() });
      for (const each of shown) await tty.waitFor(each);
      await tty.waitFor(/Pay .*\? /);
      tty.type('y\r');
      await tty.waitFor('confirmed');
      await around.sandbox.clock.advance('1m');
      expect(await tty.ended).toBe(0);
      expect(tty.text()).toContain('✓ Paid');
    },
  );

  test('follows an on-chain payment until the payment is confirmed', async ({ around }) => {
    const quick = { ...around, ...quickTime() };
    const tty = svcpayTty(['send', 'onchain', bitcoin, '100000sat'], quick);
    await tty.waitFor(/You pay\s+0\.00100500 BTC\s+100 500 sat/);
    await tty.waitFor(/Pay .*\? /);
    tty.type('y\r');
    await tty.waitFor('confirmed');
    let isOver = false;
    void tty.ended.then(() => (isOver = true));
    // The first block may be mined before the service has broadcast the payment.
    await until(async () => {
      await around.sandbox.mine(1);
      return isOver;
    });
    expect(await tty.ended).toBe(0);
    expect(tty.text()).toContain('✓ Paid 0.00100500 BTC');
  });

  test('replaces a quote that expires before the person answers, and prints a notice', async ({
    around,
  }) => {
    const tty = svcpayTty(['send', 'alice@example.com', '5000sat'], {
      ...around,
      ...quickTime(),
      columns: 80,
      rows: 24,
    });
    await tty.waitFor(/Pay .*\? /);
    for (const [columns, rows] of [
      [60, 20],
      [140, 45],
    ] as const) {
      await tty.waitFor(/quote valid 5\d s/);
      tty.resize(columns, rows);
    }
    await tty.waitFor(/quote valid 5\d s/);
    await around.sandbox.clock.advance('61s');
    tty.type('y\r');
    await tty.waitFor('The quote expired; the new quote has the same price.');
    expect(await tty.ended).toBe(0);
    expect(createRequests(around.sandbox)).toHaveLength(2);
  });

  test('keeps running as a background job of the terminal', async ({ around }) => {
    const invoice = await around.sandbox.invoice('1000sat');
    const paid = startedTty(['send', invoice, '--yes'], { ...around, job: '"$@" & wait $!' });
    await paid.waitFor('Paid');
    expect(await paid.ended).toBe(0);
    const asked = startedTty(['receive', 'lightning', '1000sat', '--wait-timeout', '1s'], {
      ...around,
      job: '"$@" & wait $!',
    });
    await asked.waitFor('Stopped waiting');
    expect(await asked.ended).toBe(8);
  });

  test.for(['--quote-only', '--yes'])(
    'shows the whole card of a reused quote and asks no question with %s',
    async (flag, { around }) => {
      const line = ['send', 'alice@example.com', '5000sat', '--ref', 'again'];
      expect(await svcpay([...line, '--quote-only'], around)).toMatchObject({ exitCode: 0 });
      const tty = svcpayTty([...line, flag], around);
      expect(await tty.ended).toBe(0);
      expect(tty.text()).toMatch(
        /Recipient gets +0\.00005000 BTC[^]*≈ 5 USD[^]*Left in wallet +0\.9999\d+ BTC/,
      );
      expect(createRequests(around.sandbox)).toHaveLength(1);
    },
  );

  test.for([
    [80, 24],
    [60, 20],
    [140, 45],
  ] as const)(
    'shows the whole card of a reused quote in a window of %dx%d',
    async ([columns, rows], { around }) => {
      const line = ['send', 'alice@example.com', '5000sat', '--ref', 'again'];
      expect(await svcpay([...line, '--quote-only', '--yes'], around)).toMatchObject({
        exitCode: 0,
      });
      const tty = svcpayTty(line, { ...around, columns, rows });
      await tty.waitFor(
        /Recipient gets +0\.00005000 BTC[^]*≈ 5 USD[^]*Left in wallet +0\.9999\d+ BTC[^]*Pay .*\? /,
      );
      tty.type('n\r');
      expect(await tty.ended).toBe(9);
      expect(createRequests(around.sandbox)).toHaveLength(1);
    },
  );

  test('pays a contact and converts a dollar amount to bitcoin once per reference', async ({
    around,
  }) => {
    expect(await svcpay(['contacts', 'add', 'ada', 'ada@example.com', '-q'], around)).toMatchObject(
      { exitCode: 0, stdout: 'ada\n' },
    );
    const line = ['send', 'ada', '10usd', '--from', 'btc', '--ref', 'ten'];
    const tty = svcpayTty(line, { ...around, columns: 60, rows: 20 });
    await tty.waitFor(
      /Contact +ada\s+To +ada@example\.com\s+Worth +10\.00 USD +at 1 BTC = 100 000\.00 USD[^]*You pay +0\.00010025 BTC[^]*\? /,
    );
    tty.type('n\r');
    expect(await tty.ended).toBe(9);
    expect(createRequests(around.sandbox)).toMatchObject([
      { sourceReq: { ccy: 'BTC', amtRequested: 0.0001 } },
    ]);
    expect(await svcpay([...line, '--yes', '--no-wait'], around)).toMatchObject({ exitCode: 0 });
    expect(createRequests(around.sandbox)).toHaveLength(1);
    const onchain = await svcpay(
      ['send', bitcoin, '10usd', '--from', 'btc', '--quote-only', '--json'],
      around,
    );
    expect(onchain.json()).toMatchObject({ destReq: { ccy: 'BTC', amtRequested: 0.0001 } });
    await svcpay(['contacts', 'remove', 'ada', '--yes'], around);
    expect(await svcpay(['send', 'ada', '10usd', '--yes'], around)).toMatchObject({ exitCode: 2 });
    expect(await svcpay(['contacts', 'add', bitcoin, 'ada@example.com'], around)).toMatchObject({
      exitCode: 2,
    });
  });

  test('accepts a percentage for --max-rate-loss', async ({ around }) => {
    const args = ['swap', '25', 'USDT', 'BTC', '--max-rate-loss'];
    expect(await svcpay([...args, '2%', '--yes', '--quote-only'], around)).toMatchObject({
      exitCode: 0,
    });
    expect(await svcpay([...args, 'much', '--yes'], around)).toMatchObject({
      exitCode: 2,
      stdout: '',
    });
  });

  test('asks which method to use if a URI offers two methods', async ({ around }) => {
    const invoice = await around.sandbox.invoice('1000sat');
    const tty = svcpayTty(
      ['send', `bitcoin:${bitcoin}?amount=0.00001&lightning=${invoice}&label=Shop%1b[31m`],
      around,
    );
    await tty.waitFor('over Lightning or on-chain');
    tty.type('\u001B[B\r');
    await tty.waitFor('text from the URI');
    await tty.waitFor(bitcoin);
    await tty.waitFor(/Pay .*\? /);
    tty.type('n\r');
    expect(await tty.ended).toBe(9);
    expect(tty.raw()).not.toContain('\u001B[31mShop');
    expect(around.sandbox.requests('PUT')).toHaveLength(0);
  });

  test('shows the cost of a payment that is under way with --quote-only, and how to continue it', async ({
    around,
  }) => {
    const to = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
    const line = ['send', 'onchain', to, '0.0001btc', '--ref', 'order-118'];
    expect(await svcpay([...line, '--yes', '--no-wait'], around)).toMatchObject({ exitCode: 0 });
    const requests = around.sandbox.requests('PUT').length;
    const run = await svcpay([...line, '--quote-only'], around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.stderr).toMatch(/Approved earlier: 0\.0001\d+ BTC/);
    expect(run.stderr).toMatch(/To continue it: svcpay tx resume \S+/);
    expect(around.sandbox.requests('PUT')).toHaveLength(requests);
  });
});
