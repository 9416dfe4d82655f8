// Response formats seen on live services, as named changes of the specification's responses.
import { encodeLnurl } from '../../formats/lnurl.js';
import type { Maker } from '../wire/maker.js';
import {
  asIso,
  asSeconds,
  asText,
  fieldsOf,
  isFields,
  renamed,
  throughout,
  transactionOf,
  unwrapped,
  withEach,
  without,
  wrapped,
  type Fields,
} from './change.js';

interface AnswerShape {
  readonly kind: 'answer';
  /** Matches method and path without the version, such as `GET /rate`. */
  readonly of: RegExp;
  /** The statuses that are changed (default 200). */
  readonly from?: (status: number) => boolean;
  readonly change: (body: unknown, maker: Maker) => unknown;
  /** The new status. */
  readonly status?: number;
}

/** A behaviour implemented elsewhere in the sandbox. */
interface BehaviourShape {
  readonly kind: 'behaviour';
}

export type LiveShape = (AnswerShape | BehaviourShape) & {
  readonly summary: string;
  /** Not part of `all`, because it conflicts with other shapes. */
  readonly alone?: true;
};

const answer = (
  of: RegExp,
  summary: string,
  change: AnswerShape['change'],
  more: Partial<Pick<AnswerShape, 'from' | 'status'>> = {},
): LiveShape => ({ kind: 'answer', of, summary, change, ...more });

const behaviour = (summary: string): LiveShape => ({ kind: 'behaviour', summary });
const alone = (shape: LiveShape): LiveShape => ({ ...shape, alone: true });

const token = /^POST \/authentication\//;
const btcAddress = /^GET \/account\/onchain-address$/;
const usdtAddress = /^GET \/account\/stablecoin-onchain-address$/;
const account = /^GET \/account\/ne01-[^/]+$/;
const list = /^GET \/(transaction|webhook)$/;
const transactions = /^GET \/transaction$/;
const anyTransaction = /^(GET|POST|PUT) \/transaction(\/|$)/;
const confirmation = /^PUT \/transaction\/[^/]+\/confirm$/;
const institutions = /^GET \/reference\/fiat-institution\//;
const rates = /^GET \/rate$/;
const webhookChange = /^(PUT|DELETE) \/webhook\//;
const anything = /^/;

const times = ['createdAt', 'createAt', 'updatedAt', 'expiresAt'];
const rareRates = ['BTCRWF', 'BTCXOF', 'USDTRWF', 'USDTXOF'];
const isRefusal = (status: number): boolean => status >= 400;
const ok = (): unknown => ({ message: 'OK' });

