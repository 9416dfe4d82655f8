// If an answer differs from its request, svcpay confirms nothing, reports no payment as paid and
// trusts no amount in the answer.
import { describe, expect } from 'vitest';
import { encodeTronAddress } from '../../src/formats/address.js';
import type { Json } from '../conformance/strict-judge.js';
import { quickTime } from '../support/in-process.js';
import { lnurl, test } from '../support/strict.js';

const side = (view: Json, name: string): Json => ({ ...Object(view[name]) });
const changed =
  (name: 'sourceReq' | 'destReq', change: (side: Json) => Json) =>
  (view: Json): Json => ({ ...view, [name]: { ...side(view, name), ...change(side(view, name)) } });
const details = (reqDetails: Json) =>
  changed('destReq', (dest) => ({ reqDetails: { ...Object(dest['reqDetails']), ...reqDetails } }));
const completed =
  (make: (view: Json) => Json) =>
  (view: Json): Json => ({ ...make(view), txnState: 'completed' });

const address = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const elsewhere = 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3';
const tron = encodeTronAddress(new Uint8Array(20).fill(5));
const onchain = `send onchain ${address} 0.0001btc --yes --json`;
const payout = [
  'payout --country VN --method vnd-instant --institution VCB --acct-num 0123456789 --acct-name NGUYEN',
  '--amount 500000vnd --purpose 1 --source 2 --relationship 3 --sender-type individual --sender-name Ann',
  '--sender-country US --recipient-type business --recipient-name Binh --recipient-country VN --yes --json',
].join(' ');

const lies: readonly { what: string; command: string; makes: (view: Json) => Json }[] = [
  { what: 'to another address', command: onchain, makes: details({ address: elsewhere }) },
  {
    what: 'to another address, completed at once',
    command: onchain,
    makes: completed(details({ address: elsewhere })),
  },
  {
    what: 'for another amount, completed at once',
    command: onchain,
    makes: completed(changed('destReq', () => ({ amtRequested: 0.5 }))),
  },
  {
    what: 'with the fees taken from the recipient',
    command: onchain,
    makes: (view) => ({ ...view, deductNetworkFeesFromDest: true }),
  },
  {
    what: 'to another resolved address',
    command: lnurl('shop'),
    makes: details({ lnurlAddress: 'mallory@example.com' }),
  },
  { what: 'to another account number', command: payout, makes: details({ acctNum: '999999' }) },
  {
    what: 'to another name',
    command: payout,
    makes: changed('destReq', () => ({
      kyc: { type: 'business', details: { legalFullName: 'Mallory', countryCode: 'VN' } },
    })),
  },
  {
    what: 'with a second account number',
    command: payout,
    makes: details({ accountNumber: '999999' }),
  },
  {
    what: 'with an unrequested invoice',
    command: onchain,
    makes: details({ paymentRequest: 'lnbc1' }),
  },
  {
    what: 'with an invoice next to the Lightning Address',
    command: lnurl('shop'),
    makes: details({ paymentRequest: 'lnbc1' }),
  },
  {
    what: 'with an unrequested bank account',
    command: onchain,
    makes: details({ bankAcctNum: '999999' }),
  },
  {
    what: 'with a Lightning Address next to the address',
    command: onchain,
    makes: details({ lnurlAddress: 'mallory@example.com' }),
  },
  {
    what: 'with an invoice on the debited side',
    command: onchain,
    makes: changed('sourceReq', () => ({ reqDetails: { paymentRequest: 'lnbc1' } })),
  },
  {
    what: 'with an IBAN next to the account number',
    command: payout,
    makes: details({ iban: 'DE89370400440532013000' }),
  },
  {
    what: 'with an address next to the account number',
    command: payout,
    makes: details({ address: elsewhere }),
  },
  {
    what: 'to an individual instead of a business',
    command: payout,
    makes: changed('destReq', (dest) => ({ kyc: { ...Object(dest['kyc']), type: 'individual' } })),
  },
  {
    what: 'to a person whose name is a list',
    command: payout,
    makes: changed('destReq', ({ kyc }) => {
      const { type, details } = Object(kyc);
      return { kyc: { type, details: { ...details, legalFullName: ['Mallory'] } } };
    }),
  },
  {
    what: 'from another account',
    command: onchain,
    makes: (view) => ({ ...view, accountId: 'ne01-other' }),
  },
  {
    what: 'from an account that is a list',
    command: onchain,
    makes: (view) => ({ ...view, accountId: ['ne01-other'] }),
  },
  {
    what: 'with a negative fee',
    command: lnurl('shop'),
    makes: changed('sourceReq', () => ({ servicepayFees: -0.5 })),
  },
  {
    what: 'with a negative network fee, completed at once',
    command: lnurl('shop'),
    makes: completed(changed('sourceReq', () => ({ networkFees: -0.5 }))),
  },
  {
    what: 'with a fee above the amount',
    command: onchain,
    makes: changed('sourceReq', () => ({ servicepayFees: 0.0002 })),
  },
  {
    what: 'with a negative amount',
    command: `send usdt ${tron} 25usdt --from BTC --yes --json`,
    makes: changed('sourceReq', () => ({ amtRequested: -0.00025 })),
  },
  {
    what: 'with a rate that its amounts contradict',
    command: `send usdt ${tron} 25usdt --from BTC --yes --json`,
    makes: (view) => ({
      ...changed('sourceReq', () => ({ amtRequested: 0.00025 }))(view),
      fxRate: 50_000,
    }),
  },
];

