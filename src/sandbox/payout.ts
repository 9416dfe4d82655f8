// Sends a fiat payout with KYC data of both parties, and lists the payout methods and institutions
// of each country, with real names and plausible codes.
import * as v from 'valibot';
import { countryCodes } from '../formats/country.js';
import { complaint, badRequest, number } from './wire.js';
import { type CreateRequest, type Kind, type RequestedSide, sending } from './kind.js';
import type { Transaction } from './transactions.js';
import { durations, refusalOfAccount } from './unspecified.js';

type Names = Readonly<Record<string, string>>;

const banks: Readonly<Record<string, Names>> = {
  CA: {
    '0001': 'Bank of Montreal',
    '0002': 'Scotiabank',
    '0003': 'Royal Bank of Canada',
    '0004': 'TD Canada Trust',
    '0006': 'National Bank of Canada',
    '0010': 'CIBC',
    '0815': 'Desjardins',
  },
  IN: {
    SBIN: 'State Bank of India',
    HDFC: 'HDFC Bank',
    ICIC: 'ICICI Bank',
    UTIB: 'Axis Bank',
    KKBK: 'Kotak Mahindra Bank',
    PUNB: 'Punjab National Bank',
  },
  ID: {
    '002': 'Bank BRI',
    '008': 'Bank Mandiri',
    '009': 'Bank BNI',
    '014': 'Bank BCA',
    '022': 'CIMB Niaga',
  },
  MY: {
    MBBEMYKL: 'Maybank',
    CIBBMYKL: 'CIMB Bank',
    PBBEMYKL: 'Public Bank',
    RHBBMYKL: 'RHB Bank',
    HLBBMYKL: 'Hong Leong Bank',
  },
  NG: {
    '011': 'First Bank of Nigeria',
    '033': 'United Bank for Africa',
    '044': 'Access Bank',
    '057': 'Zenith Bank',
    '058': 'Guaranty Trust Bank',
  },
  PH: {
    BNORPHMM: 'BDO Unibank',
    BOPIPHMM: 'Bank of the Philippine Islands',
    MBTCPHMM: 'Metrobank',
    TLBPPHMM: 'Landbank',
    UBPHPHMM: 'UnionBank',
  },
  RW: {
    BKIGRWRW: 'Bank of Kigali',
    EQBLRWRW: 'Equity Bank Rwanda',
    ECOCRWRW: 'Ecobank Rwanda',
    BPRWRWRW: 'BPR Bank Rwanda',
  },
  SG: {
    7171: 'DBS Bank',
    7339: 'OCBC Bank',
    7375: 'United Overseas Bank',
    9496: 'Standard Chartered Singapore',
  },
  KR: {
    '004': 'KB Kookmin Bank',
    '020': 'Woori Bank',
    '081': 'Hana Bank',
    '088': 'Shinhan Bank',
    '090': 'KakaoBank',
  },
  TH: {
    '002': 'Bangkok Bank',
    '004': 'Kasikornbank',
    '006': 'Krungthai Bank',
    '014': 'Siam Commercial Bank',
    '025': 'Bank of Ayudhya',
  },
  VN: {
    970403: 'Sacombank',
    970405: 'Agribank',
    970407: 'Techcombank',
    970415: 'VietinBank',
    970416: 'ACB',
    970418: 'BIDV',
    970422: 'MB Bank',
    970423: 'TPBank',
    970432: 'VPBank',
    970436: 'Vietcombank',
  },
};

const mobiles: Readonly<Record<string, Names>> = {
  KE: { MPESA: 'M-PESA', AIRTELKE: 'Airtel Money Kenya' },
  MY: { TNGD: "Touch 'n Go eWallet", BOOST: 'Boost', GRABMY: 'GrabPay' },
  NG: { OPAY: 'OPay', PALMPAY: 'PalmPay', PAGA: 'Paga' },
  RW: { MTNRW: 'MTN MoMo Rwanda', AIRTELRW: 'Airtel Money Rwanda' },
  BJ: { MTNBJ: 'MTN MoMo Benin', MOOVBJ: 'Moov Money Benin' },
  CI: {
    ORANGECI: "Orange Money Cote d'Ivoire",
    MTNCI: "MTN MoMo Cote d'Ivoire",
    MOOVCI: 'Moov Money',
    WAVECI: 'Wave',
  },
  GH: { MTNGH: 'MTN MoMo Ghana', TELECELGH: 'Telecel Cash', ATGH: 'AirtelTigo Money' },
  SN: { ORANGESN: 'Orange Money Senegal', FREESN: 'Free Money', WAVESN: 'Wave Senegal' },
  TW: { JKOPAY: 'JKOPay', LINEPAYTW: 'LINE Pay Taiwan', PXPAY: 'PX Pay Plus' },
  KH: { WING: 'Wing Bank', TRUEMONEYKH: 'TrueMoney Cambodia', PIPAY: 'Pi Pay' },
};