/** By name, in the order of application. */
export const liveShapes = {
  'token-expiry-iso': answer(
    token,
    'expiredAt of a token as ISO 8601 text',
    withEach(['expiredAt'], asIso),
  ),
  'token-expiry-text': alone(
    answer(token, 'expiredAt of a token as digits in a text', withEach(['expiredAt'], asText)),
  ),
  'token-expiry-absent': alone(answer(token, 'a token without expiredAt', without('expiredAt'))),
  'token-wrapped': answer(token, 'a token inside data', wrapped),
  'btc-address-wrapped': answer(btcAddress, 'the Bitcoin address inside data', wrapped),
  'usdt-address-renamed': answer(
    usdtAddress,
    'the USDT address as staticStablecoinOnchainAddress, without currency and chain',
    withEach(['data'], (data) =>
      without(
        'walletCcy',
        'chainId',
      )(renamed({ staticOnchainAddress: 'staticStablecoinOnchainAddress' })(data)),
    ),
  ),
  'usdt-address-bare': alone(
    answer(usdtAddress, 'the USDT address without data around it', unwrapped),
  ),
  'list-null': answer(
    list,
    'an empty list as data: null',
    withEach(['data'], (data) => (Array.isArray(data) && data.length === 0 ? null : data)),
  ),
  'list-abbreviated': answer(
    transactions,
    'transactions of a list without destReq, and without ccy and method',
    transactionOf((txn) =>
      withEach(['sourceReq'], without('ccy', 'method'))(without('destReq')(txn)),
    ),
  ),
  'list-without-pagination': answer(
    transactions,
    'a list without pagination',
    without('pagination'),
  ),
  'list-bare': alone(answer(list, 'a list without anything around it', unwrapped)),
  'times-iso': answer(
    anyTransaction,
    'times of transactions as ISO 8601 text',
    throughout(withEach(times, asIso)),
  ),
  'times-without-zone': alone(
    answer(
      anyTransaction,
      'the same without a zone',
      throughout(withEach(times, (at) => String(asIso(at)).replace(/Z$/, ''))),
    ),
  ),
  'times-in-seconds': alone(
    answer(
      anyTransaction,
      'times of transactions in seconds',
      throughout(withEach(times, asSeconds)),
    ),
  ),
  'numbers-as-text': answer(
    anyTransaction,
    'amounts, fees and rates of transactions as text',
    (body, { feeField }) =>
      throughout(
        withEach(['amtRequested', 'amtSettled', feeField, 'networkFees', 'fxRate'], asText),
      )(body),
  ),
  'lnurl-echo': answer(
    anyTransaction,
    'a Lightning Address echoed as lnurl in place of address',
    lnurlDetails(renamed({ address: 'lnurl' })),
  ),
  'lnurl-bech32': alone(
    answer(
      anyTransaction,
      'a Lightning Address echoed as an LNURL in bech32',
      lnurlDetails(withEach(['address'], (address) => bech32Of(String(address)))),
    ),
  ),
  'states-between': answer(
    anyTransaction,
    'more states on the way, such as srcsent and destpendsent',
    transactionOf(stateBetween),
  ),
  'state-canceled': answer(
    anyTransaction,
    'canceled in place of usercanceled',
    transactionOf(
      withEach(['txnState'], (state) => (state === 'usercanceled' ? 'canceled' : state)),
    ),
  ),
  'confirm-before-invoice': answer(
    confirmation,
    'a confirmed receive is userconfirmed, and has its invoice a moment later',
    transactionOf(beforeInvoice),
  ),
  'confirm-ok': answer(confirmation, 'a confirmation answered with { message: "OK" }', ok),
  'institutions-wrapped': answer(institutions, 'institutions inside data', wrapped),
  'institutions-bare': alone(
    answer(
      institutions,
      'institutions as one bare list',
      fieldsOf(({ banks, mobiles }) => [banks, mobiles].flat()),
    ),
  ),
  'rates-null': answer(
    rates,
    'some rates are null',
    withEach(
      ['data'],
      withEach(rareRates, () => null),
    ),
  ),
  'rates-bare': answer(rates, 'rates without data around them', unwrapped),
  'webhook-changes-ok': answer(
    webhookChange,
    'a changed or removed webhook answered with { message: "OK" }',
    ok,
  ),
  'webhook-exists': alone(
    behaviour('a second webhook is refused with code 3002 in place of replacing the first'),
  ),
  'webhook-put': behaviour('events are delivered by PUT'),
  'webhook-final-only': alone(behaviour('only final states are delivered')),
  'webhook-once': alone(behaviour('a delivery is tried once')),
  'webhook-signature-header': alone(behaviour('the signature stands in X-Signature')),
  'account-record': answer(
    account,
    'an account with id, accountStatus and countryCode',
    renamed({ accountId: 'id', status: 'accountStatus', country: 'countryCode' }),
  ),
  'error-codes': answer(
    anything,
    'refusals with a code, in the detailed form',
    fieldsOf(withCode),
    { from: isRefusal },
  ),
  'error-in-200': answer(
    /^(GET|POST) /,
    'a bad request answered with status 200 and resultStatus: "error"',
    fieldsOf((body) => ({ resultStatus: 'error', ...body })),
    { from: (status) => status === 400, status: 200 },
  ),
  'data-around': alone(answer(anything, 'every answer inside data', wrapped)),
  'rate-limit-headers': behaviour('X-RateLimit headers on every answer'),
  'rate-limit': alone(behaviour('60 requests a minute and 5 a second, then 429')),
} satisfies Readonly<Record<string, LiveShape>>;