describe('svcpay on a quote that differs from the order', { concurrent: true }, () => {
  test.for(lies.map((each) => [each.what, each] as const))(
    'confirms nothing if the service returns a quote %s',
    async ([, { command, makes }], { strict }) => {
      const { service, run } = strict;
      service.temper.makes = makes;
      const end = await run(command);
      expect(end).toMatchObject({ stdout: '' });
      expect([3, 6, 7, 8]).toContain(end.exitCode);
      expect(end.stderr).not.toContain('Paid');
      expect(service.requests.filter(({ path }) => path.endsWith('/confirm'))).toEqual([]);
    },
  );

  test.for(
    [
      {
        where: 'the destination address',
        makes: details({ address: { toString: 1 } }),
        exitCode: 3,
        moved: 0,
      },
      {
        where: 'an unspecified field',
        makes: (view: Json) => ({ ...view, resultStatus: { toString: 1 } }),
        exitCode: 0,
        moved: 1,
      },
    ].map((each) => [each.exitCode, each.where, each] as const),
  )(
    'exits %s without an uncaught error if %s is an object',
    async ([, , { makes, exitCode, moved }], { strict }) => {
      strict.service.temper.makes = makes;
      expect((await strict.run(onchain)).exitCode).toBe(exitCode);
      expect(strict.service.moved()).toHaveLength(moved);
    },
  );

  test.for(['..', '.', '\ud800'])(
    'moves no money and records no payment if the service returns the id %j',
    async (txnId, { strict }) => {
      const { service, run } = strict;
      service.temper.makes = (view) => ({ ...view, txnId });
      expect((await run(`${onchain} --ref one`)).exitCode).toBe(3);
      expect(await run('tx pending --json')).toMatchObject({ exitCode: 0, stdout: '[]\n' });
      expect(service.moved()).toHaveLength(0);
    },
  );

  test('accepts a small fee on a tiny amount', async ({ strict }) => {
    const { service, run } = strict;
    service.temper.makes = changed('sourceReq', () => ({ servicepayFees: 0.000005 }));
    expect(await run('send lnurl shop@example.com 100sat --yes --json')).toMatchObject({
      exitCode: 0,
    });
  });

  test('shows that a quote reports no fees, and refuses the quote with --max-fee', async ({
    strict,
  }) => {
    const { service, run } = strict;
    service.temper.makes = changed('sourceReq', () => ({
      servicepayFees: undefined,
      networkFees: null,
    }));
    expect(await run(`${lnurl('shop')} --max-fee 1%`)).toMatchObject({ exitCode: 7, stdout: '' });
    const end = await run(lnurl('shop').replace(' --json', ''));
    expect(end.stderr).toContain('does not report its fees');
    expect(end.exitCode).toBe(0);
  });
});

