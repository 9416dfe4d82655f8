// Tests the built program against a second, strict implementation of the specification, in two
// dialects. Each deviation of a request from the specification fails the test.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { encodeTronAddress } from '../../src/formats/address.js';
import { quickTime, svcpay } from '../support/in-process.js';
import { test as base, type Run } from '../support/svcpay.js';
import { startStrictService, type Dialect, type StrictService } from './strict-service.js';

type Runner = (
  args: string,
  around?: { readonly input?: string; readonly home?: string },
) => Promise<Run>;

interface Fixtures {
  readonly dialect: Partial<Dialect>;
  readonly service: StrictService;
  readonly run: Runner;
}

const test = base.extend<Fixtures>({
  dialect: {},
  service: async ({ dialect }, use) => {
    const service = await startStrictService(dialect);
    await use(service);
    await service.stop();
    expect(service.findings).toEqual([]);
  },
  run: async ({ home, service }, use) => {
    await use((args, around = {}) =>
      svcpay(args.split(' '), { home, sandbox: service, ...quickTime(), ...around }),
    );
  },
});

const tron = encodeTronAddress(new Uint8Array(20).fill(5));
const taproot = 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0';
const person = (name: string, country: string): object => ({
  type: 'individual',
  details: { legalFullName: name, countryCode: country },
});
const payoutFlags = [
  'payout --country VN --method vnd-instant --institution VCB --acct-num 0123456789 --acct-name NGUYEN',
  '--amount 500000vnd --purpose 1 --source 2 --relationship 3 --sender-type individual --sender-name Ann',
  '--sender-country US --sender-phone +15550100 --recipient-type business --recipient-name Binh',
  '--recipient-country VN --yes --json',
].join(' ');

const done = (run: Run): unknown => {
  expect(run).toMatchObject({ exitCode: 0 });
  return run.json();
};
const completed = (run: Run, more: object = {}): void =>
  expect(done(run)).toMatchObject({ txnState: 'completed', ...more });
const failed = (run: Run, exitCode: number): Run['error'] => {
  expect(run).toMatchObject({ exitCode, stdout: '' });
  return run.error;
};

/** A dialect that differs from the default dialect in every field except `payer`. */
const contrary: Partial<Dialect> = {
  tokenField: 'expiresAt',
  tokenWrapped: true,
  computedAmounts: true,
  inverseRates: true,
  invoices: 'mainnet',
  pageSize: 2,
  oldestFirst: true,
  listedAmounts: false,
  emptyWebhookAnswers: false,
  cancel: true,
  rates: true,
  noInstitutions: '{}',
  tokenUses: 5,
};
const dialects = [
  ['default', {}],
  ['opposite', contrary],
] as const;