export type LiveShapeName = keyof typeof liveShapes;

export const isLiveShape = (name: string): name is LiveShapeName => Object.hasOwn(liveShapes, name);
export const shapeNames: readonly LiveShapeName[] = Object.keys(liveShapes).filter(isLiveShape);

/** `all` stands for the shapes that can be combined. Throws RangeError for an unknown name. */
export function readShapeNames(given: readonly string[]): LiveShapeName[] {
  return given.flatMap((name) => {
    if (name === 'all') return shapeNames.filter((each) => liveShapes[each].alone === undefined);
    if (!isLiveShape(name))
      throw new RangeError(`"${name}" is not a live shape. Use all, ${shapeNames.join(', ')}.`);
    return [name];
  });
}

function lnurlDetails(change: (details: unknown) => unknown): (body: unknown) => unknown {
  return transactionOf(
    withEach(
      ['destReq'],
      fieldsOf((side) =>
        side['method'] === 'lnurl' ? withEach(['reqDetails'], change)(side) : side,
      ),
    ),
  );
}

function bech32Of(address: string): string {
  const [user = '', domain] = address.split('@');
  return domain === undefined
    ? address
    : encodeLnurl(`https://${domain}/.well-known/lnurlp/${user}`);
}

/** Payouts and other sends have different intermediate states; receives have none. */
function stateBetween(txn: Fields): Fields {
  const { txnState, sourceReq, destReq } = txn;
  const incoming =
    isFields(sourceReq) &&
    (sourceReq['method'] === 'lightning' || sourceReq['method'] === 'on-chain');
  const method = isFields(destReq) ? destReq['method'] : undefined;
  const isPayout = typeof method === 'string' && method !== 'on-chain' && method.includes('-');
  if (incoming) return txn;
  if (txnState === 'srccreated')
    return { ...txn, txnState: isPayout ? 'srcpendconfirmfill' : 'srcsent' };
  if (txnState === 'destsent')
    return { ...txn, txnState: isPayout ? 'srcconfirmfilled' : 'destpendsent' };
  return txn;
}

function beforeInvoice(txn: Fields): Fields {
  const { sourceReq } = txn;
  const details = isFields(sourceReq) ? sourceReq['reqDetails'] : undefined;
  if (!isFields(sourceReq) || !isFields(details) || !('invoicePageUrl' in details)) return txn;
  const empty = Object.fromEntries(Object.keys(details).map((name) => [name, null]));
  return { ...txn, txnState: 'userconfirmed', sourceReq: { ...sourceReq, reqDetails: empty } };
}

/** The first match counts. */
const codes: readonly (readonly [RegExp, string])[] = [
  [/^invalid API key/, '1001'],
  [/^invalid api signature/, '1002'],
  [/^invalid token/, '1003'],
  [/^insufficient balance/, '2001'],
  [/amtRequested|the amount|minimum/, '2002'],
  [/no way from|unsupported|not available/, '2003'],
  [/expired/, '2006'],
  [/invoice|address|institution|LNURL/i, '2007'],
  [/callback/, '3001'],
];

function withCode(body: Fields): Fields {
  const { error, message } = body;
  if ('code' in body || typeof error !== 'string') return body;
  const text = error === 'bad request' && typeof message === 'string' ? message : error;
  const [, code] = codes.find(([pattern]) => pattern.test(text)) ?? [];
  if (code === undefined) return body;
  return {
    resultStatus: 'error',
    code,
    error: text,
    errorMetadata: { params: JSON.stringify({ message: text }) },
  };
}