describe('svcpay on a bad rate', { concurrent: true }, () => {
  const worse = { BTCUSDT: 250_000, BTCUSD: 250_000 };

  test("refuses a rate far below the service's own rates even with --yes", async ({ strict }) => {
    const { service, run } = strict;
    service.temper.rates = worse;
    const end = await run(`send usdt ${tron} 25usdt --from BTC --yes --max-fee 1% --json`);
    expect(end).toMatchObject({ exitCode: 7, stdout: '' });
    expect(service.moved()).toHaveLength(0);
    expect((await run('swap 25usdt BTC --yes --json')).exitCode).toBe(0);
    expect((await run('swap 0.0002btc USDT --yes --json')).exitCode).toBe(7);
    expect((await run('swap 0.0002btc USDT --yes --max-rate-loss 90% --json')).exitCode).toBe(0);
  });

  test('pays with a notice if the service has no rates to compare with', async ({ strict }) => {
    const { run } = strict;
    const end = await run(`send usdt ${tron} 25usdt --from BTC --yes`);
    expect(end.exitCode).toBe(0);
    expect(end.stderr).toMatch(/rate/i);
  });

  const unreadable = [
    { what: 'are missing', status: 404, body: '{"error":"not found"}', exitCode: 7 },
    { what: 'are rate-limited', status: 429, body: '{"error":"too many requests"}', exitCode: 75 },
    { what: 'return 500', status: 500, body: '{"error":"internal"}', exitCode: 75 },
    { what: 'are HTML', status: 200, body: '<html>', exitCode: 75 },
    { what: 'are an empty list', status: 200, body: '{"data":[]}', exitCode: 7 },
    { what: 'lack the pair', status: 200, body: '{"data":{"BTCUSD":100000}}', exitCode: 7 },
  ];
  test.for(unreadable.map((each) => [each.what, each] as const))(
    'refuses a swap with --max-rate-loss if the rates of the service %s, and swaps without the flag',
    async ([, { status, body, exitCode }], { strict }) => {
      const { service, run } = strict;
      const met = { exchange: 'rates', status, body, effect: 'none', times: 99 } as const;
      service.temper.meetings.push(met);
      const swap = 'swap 0.0002btc USDT --yes --timeout 3s';
      const refused = await run(`${swap} --max-rate-loss 1% --json`, 'home', quickTime());
      expect(refused).toMatchObject({ exitCode, stdout: '' });
      expect(refused.error().message).toMatch(
        /^Nothing moved: svcpay could not check the conversion/,
      );
      expect(service.moved()).toHaveLength(0);
      const paid = await run(swap, 'home', quickTime());
      expect(paid.exitCode).toBe(0);
      expect(paid.stderr.includes('shows no usable rate')).toBe(body.includes('BTCUSD'));
      expect(paid.stderr).toContain("did not check the conversion's loss");
    },
  );

  test('refuses a swap with --max-rate-loss if the quote lacks the received amount', async ({
    strict,
  }) => {
    const { service, run } = strict;
    service.temper.rates = { BTCUSDT: 100_000 };
    service.temper.makes = ({ fxRate: _rate, ...view }) => view;
    expect(await run('swap 0.0002btc USDT --yes --max-rate-loss 1% --json')).toMatchObject({
      exitCode: 7,
      stdout: '',
    });
    expect(service.moved()).toHaveLength(0);
  });
});
