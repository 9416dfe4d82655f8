// Judges requests by the letter of the specification, so each unspecified field is a finding.
import { createHmac } from 'node:crypto';

/** A request as the service received it. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export type Json = Readonly<Record<string, unknown>>;

export const fiatMethods: Readonly<Record<string, string>> = {
  'cad-interac': 'CAD',
  'inr-bank': 'INR',
  'idr-bank': 'IDR',
  'ke-kes-mobile': 'KES',
  'myr-bank': 'MYR',
  'myr-mobile': 'MYR',
  'ng-ngn-bank': 'NGN',
  'ng-ngn-mobile': 'NGN',
  'ph-php-bank': 'PHP',
  'rw-rwf-mobile': 'RWF',
  'rw-rwf-bank': 'RWF',
  'sg-sgd-bank': 'SGD',
  'krw-bank': 'KRW',
  'thb-bank': 'THB',
  'vnd-instant': 'VND',
  'bj-xof-mobile': 'XOF',
  'ci-xof-mobile': 'XOF',
  'gh-ghs-mobile': 'GHS',
  'sn-xof-mobile': 'XOF',
  'tw-twd-mobile': 'TWD',
  'kh-usd-mobile': 'USD',
};

const states = [
  'quoted',
  'srcintent',
  'srccreated',
  'destsent',
  'completed',
  'expired',
  'failed',
  'usercanceled',
  'rejected',
  'error',
];

const methods = [
  'servicepay',
  'lightning',
  'lnurl',
  'on-chain',
  'tron',
  'eth',
  ...Object.keys(fiatMethods),
];
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function parseObject(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const unknownKeys = (value: Json, known: readonly string[]): string[] =>
  Object.keys(value).filter((key) => !known.includes(key));

export const signatureOf = (apiKey: string, apiSecret: string, body: string): string =>
  createHmac('sha256', apiSecret).update(`${apiKey}&payload=${body}`).digest('hex');

/**
 * Judges the conventions for all requests: the content type, the place of the credentials, and no
 * body in a request that needs none.
 */
export function judgeEnvelope(request: Received, apiSecret: string): string[] {
  const { method, headers, body } = request;
  const withToken = request.path.endsWith('/authentication/token-signature');
  const type = headers['content-type'];
  const mustHaveType = body !== '' || method === 'PUT';
  const everything = JSON.stringify([request.path, [...request.query], headers, body]);
  return [
    mustHaveType && type !== 'application/json' && `Content-Type is ${String(type)}`,
    !mustHaveType && type !== undefined && 'Content-Type on a request without a body',
    ['GET', 'DELETE'].includes(method) && body !== '' && 'a body where the specification has none',
    everything.includes(apiSecret) && 'the API secret was sent',
    withToken &&
      headers['authorization'] !== undefined &&
      'Authorization sent to the token endpoint',
    !withToken && headers['x-api-key'] !== undefined && 'X-Api-Key sent beyond the token endpoint',
    !withToken &&
      headers['x-api-signature'] !== undefined &&
      'X-Api-Signature sent beyond the token endpoint',
  ].filter((finding) => finding !== false);
}

/** Judges the query parameters of the transaction list (endpoint 10). */
export function judgeListQuery(query: URLSearchParams): string[] {
  const other = query.get('time') === 'other';
  const wrong = [...query].flatMap(([name, value]) => {
    if (name === 'time')
      return ['1d', '7d', '30d', '3m', '6m', '1y', 'other'].includes(value)
        ? []
        : [`time=${value}`];
    if (name === 'startTime' || name === 'endTime') {
      if (!other) return [`${name} is ignored unless time is other`];
      return dateTime.test(value) && !Number.isNaN(Date.parse(value)) ? [] : [`${name}=${value}`];
    }
    if (name === 'txnStatuses') return value.split(',').filter((state) => !states.includes(state));
    if (/^(excludedS|s)rcMethods$|^(excludedD|d)estMethods$/.test(name)) {
      return value.split(',').filter((method) => !methods.includes(method));
    }
    if (name === 'limit' || name === 'page')
      return /^[1-9]\d*$/.test(value) ? [] : [`${name}=${value}`];
    return [`unknown parameter ${name}`];
  });
  const repeated = [...new Set(query.keys())].filter(
    (name) => name !== 'txnStatuses' && query.getAll(name).length > 1,
  );
  return [...wrong, ...repeated.map((name) => `${name} is given more than once`)];
}