/**
 * The institutions of a country (ISO alpha-2 in capitals). For a country without payout methods,
 * the lists of institutions are empty.
 */
export function institutionsOf(country: string) {
  return { banks: list('bank', banks[country]), mobiles: list('mobile', mobiles[country]) };
}

function hasInstitution(country: string, type: InstitutionType, code: string): boolean {
  return Object.hasOwn((type === 'bank' ? banks : mobiles)[country] ?? {}, code);
}

const list = (institutionType: InstitutionType, names: Names = {}) =>
  Object.entries(names).map(([institutionCode, institutionName]) => ({
    institutionCode,
    institutionType,
    institutionName,
  }));

type InstitutionType = 'bank' | 'mobile';

/**
 * The code of each method, its country (ISO 3166-1 alpha-2), its currency, and the calling code of
 * mobile numbers.
 */
const table: readonly (readonly [string, string, string, string])[] = [
  ['cad-interac', 'CA', 'CAD', '1'],
  ['inr-bank', 'IN', 'INR', '91'],
  ['idr-bank', 'ID', 'IDR', '62'],
  ['ke-kes-mobile', 'KE', 'KES', '254'],
  ['myr-bank', 'MY', 'MYR', '60'],
  ['myr-mobile', 'MY', 'MYR', '60'],
  ['ng-ngn-bank', 'NG', 'NGN', '234'],
  ['ng-ngn-mobile', 'NG', 'NGN', '234'],
  ['ph-php-bank', 'PH', 'PHP', '63'],
  ['rw-rwf-mobile', 'RW', 'RWF', '250'],
  ['rw-rwf-bank', 'RW', 'RWF', '250'],
  ['sg-sgd-bank', 'SG', 'SGD', '65'],
  ['krw-bank', 'KR', 'KRW', '82'],
  ['thb-bank', 'TH', 'THB', '66'],
  ['vnd-instant', 'VN', 'VND', '84'],
  ['bj-xof-mobile', 'BJ', 'XOF', '229'],
  ['ci-xof-mobile', 'CI', 'XOF', '225'],
  ['gh-ghs-mobile', 'GH', 'GHS', '233'],
  ['sn-xof-mobile', 'SN', 'XOF', '221'],
  ['tw-twd-mobile', 'TW', 'TWD', '886'],
  ['kh-usd-mobile', 'KH', 'USD', '855'],
];

const payoutMethods = table.map(([method, country, ccy, callingCode]) => ({
  method,
  country,
  ccy,
  callingCode,
  institutionType: method.endsWith('-mobile') ? ('mobile' as const) : ('bank' as const),
  /** Whether a payout arrives within minutes, unlike a standard bank transfer. */
  instant: !method.endsWith('-bank'),
}));

type PayoutMethod = (typeof payoutMethods)[number];

/**
 * The method code for any mobile-money service. With the method code `mobile`, the currency and the
 * institution determine the country of the payout.
 */
const anyMobile = 'mobile';

export const payoutMethodNames: readonly string[] = [
  ...payoutMethods.map(({ method }) => method),
  anyMobile,
];

/**
 * Finds the payout methods with the given method code and currency. For the method code `mobile`,
 * finds all mobile-money methods with the currency.
 */
function findPayoutMethods(method: string, ccy: string): PayoutMethod[] {
  const meant = (payoutMethod: PayoutMethod): boolean =>
    method === anyMobile
      ? payoutMethod.institutionType === 'mobile'
      : payoutMethod.method === method;
  return payoutMethods.filter((payoutMethod) => payoutMethod.ccy === ccy && meant(payoutMethod));
}

const text = v.pipe(v.string(), v.trim(), v.nonEmpty('must not be empty'), v.maxLength(255));

/**
 * A "phone number with country code" from the specification. The sandbox accepts any separators in
 * a phone number.
 */
const phone = v.pipe(
  text,
  v.check(
    (number) => /^\+?[1-9]\d{6,14}$/.test(number.replace(/[\s().-]/g, '')),
    'must be a phone number with a country code',
  ),
);

/**
 * The KYC data of a party. `contactNumber` and `address1` are optional, because the specification
 * marks them as "varies".
 */
