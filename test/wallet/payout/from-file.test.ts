// svcpay sends a payout from a file unchanged, and only if the payout is complete.
import { describe, expect, test } from 'vitest';
import { wireJson } from '../../../src/api/wire.js';
import { Failure } from '../../../src/formats/failure.js';
import { orderOf } from '../../../src/wallet/instruction/order.js';
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

/** Reads a payout file, and derives its order. */
function read(text: string, serviceName: string) {
  const file = readPayoutFile(text, serviceName);
  return { ...file, order: orderOf(file.instruction, { now: 0 }) };
}

const refusal = (text: string): string => {
  try {
    readPayoutFile(text, 'service');
    return 'nothing was refused';
  } catch (error) {
    return error instanceof Failure && error.kind === 'usage' ? error.message : String(error);
  }
};

describe('readPayoutFile', () => {
  test('keeps every field of a payout file unchanged', () => {
    const { order, method } = read(JSON.stringify(body), 'service');
    expect(JSON.parse(wireJson(order.body))).toEqual(body);
    expect(order.destination).toBe('vnd-instant:970436:0123456789');
    expect(method.code).toBe('vnd-instant');
  });

  test('accepts the alternative account fields of a payout file', () => {
    const text = changed(({ destReq }) =>
      Object.assign(destReq, { reqDetails: { bankAcctNum: '0123', institutionCode: '1' } }),
    );
    const { order } = read(text, 'service');
    expect(order.body.destReq.reqDetails).toEqual({ bankAcctNum: '0123', institutionCode: '1' });
  });

  test('reads the reference and the note of a payout file', () => {
    const text = changed((copy) => Object.assign(copy, { extRefId: 'rent-7', note: 'July' }));
    const { order, ref } = read(text, 'service');
    expect({ ref, note: order.body.note }).toEqual({ ref: 'rent-7', note: 'July' });
    expect(order.body).not.toHaveProperty('extRefId');
  });

  test('accepts the method name of the operator, such as acmepay, as the source method', () => {
    const text = changed(({ sourceReq }) => (sourceReq.method = 'acmepay'));
    expect(read(text, 'acme').order.body.sourceReq.method).toBe('servicepay');
    expect(refusal(text)).toContain('sourceReq.method');
  });

  test('accepts the method "mobile" from an example of the specification', () => {
    const text = changed(({ destReq }) => {
      Object.assign(destReq, {
        ccy: 'KES',
        method: 'mobile',
        amtRequested: 1500.5,
        kyc: kyc('Wanjiku', 'KE'),
      });
      destReq.reqDetails.acctNum = '254712345678';
    });
    const { order, method } = read(text, 'service');
    expect(method.code).toBe('ke-kes-mobile');
    expect(JSON.parse(wireJson(order.body))).toMatchObject({
      destReq: { method: 'mobile', amtRequested: 1500.5 },
    });
  });

  test('accepts a payout within one country without sourceOfFunds', () => {
    const domestic = changed((copy) => {
      copy.sourceReq.kyc = kyc('Tran B', 'VN');
      Reflect.deleteProperty(copy, 'sourceOfFunds');
    });
    expect(read(domestic, 'service').order.body).not.toHaveProperty('sourceOfFunds');
  });
});

const broken: { why: string; change: Change; message: string | RegExp }[] = [
  {
    why: 'missing KYC of the sender',
    change: (c) => Reflect.deleteProperty(c.sourceReq, 'kyc'),
    message: 'sourceReq.kyc: The field is missing.',
  },
  {
    why: 'missing KYC of the recipient',
    change: (c) => Reflect.deleteProperty(c.destReq, 'kyc'),
    message: 'destReq.kyc: The field is missing.',
  },
  {
    why: 'missing legal name in the KYC',
    change: (c) => Reflect.deleteProperty(c.destReq.kyc.details, 'legalFullName'),
    message: 'destReq.kyc.details.legalFullName: The field is missing.',
  },
  {
    why: 'an unknown country',
    change: (c) => (c.destReq.kyc.details.countryCode = 'XX'),
    message: /countryCode: "XX" is not a country code/,
  },
  {
    why: 'a phone number without its country code',
    change: (c) => Object.assign(c.sourceReq.kyc.details, { contactNumber: '0912345678' }),
    message: /contactNumber: "0912345678" has no country code/,
  },
  {
    why: 'an unknown payout method',
    change: (c) => (c.destReq.method = 'fr-bank'),
    message: /destReq.method: There is no payout method "fr-bank"/,
  },
  {
    why: 'a currency that the payout method does not support',
    change: (c) => (c.destReq.ccy = 'USD'),
    message: 'destReq.ccy: vnd-instant pays out VND, not USD.',
  },
  {
    why: 'an amount on the source',
    change: (c) => Object.assign(c.sourceReq, { amtRequested: 1 }),
    message: 'sourceReq.amtRequested: A payout has no field with this name.',
  },
  {
    why: 'a misspelled field',
    change: (c) => Object.assign(c, { extRefID: 'x' }),
    message: 'extRefID: A payout has no field with this name.',
  },
  { why: 'the amount zero', change: (c) => (c.destReq.amtRequested = 0), message: /is zero/ },
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
    why: 'a missing sourceOfFunds in a payout to another country',
    change: (c) => Reflect.deleteProperty(c, 'sourceOfFunds'),
    message: /^sourceOfFunds: The field is missing/,
  },
  {
    why: 'a code that is not an integer',
    change: (c) => (c.sourceOfFunds.purpose = 1.5),
    message: /^sourceOfFunds.purpose/,
  },
  {
    why: 'a missing account number',
    change: (c) => Reflect.deleteProperty(c.destReq.reqDetails, 'acctNum'),
    message: 'destReq.reqDetails.acctNum: The field is missing.',
  },
  {
    why: 'fees deducted from the amount',
    change: (c) => Object.assign(c, { deductNetworkFeesFromDest: true }),
    message: /^deductNetworkFeesFromDest/,
  },
];

describe('readPayoutFile with an invalid file', () => {
  test.each(broken.map((each) => [each.why, each] as const))(
    'refuses a payout file with %s',
    (_why, { change, message }) => {
      expect(refusal(changed(change))).toMatch(message);
    },
  );

  test('refuses a payout file with a number that JSON cannot represent', () => {
    const text = JSON.stringify(body).replace('500000', '500000.00000000000001');
    expect(refusal(text)).toBe(
      'The number 500000.00000000000001 has more digits than a JSON number can hold.',
    );
  });

  test('reports a file that is not JSON without showing the content of the file', () => {
    expect(refusal('{"sourceReq": Jane Roe}')).toBe('The file is not JSON.');
  });
});