/** Judges the body of a create request (endpoint 6) rule by rule. */
export function judgeCreateRequest(body: Json | undefined): string[] {
  if (!body) return ['the body is no JSON object'];
  const { sourceReq, destReq } = body;
  if (!isObject(sourceReq) || !isObject(destReq)) return ['sourceReq and destReq are required'];
  const payout = String(destReq['method']) in fiatMethods || destReq['method'] === 'mobile';
  const known = [
    'sourceReq',
    'destReq',
    'extRefId',
    'note',
    'deductNetworkFeesFromDest',
    'sourceOfFunds',
  ];
  return [
    ...unknownKeys(body, known).map((key) => `unknown field ${key}`),
    ...['extRefId', 'note']
      .filter((key) => key in body && !isText(body[key]))
      .map((key) => `${key} is no text`),
    ...('deductNetworkFeesFromDest' in body &&
    typeof body['deductNetworkFeesFromDest'] !== 'boolean'
      ? ['deductNetworkFeesFromDest is no boolean']
      : []),
    ...judgeSide('sourceReq', sourceReq, payout),
    ...judgeSide('destReq', destReq, payout),
    ...judgeAmounts(sourceReq, destReq),
    ...judgeMethods(sourceReq, destReq, payout),
    ...judgeDetails(sourceReq, destReq),
    ...judgeFunds(body['sourceOfFunds'], payout),
  ];
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

function judgeSide(name: string, side: Json, payout: boolean): string[] {
  const { ccy, amtRequested, kyc } = side;
  return [
    ...unknownKeys(side, ['ccy', 'method', 'amtRequested', 'reqDetails', 'kyc']).map(
      (key) => `unknown ${name}.${key}`,
    ),
    ...(typeof ccy === 'string' && /^[A-Z]{3,4}$/.test(ccy)
      ? []
      : [`${name}.ccy is ${String(ccy)}`]),
    ...('amtRequested' in side && !(typeof amtRequested === 'number' && amtRequested > 0)
      ? [`${name}.amtRequested is ${String(amtRequested)}`]
      : []),
    ...(payout
      ? judgeKyc(name, kyc)
      : 'kyc' in side
        ? [`${name}.kyc is for fiat payouts only`]
        : []),
  ];
}

function judgeKyc(name: string, kyc: unknown): string[] {
  if (!isObject(kyc) || !isObject(kyc['details'])) return [`${name}.kyc is required`];
  const { type, details } = kyc;
  if (!isObject(details)) return [`${name}.kyc.details is required`];
  return [
    ...unknownKeys(kyc, ['type', 'details']).map((key) => `unknown ${name}.kyc.${key}`),
    ...unknownKeys(details, ['legalFullName', 'countryCode', 'contactNumber', 'address1']).map(
      (key) => `unknown ${name}.kyc.details.${key}`,
    ),
    ...(type === 'individual' || type === 'business'
      ? []
      : [`${name}.kyc.type is ${String(type)}`]),
    ...(isText(details['legalFullName']) ? [] : [`${name}.kyc.details.legalFullName is missing`]),
    ...(/^[A-Z]{2}$/.test(String(details['countryCode']))
      ? []
      : [`${name}.kyc.details.countryCode is wrong`]),
    ...Object.values(details)
      .filter((value) => !isText(value))
      .map(() => `${name}.kyc.details holds an empty value`),
  ];
}

/** Judges the amounts of a create request by rules 1 to 5 and 7 of endpoint 6. */
function judgeAmounts(source: Json, dest: Json): string[] {
  const [onSource, onDest] = ['amtRequested' in source, 'amtRequested' in dest];
  if (onSource && onDest) return ['an amount on both sides'];
  if (dest['method'] === 'lightning')
    return onSource || onDest ? ['an amount beside a Bolt11 invoice'] : [];
  if (dest['method'] === 'lnurl') return onSource ? [] : ['lnurl: the amount belongs on sourceReq'];
  if (!onSource && !onDest) return ['no amount on either side'];
  const either =
    dest['method'] === 'tron' ||
    (source['method'] === 'servicepay' && dest['method'] === 'servicepay');
  if (!either && !onDest) return ['the amount belongs on destReq'];
  return dest['method'] === 'on-chain' && Number(dest['amtRequested']) < 0.00001
    ? ['below the on-chain minimum']
    : [];
}

/** Judges the pair of methods and currencies in a create request. */
function judgeMethods(source: Json, dest: Json, payout: boolean): string[] {
  const pair = `${String(source['method'])} ${String(source['ccy'])} to ${String(dest['method'])} ${String(dest['ccy'])}`;
  const receive = source['method'] === 'lightning' || source['method'] === 'on-chain';
  if (receive)
    return source['ccy'] === 'BTC' && dest['method'] === 'servicepay' && dest['ccy'] === 'BTC'
      ? []
      : [pair];
  if (source['method'] !== 'servicepay') return [pair];
  if (payout) {
    const ccy = fiatMethods[String(dest['method'])];
    return ccy === undefined || ccy === dest['ccy'] ? [] : [pair];
  }
  const right = {
    servicepay: source['ccy'] !== dest['ccy'],
    lightning: dest['ccy'] === 'BTC',
    lnurl: dest['ccy'] === 'BTC',
    'on-chain': dest['ccy'] === 'BTC',
    tron: dest['ccy'] === 'USDT',
  }[String(dest['method'])];
  return right ? [] : [pair];
}

function judgeDetails(source: Json, dest: Json): string[] {
  const keys = (side: Json): string => {
    const details = side['reqDetails'] ?? {};
    if (!isObject(details) || Object.values(details).some((value) => !isText(value)))
      return 'broken reqDetails';
    return Object.keys(details).toSorted().join();
  };
  const address = isObject(dest['reqDetails']) ? String(dest['reqDetails']['address'] ?? '') : '';
  const invoice = isObject(dest['reqDetails'])
    ? String(dest['reqDetails']['paymentRequest'] ?? '')
    : '';
  const allowed = {
    servicepay: [''],
    lightning: ['paymentRequest'],
    lnurl: ['address'],
    'on-chain': ['address'],
    tron: ['address'],
  }[String(dest['method'])] ?? [
    'acctName,acctNum,institutionCode,institutionName',
    'bankAcctNum,institutionCode',
  ];
  return [
    ...(keys(source) === '' ? [] : [`sourceReq.reqDetails holds ${keys(source)}`]),
    ...(allowed.includes(keys(dest)) ? [] : [`destReq.reqDetails holds ${keys(dest)}`]),
    ...(dest['method'] === 'tron' && !address.startsWith('T')
      ? ['a TRON address starts with T']
      : []),
    ...(dest['method'] === 'lightning' && !/^ln(bc|tb)/.test(invoice)
      ? ['an invoice starts with lnbc or lntb']
      : []),
    ...(dest['method'] === 'on-chain' && !/^(bc1q|bc1p|tb1|3|1|2|m|n)/.test(address)
      ? [`address ${address}`]
      : []),
  ];
}

function judgeFunds(funds: unknown, payout: boolean): string[] {
  if (funds === undefined) return payout ? ['sourceOfFunds is required for fiat payouts'] : [];
  if (!payout) return ['sourceOfFunds is for fiat payouts only'];
  if (!isObject(funds)) return ['sourceOfFunds is no object'];
  const names = ['purpose', 'source', 'relationship'];
  return [
    ...unknownKeys(funds, names).map((key) => `unknown sourceOfFunds.${key}`),
    ...names
      .filter((name) => !Number.isInteger(funds[name]))
      .map((name) => `sourceOfFunds.${name} is no integer`),
  ];
}

/** Judges the body of a request that creates or changes a webhook (endpoints 11 and 13). */
export function judgeWebhook(body: Json | undefined, isCreate: boolean): string[] {
  if (!body) return ['the body is no JSON object'];
  const { callback, secret } = body;
  return [
    ...unknownKeys(body, ['callback', 'secret']).map((key) => `unknown field ${key}`),
    ...((callback === undefined && !isCreate) || String(callback).startsWith('https://')
      ? []
      : ['callback is no HTTPS URL']),
    ...((secret === undefined && !isCreate) || isText(secret) ? [] : ['secret is missing']),
    ...(callback === undefined && secret === undefined ? ['nothing to update'] : []),
  ];
}
