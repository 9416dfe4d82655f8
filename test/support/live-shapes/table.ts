// Response formats of live services, described as edits of the specification's responses.
import type { Edit } from './edits.js';

export interface LiveShape {
  readonly summary: string;
  /**
   * Matches the requests to which the shape applies, by the method and the path without the
   * version, such as `GET /rate`.
   */
  readonly of?: RegExp;
  /** The lowest and highest status of the responses that the shape edits (default 200). */
  readonly from?: readonly [number, number];
  readonly edits?: readonly Edit[];
  /** The status that replaces the status of the response. */
  readonly status?: number;
  /** Whether `all` omits the shape, because the shape conflicts with other shapes. */
  readonly alone?: true;
}

const token = /^POST \/authentication\//;
const btcAddress = /^GET \/account\/onchain-address$/;
const usdtAddress = /^GET \/account\/stablecoin-onchain-address$/;
const account = /^GET \/account\/ne01-[^/]+$/;
const list = /^GET \/(transaction|webhook)$/;
const transactions = /^GET \/transaction$/;
const oneTransaction = /^GET \/transaction\/[^/]+$/;
const anyTransaction = /^(GET|POST|PUT) \/transaction(\/|$)/;
const confirmation = /^PUT \/transaction\/[^/]+\/confirm$/;
const institutions = /^GET \/reference\/fiat-institution\//;
const rates = /^GET \/rate$/;
const webhookChange = /^(PUT|DELETE) \/webhook\//;
const anything = /^/;

const times = ['createdAt', 'createAt', 'updatedAt', 'expiresAt'];
const rareRates = ['BTCRWF', 'BTCXOF', 'USDTRWF', 'USDTXOF'];
const abbreviated = [
  { in: 'transactions', drop: ['destReq'] },
  { in: 'sources', drop: ['ccy', 'method'] },
] as const;
const alone = true;

/**
 * The response formats of live services by name, in the order in which they apply. If a response
 * format has no `edits`, apply.ts implements the format.
 */
