// Answers that differ from the request: nothing is confirmed or reported as paid, and no figure is
// trusted.
import { describe, expect } from 'vitest';
import { encodeTronAddress } from '../../src/formats/address/tron-address.js';
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
    what: 'to another account number beside the one',
    command: payout,
    makes: details({ accountNumber: '999999' }),
  },
  {
    what: 'to an invoice that was not asked for',
    command: onchain,
    makes: details({ paymentRequest: 'lnbc1' }),
  },
  {
    what: 'to an invoice that the address may stand for',
    command: lnurl('shop'),
    makes: details({ paymentRequest: 'lnbc1' }),
  },
  {
    what: 'to a bank account that was not asked for',
    command: onchain,
    makes: details({ bankAcctNum: '999999' }),
  },
  {
    what: 'to a Lightning Address beside the address',
    command: onchain,
    makes: details({ lnurlAddress: 'mallory@example.com' }),
  },
  {
    what: 'to an invoice on the side of the wallet',
    command: onchain,
    makes: changed('sourceReq', () => ({ reqDetails: { paymentRequest: 'lnbc1' } })),
  },
  {
    what: 'to an IBAN beside the account',
    command: payout,
    makes: details({ iban: 'DE89370400440532013000' }),
  },
  {
    what: 'to an address beside the account',
    command: payout,
    makes: details({ address: elsewhere }),
  },
  {
    what: 'to a business as an individual',
    command: payout,
    makes: changed('destReq', (dest) => ({ kyc: { ...Object(dest['kyc']), type: 'individual' } })),
  },
  {
    what: 'out of another account',
    command: onchain,
    makes: (view) => ({ ...view, accountId: 'ne01-other' }),
  },
  {
    what: 'out of an account that is a list',
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

describe('a service that changes an order', { concurrent: true }, () => {
  test.for(lies)(
    '($what) is refused: nothing is confirmed or reported as paid',
    async ({ command, makes }, { strict }) => {
      const { service, run } = strict;
      service.temper.makes = makes;
      const end = await run(command);
      expect(end).toMatchObject({ stdout: '' });
      expect([3, 6, 7, 8]).toContain(end.exitCode);
      expect(end.stderr).not.toContain('Paid');
      expect(service.requests.filter(({ path }) => path.endsWith('/confirm'))).toEqual([]);
    },
  );

  test.for([
    {
      where: 'the destination',
      makes: details({ address: { toString: 1 } }),
      exitCode: 3,
      moved: 0,
    },
    {
      where: 'a field beside the specification',
      makes: (view: Json) => ({ ...view, resultStatus: { toString: 1 } }),
      exitCode: 0,
      moved: 1,
    },
  ])(
    'with an object without text in $where: no uncaught error',
    async ({ makes, exitCode, moved }, { strict }) => {
      strict.service.temper.makes = makes;
      expect((await strict.run(onchain)).exitCode).toBe(exitCode);
      expect(strict.service.moved()).toHaveLength(moved);
    },
  );

  test.for(['..', '.', '\ud800'])(
    'with the id %j moves nothing and leaves no payment behind',
    async (txnId, { strict }) => {
      const { service, run } = strict;
      service.temper.makes = (view) => ({ ...view, txnId });
      expect((await run(`${onchain} --ref one`)).exitCode).toBe(3);
      expect(await run('tx pending --json')).toMatchObject({ exitCode: 0, stdout: '[]\n' });
      expect(service.moved()).toHaveLength(0);
    },
  );

  test('with a small fee on a tiny amount is accepted', async ({ strict }) => {
    const { service, run } = strict;
    service.temper.makes = changed('sourceReq', () => ({ servicepayFees: 0.000005 }));
    expect(await run('send lnurl shop@example.com 100sat --yes --json')).toMatchObject({
      exitCode: 0,
    });
  });

  test('without its fees is shown as such, and refused with --max-fee', async ({ strict }) => {
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

describe('a bad rate', { concurrent: true }, () => {
  const worse = { BTCUSDT: 250_000, BTCUSD: 250_000 };

  test("is refused with --yes, compared with the service's own rates", async ({ strict }) => {
    const { service, run } = strict;
    service.temper.rates = worse;
    const end = await run(`send usdt ${tron} 25usdt --from BTC --yes --max-fee 1% --json`);
    expect(end).toMatchObject({ exitCode: 7, stdout: '' });
    expect(service.moved()).toHaveLength(0);
    expect((await run('swap 25usdt BTC --yes --json')).exitCode).toBe(0);
    expect((await run('swap 0.0002btc USDT --yes --json')).exitCode).toBe(7);
    expect((await run('swap 0.0002btc USDT --yes --max-rate-loss 90% --json')).exitCode).toBe(0);
  });

  test('cannot be detected if the service has no rates: the payment is made, with a notice', async ({
    strict,
  }) => {
    const { run } = strict;
    const end = await run(`send usdt ${tron} 25usdt --from BTC --yes`);
    expect(end.exitCode).toBe(0);
    expect(end.stderr).toMatch(/rate/i);
  });

  const unreadable = [
    { what: 'are missing', status: 404, body: '{"error":"not found"}', exitCode: 7 },
    { what: 'are limited', status: 429, body: '{"error":"too many requests"}', exitCode: 75 },
    { what: 'fail', status: 500, body: '{"error":"internal"}', exitCode: 75 },
    { what: 'are HTML', status: 200, body: '<html>', exitCode: 75 },
    { what: 'are an empty list', status: 200, body: '{"data":[]}', exitCode: 7 },
    { what: 'lack the pair', status: 200, body: '{"data":{"BTCUSD":100000}}', exitCode: 7 },
  ];
  test.for(unreadable)(
    'is refused with --max-rate-loss if the rates $what, and paid without it',
    async ({ status, body, exitCode }, { strict }) => {
      const { service, run } = strict;
      const met = { exchange: 'rates', status, body, effect: 'none', times: 99 } as const;
      service.temper.meetings.push(met);
      const swap = 'swap 0.0002btc USDT --yes --timeout 3s';
      const refused = await run(`${swap} --max-rate-loss 1% --json`, 'home', quickTime());
      expect(refused).toMatchObject({ exitCode, stdout: '' });
      expect(refused.error().message).toMatch(
        /^Nothing moved: the conversion could not be checked/,
      );
      expect(service.moved()).toHaveLength(0);
      const paid = await run(swap, 'home', quickTime());
      expect(paid.exitCode).toBe(0);
      expect(paid.stderr.includes('shows no usable rate')).toBe(body.includes('BTCUSD'));
      expect(paid.stderr).toContain("the conversion's loss was not checked");
    },
  );

  test('is refused with --max-rate-loss if the quote does not have the received amount', async ({
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
