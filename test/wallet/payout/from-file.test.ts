// A payout from a file: the file is sent unchanged, and only if it is a complete payout.
import { describe, expect, test } from 'vitest';
import { wireJson } from '../../../src/api/json.js';
import { Failure } from '../../../src/formats/failure.js';
import { readPayoutFile } from '../../../src/wallet/payout/from-file.js';

const kyc = (name: string, countryCode: string) => ({
  type: 'individual',
  details: { legalFullName: name, countryCode },
});

const body = {
  sourceReq: { ccy: 'BTC', method: 'servicepay', kyc: kyc('Jane Roe', 'DE') },
  destReq: {
    ccy: 'VND',
    method: 'vnd-instant',
    amtRequested: 500000,
    reqDetails: {
      acctName: 'LE VAN A',
      acctNum: '0123456789',
      institutionCode: '970436',
      institutionName: 'Vietcombank',
    },
    kyc: kyc('Le Van A', 'VN'),
  },
  sourceOfFunds: { purpose: 1, source: 2, relationship: 3 },
};

type Change = (copy: typeof body & Record<string, unknown>) => void;

function changed(change: Change): string {
  const copy: typeof body & Record<string, unknown> = structuredClone(body);
  change(copy);
  return JSON.stringify(copy);
}

const refusal = (text: string): string => {
  try {
    readPayoutFile(text, 'service');
    return 'nothing was refused';
  } catch (error) {
    return error instanceof Failure && error.kind === 'usage' ? error.message : String(error);
  }
};

describe('a file', () => {
  test('is sent unchanged, field by field', () => {
    const { order, method } = readPayoutFile(JSON.stringify(body), 'service');
    expect(JSON.parse(wireJson(order.body))).toEqual(body);
    expect(order.destination).toBe('vnd-instant:970436:0123456789');
    expect(method.code).toBe('vnd-instant');
  });

  test('may name the account in the other set of fields', () => {
    const text = changed(({ destReq }) =>
      Object.assign(destReq, { reqDetails: { bankAcctNum: '0123', institutionCode: '1' } }),
    );
    const { order } = readPayoutFile(text, 'service');
    expect(order.body.destReq.reqDetails).toEqual({ bankAcctNum: '0123', institutionCode: '1' });
  });

  test('may contain a reference and a note', () => {
    const text = changed((copy) => Object.assign(copy, { extRefId: 'rent-7', note: 'July' }));
    const { order, ref, note } = readPayoutFile(text, 'service');
    expect({ ref, note }).toEqual({ ref: 'rent-7', note: 'July' });
    expect(order.body).not.toHaveProperty('extRefId');
  });

  test('may use the name of the brand', () => {
    const text = changed(({ sourceReq }) => (sourceReq.method = 'acmepay'));
    expect(readPayoutFile(text, 'acme').order.body.sourceReq.method).toBe('servicepay');
    expect(refusal(text)).toContain('sourceReq.method');
  });

  test('may have the method mobile, as in an example of the specification', () => {
    const text = changed(({ destReq }) => {
      Object.assign(destReq, {
        ccy: 'KES',
        method: 'mobile',
        amtRequested: 1500.5,
        kyc: kyc('Wanjiku', 'KE'),
      });
      destReq.reqDetails.acctNum = '254712345678';
    });
    const { order, method } = readPayoutFile(text, 'service');
    expect(method.code).toBe('ke-kes-mobile');
    expect(wireJson(order.body)).toContain('"method":"mobile","amtRequested":1500.5');
  });

  test('needs no source of funds within one country', () => {
    const domestic = changed((copy) => {
      copy.sourceReq.kyc = kyc('Tran B', 'VN');
      Reflect.deleteProperty(copy, 'sourceOfFunds');
    });
    expect(readPayoutFile(domestic, 'service').order.body).not.toHaveProperty('sourceOfFunds');
  });
});

const broken: { why: string; change: Change; message: string | RegExp }[] = [
  {
    why: 'no KYC of the sender',
    change: (c) => Reflect.deleteProperty(c.sourceReq, 'kyc'),
    message: 'sourceReq.kyc: It is missing.',
  },
  {
    why: 'no KYC of the recipient',
    change: (c) => Reflect.deleteProperty(c.destReq, 'kyc'),
    message: 'destReq.kyc: It is missing.',
  },
  {
    why: 'KYC without a name',
    change: (c) => Reflect.deleteProperty(c.destReq.kyc.details, 'legalFullName'),
    message: 'destReq.kyc.details.legalFullName: It is missing.',
  },
  {
    why: 'an unknown country',
    change: (c) => (c.destReq.kyc.details.countryCode = 'XX'),
    message: /countryCode: "XX" is not a country code/,
  },
  {
    why: 'a phone number without country code',
    change: (c) => Object.assign(c.sourceReq.kyc.details, { contactNumber: '0912345678' }),
    message: /contactNumber: "0912345678" has no country code/,
  },
  {
    why: 'an unknown method',
    change: (c) => (c.destReq.method = 'fr-bank'),
    message: /destReq.method: There is no payout method "fr-bank"/,
  },
  {
    why: 'a currency that the method does not pay',
    change: (c) => (c.destReq.ccy = 'USD'),
    message: 'destReq.ccy: vnd-instant pays out VND, not USD.',
  },
  {
    why: 'an amount on the source',
    change: (c) => Object.assign(c.sourceReq, { amtRequested: 1 }),
    message: 'sourceReq.amtRequested: A payout has no such field.',
  },
  {
    why: 'a misspelt field',
    change: (c) => Object.assign(c, { extRefID: 'x' }),
    message: 'extRefID: A payout has no such field.',
  },
  { why: 'nothing to pay', change: (c) => (c.destReq.amtRequested = 0), message: /is zero/ },
  {
    why: 'a negative amount',
    change: (c) => (c.destReq.amtRequested = -5),
    message: /is not an amount/,
  },
  {
    why: 'more decimals than the currency has',
    change: (c) => (c.destReq.amtRequested = 0.5),
    message: /VND has no decimals/,
  },
  {
    why: 'no source of funds',
    change: (c) => Reflect.deleteProperty(c, 'sourceOfFunds'),
    message: /^sourceOfFunds: It is missing/,
  },
  {
    why: 'a code that is no integer',
    change: (c) => (c.sourceOfFunds.purpose = 1.5),
    message: /^sourceOfFunds.purpose/,
  },
  {
    why: 'no account',
    change: (c) => Reflect.deleteProperty(c.destReq.reqDetails, 'acctNum'),
    message: 'destReq.reqDetails.acctNum: It is missing.',
  },
  {
    why: 'fees taken from the recipient',
    change: (c) => Object.assign(c, { deductNetworkFeesFromDest: true }),
    message: /^deductNetworkFeesFromDest/,
  },
];

describe('a file is refused', () => {
  test.each(broken)('with $why', ({ change, message }) => {
    expect(refusal(changed(change))).toMatch(message);
  });

  test('with a number that JSON cannot represent, anywhere', () => {
    const text = JSON.stringify(body).replace('500000', '500000.00000000000001');
    expect(refusal(text)).toBe(
      'The number 500000.00000000000001 has more digits than JSON carries.',
    );
  });

  test('without JSON, without quoting it', () => {
    expect(refusal('{"sourceReq": Jane Roe}')).toBe('The file is not JSON.');
  });
});
