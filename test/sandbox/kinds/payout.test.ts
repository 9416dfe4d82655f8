// Tests fiat payouts: every country and method of the specification, the rules for both parties,
// and the duration of a payout.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fresh, payout, type Answered, type Fresh } from '../support.js';

let sandbox: Fresh;

beforeEach(async () => {
  sandbox = await fresh();
});

afterEach(() => sandbox.close());

/**
 * A copy of the specification's table: country, currency, method, kind of institution, and an
 * example account.
 */
const destinations: readonly (readonly [string, string, string, 'bank' | 'mobile', string])[] = [
  ['CA', 'CAD', 'cad-interac', 'bank', 'someone@example.ca'],
  ['IN', 'INR', 'inr-bank', 'bank', '50100123456789'],
  ['ID', 'IDR', 'idr-bank', 'bank', '1234567890'],
  ['KE', 'KES', 'ke-kes-mobile', 'mobile', '+254712345678'],
  ['MY', 'MYR', 'myr-bank', 'bank', '512345678901'],
  ['MY', 'MYR', 'myr-mobile', 'mobile', '60123456789'],
  ['NG', 'NGN', 'ng-ngn-bank', 'bank', '0123456789'],
  ['NG', 'NGN', 'ng-ngn-mobile', 'mobile', '+2348012345678'],
  ['PH', 'PHP', 'ph-php-bank', 'bank', '001234567890'],
  ['RW', 'RWF', 'rw-rwf-mobile', 'mobile', '+250788123456'],
  ['RW', 'RWF', 'rw-rwf-bank', 'bank', '00012345678'],
  ['SG', 'SGD', 'sg-sgd-bank', 'bank', '0123456789'],
  ['KR', 'KRW', 'krw-bank', 'bank', '12345678901234'],
  ['TH', 'THB', 'thb-bank', 'bank', '1234567890'],
  ['VN', 'VND', 'vnd-instant', 'bank', '0123456789'],
  ['BJ', 'XOF', 'bj-xof-mobile', 'mobile', '+22990123456'],
  ['CI', 'XOF', 'ci-xof-mobile', 'mobile', '+2250701234567'],
  ['GH', 'GHS', 'gh-ghs-mobile', 'mobile', '+233241234567'],
  ['SN', 'XOF', 'sn-xof-mobile', 'mobile', '+221771234567'],
  ['TW', 'TWD', 'tw-twd-mobile', 'mobile', '+886912345678'],
  ['KH', 'USD', 'kh-usd-mobile', 'mobile', '+85512345678'],
];

const institutions = (country: string): Promise<Answered> =>
  sandbox.call('GET', `/reference/fiat-institution/by-country/${country}`);
const funds = { purpose: 1, source: 2, relationship: 3 };
const account = {
  acctName: 'A',
  acctNum: '123',
  institutionCode: '970436',
  institutionName: 'Vietcombank',
};