export const liveShapes = {
  'token-expiry-iso': {
    summary: 'expiredAt of a token as ISO 8601 text',
    of: token,
    edits: [{ fields: ['expiredAt'], as: 'iso' }],
  },
  'token-expiry-text': {
    summary: 'expiredAt of a token as text with digits',
    of: token,
    edits: [{ fields: ['expiredAt'], as: 'text' }],
    alone,
  },
  'token-expiry-absent': {
    summary: 'a token without expiredAt',
    of: token,
    edits: [{ drop: ['expiredAt'] }],
    alone,
  },
  'token-wrapped': { summary: 'a token inside data', of: token, edits: [{ as: 'wrapped' }] },
  'btc-address-wrapped': {
    summary: 'the Bitcoin address inside data',
    of: btcAddress,
    edits: [{ as: 'wrapped' }],
  },
  'usdt-address-renamed': {
    summary: 'the USDT address as staticStablecoinOnchainAddress, without currency and chain',
    of: usdtAddress,
    edits: [
      { in: 'data', rename: { staticOnchainAddress: 'staticStablecoinOnchainAddress' } },
      { in: 'data', drop: ['walletCcy', 'chainId'] },
    ],
  },
  'usdt-address-bare': {
    summary: 'the USDT address outside data',
    of: usdtAddress,
    edits: [{ as: 'unwrapped' }],
    alone,
  },
  'list-null': {
    summary: 'an empty list as data: null',
    of: list,
    edits: [{ fields: ['data'], as: 'nullIfEmpty' }],
  },
  'list-without-pagination': {
    summary: 'a list without pagination',
    of: transactions,
    edits: [{ drop: ['pagination'] }],
  },
  'list-bare': {
    summary: 'a list as a bare array',
    of: list,
    edits: [{ as: 'unwrapped' }],
    alone,
  },
  'times-iso': {
    summary: 'times of transactions as ISO 8601 text',
    of: anyTransaction,
    edits: [{ in: 'throughout', fields: times, as: 'iso' }],
  },
  'times-without-zone': {
    summary: 'times of transactions as ISO 8601 text without a zone',
    of: anyTransaction,
    edits: [{ in: 'throughout', fields: times, as: 'isoWithoutZone' }],
    alone,
  },
  'times-in-seconds': {
    summary: 'times of transactions in seconds',
    of: anyTransaction,
    edits: [{ in: 'throughout', fields: times, as: 'seconds' }],
    alone,
  },
  'numbers-as-text': {
    summary: 'amounts, fees and rates of transactions as text',
    of: anyTransaction,
    edits: [
      {
        in: 'throughout',
        fields: ['amtRequested', 'amtSettled', 'servicepayFees', 'networkFees', 'fxRate'],
        as: 'text',
      },
    ],
  },
  'lnurl-echo': {
    summary: 'a Lightning Address echoed as lnurl instead of address',
    of: anyTransaction,
    edits: [{ in: 'lnurlDetails', rename: { address: 'lnurl' } }],
  },
  'lnurl-bech32': {
    summary: 'a Lightning Address echoed as an LNURL in bech32',
    of: anyTransaction,
    edits: [{ in: 'lnurlDetails', fields: ['address'], as: 'lnurl' }],
    alone,
  },
  'states-between': {
    summary: 'additional states in flight, such as srcsent and destpendsent',
    of: anyTransaction,
    edits: [
      {
        in: 'payouts',
        replace: { txnState: { srccreated: 'srcpendconfirmfill', destsent: 'srcconfirmfilled' } },
      },
      {
        in: 'otherSends',
        replace: { txnState: { srccreated: 'srcsent', destsent: 'destpendsent' } },
      },
    ],
  },
  'state-canceled': {
    summary: 'canceled instead of usercanceled',
    of: anyTransaction,
    edits: [{ in: 'transactions', replace: { txnState: { usercanceled: 'canceled' } } }],
  },
  'list-abbreviated': {
    summary: 'listed transactions without destReq, ccy and method',
    of: transactions,
    edits: abbreviated,
  },
  'read-abbreviated': {
    summary: 'a transaction read by id without destReq, ccy and method',
    of: oneTransaction,
    edits: abbreviated,
    alone,
  },
  'confirm-before-invoice': {
    summary: 'a confirmed receive in the state userconfirmed, whose invoice follows a moment later',
    of: confirmation,
    edits: [
      { in: 'receives', set: { txnState: 'userconfirmed' } },
      { in: 'receiveDetails', as: 'emptied' },
    ],
  },
  'confirm-ok': {
    summary: 'a confirmation answered with { message: "OK" }',
    of: confirmation,
    edits: [{ as: 'ok' }],
  },
  'institutions-wrapped': {
    summary: 'institutions inside data',
    of: institutions,
    edits: [{ as: 'wrapped' }],
  },
  'institutions-bare': {
    summary: 'institutions as one bare array',
    of: institutions,
    edits: [{ as: 'oneList' }],
    alone,
  },
  'rates-null': {
    summary: 'some rates are null',
    of: rates,
    edits: [{ in: 'data', fields: rareRates, as: 'null' }],
  },
  'rates-bare': {
    summary: 'rates outside data',
    of: rates,
    edits: [{ as: 'unwrapped' }],
  },
  'webhook-changes-ok': {
    summary: 'a changed or removed webhook answered with { message: "OK" }',
    of: webhookChange,
    edits: [{ as: 'ok' }],
  },
  'webhook-exists': {
    summary: 'a second webhook is refused with code 3002 instead of replacing the first',
    alone,
  },
  'webhook-put': { summary: 'events are delivered by PUT' },
  'webhook-final-only': { summary: 'only final states are delivered', alone },
  'webhook-once': { summary: 'a delivery is tried once', alone },
  'webhook-signature-header': { summary: 'the signature is in X-Signature', alone },
  'account-record': {
    summary: 'an account with id, accountStatus and countryCode',
    of: account,
    edits: [{ rename: { accountId: 'id', status: 'accountStatus', country: 'countryCode' } }],
  },
  'error-codes': {
    summary: 'refusals with a code, in the detailed form',
    of: anything,
    from: [400, 599],
    edits: [{ as: 'coded' }],
  },
  'error-in-200': {
    summary: 'a bad request answered with status 200 and resultStatus: "error"',
    of: /^(GET|POST) /,
    from: [400, 400],
    edits: [{ set: { resultStatus: 'error' } }],
    status: 200,
  },
  'data-around': {
    summary: 'every answer inside data',
    of: anything,
    edits: [{ as: 'wrapped' }],
    alone,
  },
  'rate-limit-headers': { summary: 'X-RateLimit headers on every answer' },
  'rate-limit': { summary: '60 requests a minute and 5 a second, then 429', alone },
} as const satisfies Readonly<Record<string, LiveShape>>;

export type LiveShapeName = keyof typeof liveShapes;

const isLiveShape = (name: string): name is LiveShapeName => Object.hasOwn(liveShapes, name);
export const shapeNames: readonly LiveShapeName[] = Object.keys(liveShapes).filter(isLiveShape);

export const shapeOf = (name: LiveShapeName): LiveShape => liveShapes[name];

/**
 * Reads the names of live shapes. The name `all` stands for all live shapes that can be combined.
 * Throws RangeError for an unknown name.
 */
export function readShapeNames(given: readonly string[]): LiveShapeName[] {
  return given.flatMap((name) => {
    if (name === 'all') return shapeNames.filter((each) => shapeOf(each).alone === undefined);
    if (!isLiveShape(name))
      throw new RangeError(`"${name}" is not a live shape. Use all, ${shapeNames.join(', ')}.`);
    return [name];
  });
}