describe.concurrent.each(dialects)(
  'svcpay against a strict service (%s dialect)',
  (_name, dialect) => {
    test.override({ dialect });

    test('signs in and reads the account and its wallets', async ({ run, service, home }) => {
      const login = `login --api-key ${service.apiKey} --api-secret-stdin --base-url ${service.url} --json`;
      expect(done(await run(login, { input: service.apiSecret }))).toMatchObject({
        accountId: service.accountId,
      });
      const stored = await svcpay(['whoami', '--json'], { home });
      expect(done(stored)).toMatchObject({ accountId: service.accountId, baseUrl: service.url });
      expect(done(await run('wallets --json'))).toMatchObject([
        { ccy: 'BTC', amount: 0.5 },
        { ccy: 'USDT' },
        { ccy: 'USD' },
      ]);
      expect(done(await run('wallets BTC --account ne01-child --json'))).toMatchObject([
        { accountId: 'ne01-child' },
      ]);
      expect(done(await run('account --json'))).toEqual({
        record: { name: 'Strict', tags: [1, 2] },
      });
      failed(await run('account ne01-stranger --json'), 4);
      failed(await run('account nobody --json'), 3);
    });

    test('creates payment requests that follow the specification for every receive method', async ({
      run,
      service,
    }) => {
      const invoice = await run('receive lightning 1000sat --note tea --json');
      expect(done(invoice)).toMatchObject({
        txnState: 'srccreated',
        sourceReq: { reqDetails: { paymentRequest: expect.stringMatching(/^ln(bc|tb)10u1/) } },
      });
      const onchain = await run('receive onchain 0.001btc --json');
      expect(done(onchain)).toMatchObject({
        txnState: 'srcintent',
        sourceReq: { reqDetails: { amount: 0.001 } },
      });
      failed(await run('receive lightning 3000sat --wait --wait-timeout 500ms --json'), 8);
      expect(done(await run('receive address btc --json'))).toHaveProperty('staticOnchainAddress');
      expect(done(await run('receive address usdt --chain tron --json'))).toMatchObject({
        chainId: 'TRON',
      });
      expect(done(await run('receive address usdt --chain eth --json'))).toMatchObject({
        chainId: 'ETH',
      });
      expect(service.transactions.size).toBe(3);
    });

    test('sends money by every method of the specification', async ({ run, service }) => {
      const invoice = service.invoice(1000n);
      completed(await run(`send lightning ${invoice} --max-fee 1% --yes --json`));
      failed(await run(`send lightning ${invoice} --ref again --yes --json`), 2);
      completed(await run('send lnurl ann@example.com 1000sat --note tea --yes --json'), {
        note: 'tea',
      });
      completed(await run(`send onchain ${taproot} 0.00001btc --deduct-fees --yes --json`));
      failed(await run(`send onchain ${taproot} 999sat --yes --json`), 2);
      completed(await run(`send usdt ${tron} 25usdt --from BTC --max-fee 1% --yes --json`));
      failed(await run(`send usdt ${tron} 25usdt --from BTC --max-fee 0.1% --yes --json`), 7);
      failed(await run(`send usdt ${tron} 49990usdt --from BTC --yes --json`), 7);
      completed(await run(`send ${tron} 3usdt --yes --json`));
    });

    test('completes swaps and payouts that follow the specification', async ({ run, home }) => {
      completed(await run('swap 25usdt BTC --yes --json'), { sourceReq: { amtSettled: 25 } });
      completed(await run('swap 1000sat USDT BTC --receive --yes --json'), {
        destReq: { amtSettled: 0.00001 },
      });
      completed(await run(payoutFlags), { destReq: { ccy: 'VND', amtSettled: 500000 } });
      const file = join(home, 'payout.json');
      writeFileSync(
        file,
        JSON.stringify({
          sourceReq: { ccy: 'BTC', method: 'servicepay', kyc: person('Ann', 'US') },
          destReq: {
            ccy: 'KES',
            method: 'ke-kes-mobile',
            amtRequested: 1000,
            kyc: person('Wanjiru', 'KE'),
            reqDetails: { bankAcctNum: '254700000000', institutionCode: 'MPESA' },
          },
          sourceOfFunds: { purpose: 1, source: 1, relationship: 1 },
          extRefId: 'salary-1',
        }),
      );
      const first = await run(`payout --from-file ${file} --yes --json`);
      completed(first, { extRefId: 'salary-1' });
      expect(done(await run(`payout --from-file ${file} --yes --json`))).toEqual(first.json());
    });

    test('finds a payment by its reference without a journal instead of paying again', async ({
      run,
      service,
      home,
    }) => {
      const elsewhere = { home: join(home, 'elsewhere') };
      await run('swap 1usdt BTC --ref first --yes --json');
      await run('swap 2usdt BTC --ref second --yes --json');
      const sent = await run('send lnurl ann@example.com 1000sat --ref third --yes');
      const again = await run('send lnurl ann@example.com 1000sat --ref third --yes', elsewhere);
      expect(again.exitCode).toBe(0);
      expect(/Paid.*/.exec(again.stderr)?.[0]).toBe(/Paid.*/.exec(sent.stderr)?.[0]);
      failed(
        await run('send lnurl ann@example.com 1001sat --ref third --yes --json', elsewhere),
        2,
      );
      completed(await run('swap 1usdt BTC --ref first --yes --json', elsewhere));
      expect(service.transactions.size).toBe(3);
    });

    test('confirms a quote by its id and cancels another quote', async ({ run, dialect }) => {
      const quoted = await run('swap 2usdt BTC --quote-only -q');
      const id = quoted.stdout.trim();
      expect(done(await run(`tx get ${id} --json`))).toMatchObject({
        txnId: id,
        txnState: 'quoted',
      });
      completed(await run(`tx confirm ${id} --yes --json`));
      completed(await run(`tx confirm ${id} --yes --json`));
      completed(await run(`tx watch ${id} --json`));
      failed(await run('tx get nothing --json'), 5);
      expect(done(await run('tx pending --json'))).toEqual([]);
      expect(await run('tx resume --yes --json')).toMatchObject({ exitCode: 0 });
      const other = (await run('swap 2usdt BTC --quote-only -q')).stdout.trim();
      const canceled = await run(`tx cancel ${other} --json`);
      if (dialect.cancel === true)
        expect(done(canceled)).toMatchObject({ txnState: 'usercanceled' });
      else failed(canceled, 3);
      expect(done(await run('wallets USDT --json'))).toMatchObject([
        { amount: 997.996, availableBalance: 997.996 },
      ]);
    });

    test('lists the transaction history and exports its fees', async ({ run, service }) => {
      await run('receive lightning 1000sat -q');
      await run('swap 2usdt BTC --yes -q');
      await run('swap 3usdt BTC --yes -q');
      const ids = [...service.transactions.keys()];
      const listed = done(
        await run(
          'tx list --json --fields txnId --state completed --state srccreated --time 30d --src-method servicepay',
        ),
      );
      expect(listed).toHaveLength(2);
      const all = await run(
        'tx list --all -o jsonl --fields txnId --since 2h --exclude-dest-method tron',
      );
      expect(ids.every((id) => all.stdout.includes(id))).toBe(true);
      expect(
        done(await run('tx list --limit 1 --page 2 --dest-method servicepay --json')),
      ).toHaveLength(1);
      const books = await run('statement --format hledger');
      expect(books.stdout).toContain('Assets:Svcpay:USDT  -2.004 USDT');
      expect(books.stdout).toContain('Expenses:Svcpay:Fees:Service  0.004 USDT');
      expect((await run('tx export --format csv')).stdout).toContain(
        ',USDT,3,servicepay,BTC,0.00003,0.006,0,',
      );
    });

    test('creates, changes and removes a webhook', async ({ run }) => {
      expect(done(await run('webhook list --json'))).toEqual([]);
      const set = await run('webhook set https://shop.example/h --secret-stdin --json', {
        input: 'whsec',
      });
      expect(done(set)).toMatchObject({ callback: 'https://shop.example/h' });
      const [{ id }] = done(await run('webhook list --json')) as [{ id: string }];
      const updated = await run(
        `webhook update ${id} --callback https://shop.example/g --secret-stdin --json`,
        { input: 'new' },
      );
      expect(done(updated)).toMatchObject({ id, callback: 'https://shop.example/g' });
      done(await run(`webhook remove ${id} --yes --json`));
      failed(await run(`webhook remove ${id} --yes --json`), 5);
      failed(await run(`webhook update ${id} --callback https://shop.example/g --json`), 5);
    });

    test('prints the rates, or exits 5 if the service has no rates', async ({ run, dialect }) => {
      const rates = await run('rates --json');
      if (dialect.rates === true) expect(done(rates)).toMatchObject([{ rate: 100000.5 }]);
      else failed(rates, 5);
    });

    test('prints the institutions of a country, or an empty list if there are none', async ({
      run,
    }) => {
      expect(done(await run('payout institutions VN --json'))).toMatchObject([
        { institutionCode: 'VCB' },
      ]);
      expect(done(await run('payout institutions US --json'))).toEqual([]);
    });
  },
);

describe.concurrent('svcpay receive --wait', () => {
  test.override({ dialect: { payer: true } });

  test.for(['receive lightning 1000sat', 'receive onchain 0.001btc'])(
    'completes "svcpay %s --wait" with exit 0 after the payment has arrived',
    async (receive, { run }) => {
      completed(await run(`${receive} --wait --json`), {
        destReq: { amtSettled: expect.any(Number) },
      });
    },
  );
});