describe('the sandbox for a payout', () => {
  test('debits a fiat payout in BTC, with a fee', async () => {
    const quote = (await sandbox.create(payout(500_000))).body;
    expect(quote).toMatchObject({
      fxRate: 2_500_000_000,
      sourceReq: { ccy: 'BTC', amtRequested: 0.0002, servicepayFees: 0.000001, networkFees: 0 },
      destReq: { ccy: 'VND', method: 'vnd-instant', amtRequested: 500_000 },
    });
    expect(quote.sourceReq.kyc.details.legalFullName).toBe('Tran Thi B');
    expect(quote.destReq.kyc.details.countryCode).toBe('VN');
    expect(quote.destReq.reqDetails.institutionName).toBe('Vietcombank');
    expect((await sandbox.confirm(quote.txnId)).body.txnState).toBe('srccreated');
    expect(await sandbox.balance('BTC')).toEqual([1, 0.999799]);
  });

  test.for(
    [
      {
        what: 'an instant payout within minutes',
        body: payout(500_000),
        states: ['destsent', 'completed', 'completed'],
      },
      {
        what: 'a standard payout within a day',
        states: ['destsent', 'destsent', 'completed'],
        body: payout(
          100,
          {
            ccy: 'SGD',
            method: 'sg-sgd-bank',
            reqDetails: { ...account, institutionCode: '7171' },
          },
          {},
          { sourceOfFunds: funds },
        ),
      },
    ].map((each) => [each.what, each] as const),
  )('completes %s', async ([, { body, states }]) => {
    const { txnId } = await sandbox.run(body);
    const seen: string[] = [];
    for (const by of ['5s', '10m', '1d']) {
      await sandbox.advance(by);
      await sandbox.renew();
      seen.push(await sandbox.state(txnId));
    }
    expect(seen).toEqual(states);
  });

  test.for(destinations)(
    'accepts a payout to %s in %s by %s',
    async ([country, ccy, method, type, number]) => {
      const { banks, mobiles } = (await institutions(country)).body;
      const [{ institutionCode, institutionName }] = type === 'bank' ? banks : mobiles;
      const reqDetails = { acctName: 'A', acctNum: number, institutionCode, institutionName };
      const { status, body } = await sandbox.create(
        payout(1000, { ccy, method, reqDetails }, {}, { sourceOfFunds: funds }),
      );
      expect([status, body.destReq?.reqDetails, body.sourceOfFunds]).toEqual([
        200,
        reqDetails,
        funds,
      ]);
    },
  );

  test('accepts the shorter set of recipient details of a payout', async () => {
    const reqDetails = { bankAcctNum: '0123456789', institutionCode: '970436' };
    expect((await sandbox.create(payout(1000, { reqDetails }))).body.destReq.reqDetails).toEqual(
      reqDetails,
    );
  });

  test('derives the country of the method `mobile` from the institution', async () => {
    const reqDetails = { ...account, acctNum: '+221771234567', institutionCode: 'WAVESN' };
    const answer = await sandbox.create(
      payout(1000, { ccy: 'XOF', method: 'mobile', reqDetails }, {}, { sourceOfFunds: funds }),
    );
    expect(answer.status).toBe(200);
  });

  test('requires the source of funds only if the sender is from another country', async () => {
    const abroad = {
      kyc: { type: 'business', details: { legalFullName: 'Acme GmbH', countryCode: 'DE' } },
    };
    expect((await sandbox.create(payout(1000, {}, abroad))).status).toBe(400);
    expect((await sandbox.create(payout(1000, {}, abroad, { sourceOfFunds: funds }))).status).toBe(
      200,
    );
    expect((await sandbox.create(payout(1000))).status).toBe(200);
  });

  // The specification allows "all integers" for sourceOfFunds and does not define the codes.
  test('accepts any integers as the source of funds, and returns them', async () => {
    const sourceOfFunds = { purpose: 0, source: -1, relationship: 10_001 };
    expect(
      (await sandbox.create(payout(1000, {}, {}, { sourceOfFunds }))).body.sourceOfFunds,
    ).toEqual(sourceOfFunds);
  });

  const kyc = (details: object, type = 'individual'): object => ({
    kyc: { type, details: { legalFullName: 'A', countryCode: 'VN', ...details } },
  });
  const detailed = (change: object): object => ({ reqDetails: { ...account, ...change } });
  test.for(
    [
      {
        what: 'no KYC of the sender',
        body: payout(1000, {}, { kyc: undefined }),
        message: /missing KYC: sourceReq/,
      },
      {
        what: 'no KYC of the recipient',
        body: payout(1000, { kyc: undefined }),
        message: /missing KYC: destReq/,
      },
      {
        what: 'an unknown type of party',
        body: payout(1000, kyc({}, 'robot')),
        message: /destReq.kyc.type/,
      },
      {
        what: 'no recipient name',
        body: payout(1000, kyc({ legalFullName: undefined })),
        message: /legalFullName/,
      },
      {
        what: 'a blank sender name',
        body: payout(1000, {}, kyc({ legalFullName: ' ' })),
        message: /sourceReq.kyc.*legalFullName/,
      },
      {
        what: 'an unknown country',
        body: payout(1000, kyc({ countryCode: 'XX' })),
        message: /countryCode/,
      },
      {
        what: 'a country code of three letters',
        body: payout(1000, kyc({ countryCode: 'VNM' })),
        message: /countryCode/,
      },
      {
        what: 'a phone number of the wrong type',
        body: payout(1000, kyc({ contactNumber: 5 })),
        message: /contactNumber/,
      },
      {
        what: 'a phone number without a country code',
        body: payout(1000, {}, kyc({ contactNumber: '0912 345 678' })),
        message: /contactNumber/,
      },
      {
        what: 'an institution of another country',
        body: payout(1000, detailed({ institutionCode: '7171' })),
        message: /invalid institution code/,
      },
      {
        what: 'no institution',
        body: payout(1000, detailed({ institutionCode: undefined })),
        message: /institutionCode/,
      },
      {
        what: 'no account number',
        body: payout(1000, detailed({ acctNum: undefined })),
        message: /acctNum/,
      },
      {
        what: 'no account holder',
        body: payout(1000, detailed({ acctName: undefined })),
        message: /acctName/,
      },
      {
        what: 'a method of another currency',
        body: payout(1000, { ccy: 'USD' }),
        message: /unsupported country or method/,
      },
      {
        what: 'an unknown method',
        body: payout(1000, { method: 'eur-bank' }),
        message: /not supported/,
      },
      {
        what: 'the amount on the source side',
        body: payout(1000, { amtRequested: undefined }, { amtRequested: 0.1 }),
        message: /destReq.amtRequested/,
      },
      { what: 'a fraction of a dong', body: payout(1000.5), message: /amtRequested/ },
      {
        what: 'a source of funds as text',
        body: payout(1000, {}, {}, { sourceOfFunds: { ...funds, purpose: 'gift' } }),
        message: /sourceOfFunds.purpose/,
      },
      {
        what: 'a fractional source of funds',
        body: payout(1000, {}, {}, { sourceOfFunds: { ...funds, source: 1.5 } }),
        message: /sourceOfFunds.source/,
      },
      {
        what: 'an incomplete source of funds',
        body: payout(1000, {}, {}, { sourceOfFunds: { purpose: 1 } }),
        message: /sourceOfFunds/,
      },
      {
        what: 'a mobile number of another country',
        message: /country code 254/,
        body: payout(
          1000,
          {
            ccy: 'KES',
            method: 'ke-kes-mobile',
            reqDetails: { ...account, institutionCode: 'MPESA', acctNum: '+84912345678' },
          },
          {},
          { sourceOfFunds: funds },
        ),
      },
    ].map((each) => [each.what, each] as const),
  )('refuses a payout with %s', async ([, { body, message }]) => {
    const answer = await sandbox.create(body);
    expect([answer.status, answer.body.error, answer.body.message]).toEqual([
      400,
      'bad request',
      expect.stringMatching(message),
    ]);
  });

  test('refuses a payout above the balance', async () => {
    const answer = await sandbox.create(payout(3_000_000_000));
    expect([answer.status, answer.body.error]).toEqual([400, 'insufficient balance']);
  });

  test.for(
    [
      { what: 'an account number', body: payout(1000, detailed({ acctNum: '0000000000' })) },
      {
        what: 'a mobile number',
        body: payout(
          1000,
          {
            ccy: 'KES',
            method: 'ke-kes-mobile',
            reqDetails: { ...account, institutionCode: 'MPESA', acctNum: '+254000000000' },
          },
          {},
          { sourceOfFunds: funds },
        ),
      },
    ].map((each) => [each.what, each] as const),
  )('fails a payout to %s of zeroes, and refunds the debited amount', async ([, { body }]) => {
    const { txnId } = await sandbox.run(body);
    await sandbox.advance('5s');
    expect(await sandbox.state(txnId)).toBe('destsent');
    await sandbox.advance('2m');
    expect([await sandbox.state(txnId), await sandbox.balance('BTC')]).toEqual(['failed', [1, 1]]);
  });
});

describe('the sandbox list of institutions', () => {
  test('lists the banks and the mobile-money services of a country separately', async () => {
    const { body } = await institutions('NG');
    expect(body.banks).toContainEqual({
      institutionCode: '058',
      institutionType: 'bank',
      institutionName: 'Guaranty Trust Bank',
    });
    expect(body.mobiles).toContainEqual({
      institutionCode: 'OPAY',
      institutionType: 'mobile',
      institutionName: 'OPay',
    });
  });

  test('returns no institutions for a country without payouts', async () => {
    expect((await institutions('DE')).body).toEqual({ banks: [], mobiles: [] });
  });

  test('refuses an invalid country code in a request for institutions', async () => {
    expect((await institutions('Vietnam')).status).toBe(400);
  });
});