const kyc = v.object({
  type: v.picklist(['individual', 'business']),
  details: v.object({
    legalFullName: text,
    countryCode: v.picklist(countryCodes, 'must be an ISO 3166-1 alpha-2 code'),
    contactNumber: v.optional(phone),
    address1: v.optional(text),
  }),
});

/**
 * A numeric code that describes the source of funds. The specification does not define the codes
 * for the source of funds, so the sandbox accepts any integer.
 */
const code = v.pipe(
  number,
  v.check((n) => n.eq(n.round(0)), 'must be an integer'),
);
const sourceOfFunds = v.object({ purpose: code, source: code, relationship: code });

/**
 * The fields of a recipient's account: a bank account by its number alone, or a bank account or
 * mobile-money wallet with names.
 */
const bankAccount = v.object({ bankAcctNum: text, institutionCode: text });
const namedAccount = v.object({
  acctName: text,
  acctNum: text,
  institutionCode: text,
  institutionName: text,
});

export const payout: Kind = {
  name: 'payout',
  to: payoutMethodNames,
  fee: 'payout',
  amountOn: 'dest',
  read(_ctx, request) {
    const { source, dest } = request;
    const { payoutMethod } = readRecipient(dest);
    const sender = readKyc('sourceReq', source.kyc);
    readKyc('destReq', dest.kyc);
    assertSourceOfFunds(request, sender.details.countryCode !== payoutMethod.country);
    return {
      sourceDetails: { reqDetails: {}, kyc: source.kyc },
      destDetails: { reqDetails: dest.reqDetails, kyc: dest.kyc },
      sourceOfFunds: request.sourceOfFunds,
    };
  },
  ...sending({
    startAfter: durations.payoutStart,
    settleAfter: (txn) =>
      recipientOf(txn).payoutMethod.instant ? durations.payoutInstant : durations.payoutStandard,
    obstacle: (_ctx, txn) =>
      txn.state === 'srccreated' ? undefined : refusalOfAccount(recipientOf(txn).account),
  }),
};

const recipientOf = ({ destMethod: method, destCcy: ccy, destDetails }: Transaction) =>
  readRecipient({ method, ccy, reqDetails: destDetails.reqDetails });

/**
 * Reads the recipient's account. The institution of the account determines the payout method if the
 * method code is `mobile`.
 */
function readRecipient({
  method,
  ccy,
  reqDetails,
}: Pick<RequestedSide, 'method' | 'ccy' | 'reqDetails'>) {
  const candidates = findPayoutMethods(method, ccy);
  if (candidates.length === 0)
    throw badRequest(`unsupported country or method: ${method} in ${ccy}`);
  const shape = 'bankAcctNum' in reqDetails ? bankAccount : namedAccount;
  const given = read<v.InferOutput<typeof shape>>(shape, 'destReq.reqDetails', reqDetails);
  const { institutionCode } = given;
  const account = 'acctNum' in given ? given.acctNum : given.bankAcctNum;
  const payoutMethod = candidates.find(({ country, institutionType }) =>
    hasInstitution(country, institutionType, institutionCode),
  );
  if (payoutMethod === undefined) throw badRequest('invalid institution code');
  return {
    payoutMethod,
    account:
      payoutMethod.institutionType === 'mobile' ? subscriberNumber(account, payoutMethod) : account,
  };
}

/**
 * Removes the country code from a mobile number. Throws a `Refusal` for a mobile number without the
 * country code of the payout method.
 */
function subscriberNumber(account: string, { callingCode }: PayoutMethod): string {
  const [, subscriber] = new RegExp(`^\\+?${callingCode}(\\d{6,12})$`).exec(account) ?? [];
  if (subscriber !== undefined) return subscriber;
  throw badRequest(
    `destReq.reqDetails.acctNum must be a mobile number with the country code ${callingCode}`,
  );
}

function readKyc(side: string, given: unknown): v.InferOutput<typeof kyc> {
  if (given === undefined) throw badRequest(`missing KYC: ${side}.kyc is required`);
  return read(kyc, `${side}.kyc`, given);
}

function assertSourceOfFunds(request: CreateRequest, international: boolean): void {
  const given = request.sourceOfFunds;
  if (given !== undefined) read(sourceOfFunds, 'sourceOfFunds', given);
  else if (international) throw badRequest('sourceOfFunds is required for an international payout');
}

function read<T>(shape: v.GenericSchema<unknown, T>, path: string, value: unknown): T {
  const parsed = v.safeParse(shape, value, { abortEarly: true });
  if (parsed.success) return parsed.output;
  throw badRequest(complaint(parsed.issues[0], path));
}
