// Reads the history: its filters, its search and its pages.
import type { ServiceClient } from '../../api/client.js';
import { fieldFromWireName } from '../../api/wire.js';
import type { TransactionFilter, ListedTransaction } from '../../api/types.js';
import { Failure, invalid } from '../../formats/failure.js';
import {
  always,
  monthSpan,
  ownZone,
  parseInstant,
  parseMonth,
  type Instant,
  type Span,
} from '../../formats/calendar.js';
import { methodNames, methodProperties } from '../../formats/rails.js';
import { knownStates, isQuoted } from '../../formats/states.js';
import { didYouMean, entryOf, plainLetters } from '../../formats/text.js';
import { spanFilter } from '../../api/pages.js';
import { choice, word, type ValuesOf } from '../values.js';
import type { RecipientOf } from '../../terminal/views/transaction-view.js';
import type { Context } from '../context.js';
import { lookUp } from './local-facts.js';

/** The values of the service's `time` parameter. */
const periods = ['1d', '7d', '30d', '3m', '6m', '1y'] as const;

export const instant = () => word('TIME', parseInstant).optional();

export const createdSinceOption = () =>
  instant().describe(
    'only transactions created since this time: 36h, 2026-03-01 (default: all of history)',
  );

export const month = () =>
  word('MONTH', parseMonth).optional().describe('only this month: 2026-11, or last');

const knownMethods = [...methodNames, 'mobile'];

/** The names that screens show for methods, if the service uses a different name. */
const methodWords: Readonly<Record<string, string>> = {
  wallet: 'servicepay',
  ethereum: 'eth',
  onchain: 'on-chain',
};

const shownMethods = ['wallet', 'lightning', 'lnurl', 'on-chain', 'tron', 'ethereum', 'mobile'];

const payoutMethod = /^(?:[a-z]{2}-)?[a-z]{3}-[a-z]{3,12}$/;

/**
 * Matches the method name of the account's own wallet, which is the name of the service, such as
 * `acmepay`.
 */
const ownWallet = /^[a-z][a-z0-9]*pay$/;

const notMethod = (given: string): Failure =>
  invalid(
    `"${given}" is not a method.` +
      (didYouMean(given, shownMethods) ||
        ` Write one of ${shownMethods.join(', ')}, or a payout method.`),
    { next: { do: 'see-payout-methods' } },
  );

const methods = () =>
  word(
    'METHOD',
    (given) => {
      const name = given.toLowerCase();
      const method = entryOf(methodWords, name) ?? name;
      const isKnown = knownMethods.some((each) => each === method);
      if (isKnown || payoutMethod.test(method) || ownWallet.test(method)) return method;
      throw notMethod(given);
    },
    knownMethods,
  )
    .offering(shownMethods)
    .repeated();

/** Maps state names that lists show to the service's names for the same states. */
const stateWords: Readonly<Record<string, string>> = {
  waiting: 'srcintent',
  confirmed: 'srccreated',
  sent: 'destsent',
  done: 'completed',
  refused: 'rejected',
  cancelled: 'usercanceled',
  canceled: 'usercanceled',
};

const stateNames = [...Object.keys(stateWords), ...knownStates];

const shownStates = [
  'quoted',
  ...Object.keys(stateWords).filter((name) => name !== 'canceled'),
  'failed',
  'expired',
  'error',
];

/**
 * The value of `--state`. Services define further states, so svcpay accepts any word as a state,
 * except a misspelling of a known state.
 */
const states = () =>
  word(
    'STATE',
    (given) => {
      const name = given.toLowerCase();
      const state = entryOf(stateWords, name) ?? name;
      if (knownStates.includes(state)) return state;
      const meant = didYouMean(name, stateNames);
      if (meant !== '') throw invalid(`"${given}" is not a state.${meant}`);
      if (/^[a-z][a-z_-]*$/.test(name)) return given;
      throw invalid(notState(given));
    },
    stateNames,
  )
    .offering(shownStates)
    .repeated();

export const historyOptions = {
  time: choice(periods, 'PERIOD')
    .optional()
    .describe(`the last ${periods.join(', ')}`),
  since: instant().describe('from this time on: 2h, 7d, 2026-03-01 or 2026-03-01T14:30:00Z'),
  until: instant().describe('up to this time, inclusive'),
  month: month(),
  state: states().describe('only this state, such as done or failed; may be repeated'),
  srcMethod: methods().describe('only from this source, such as wallet or lightning'),
  destMethod: methods().describe('only to this destination, such as lightning or on-chain'),
  excludeSrcMethod: methods().describe('exclude this source'),
  excludeDestMethod: methods().describe('exclude this destination'),
};

type HistoryFlags = ValuesOf<typeof historyOptions>;
type PeriodFlags = Pick<HistoryFlags, 'time' | 'since' | 'until' | 'month'>;

/**
 * Builds the filter of a list request. If no period is given, the filter requests the whole
 * history, because the service would otherwise list only a week. Throws Failure `usage` for
 * contradictory periods.
 */
export async function historyFilter(
  flags: HistoryFlags,
  service: ServiceClient,
): Promise<TransactionFilter> {
  const { time, state, srcMethod, destMethod, excludeSrcMethod, excludeDestMethod } = flags;
  const { first, end } = await spanAsked(flags, service);
  return {
    ...(time === undefined ? spanFilter(first, end) : { time }),
    txnStatuses: state,
    srcMethods: joined(srcMethod, service),
    destMethods: joined(destMethod.flatMap(calledBy), service),
    excludedSrcMethods: joined(excludeSrcMethod, service),
    excludedDestMethods: joined(excludeDestMethod.flatMap(calledBy), service),
  };
}

/** Returns the methods that lists call by this name, such as also `lnurl` for `lightning`. */
function calledBy(method: string): readonly string[] {
  const same = methodNames.filter((name) => methodProperties(name)?.label.toLowerCase() === method);
  return same.length === 0 ? [method] : same;
}

/**
 * Returns the span of `--month`, or of `--since` and `--until`, by the service's clock: all of
 * history by default. Throws Failure `usage` for contradictory periods.
 */
export async function spanAsked(
  { time, since, until, month: of }: Partial<PeriodFlags>,
  service: ServiceClient,
): Promise<Span> {
  const hasSpan = since !== undefined || until !== undefined;
  if ([time !== undefined, hasSpan, of !== undefined].filter(Boolean).length > 1)
    throw invalid('Give --time, --month, or --since and --until, not two of them.');
  if (of !== undefined) return monthSpan(of, ownZone(), service.serviceNow());
  const now = [since, until].some(isRelative) ? await timeOf(service) : 0;
  const first = startOf(since, now);
  const end =
    until === undefined ? always.end : ('ago' in until ? now - until.ago : until.last) + 1;
  if (first >= end) throw invalid('--since must not be later than --until.');
  return { first, end };
}

function joined(words: readonly string[], { maker }: ServiceClient): string | undefined {
  const methods = words.map((word) => fieldFromWireName(word, maker));
  const wrong = methods.find((method) => ownWallet.test(method) && method !== 'servicepay');
  if (wrong !== undefined) throw notMethod(wrong);
  return methods.length === 0 ? undefined : methods.join(',');
}

const isRelative = (each: Instant | undefined): boolean => each !== undefined && 'ago' in each;

/** Returns the start of the period in epoch ms, or 0 without a period. */
export const startOf = (since: Instant | undefined, now: number): number =>
  since === undefined ? 0 : 'ago' in since ? now - since.ago : since.first;

/** Returns the time of the service's clock, from the Date header of a response. */
async function timeOf(service: ServiceClient): Promise<number> {
  await service.transactions({ limit: 1 });
  return service.serviceNow();
}

/** Replaces the service's refusal of an unrecognized state with an explanation. */
export function withStates(error: unknown, { state }: Pick<HistoryFlags, 'state'>): never {
  const unknown = state.find((each) => !knownStates.includes(each));
  if (!(error instanceof Failure) || error.kind !== 'refused' || unknown === undefined) throw error;
  throw error.saying(notState(unknown));
}

const notState = (given: string): string =>
  `"${given}" is not a state. Write one of ${shownStates.join(', ')}, ` +
  'or another state of the service.';

/** Describes the period for the heading of a list. */
export function periodText({ time, since, until, month: of }: PeriodFlags): string {
  if (time !== undefined) return periodNames[time];
  return [since, until, of].every((each) => each === undefined)
    ? 'all of history'
    : 'requested period';
}

const periodNames: Readonly<Record<(typeof periods)[number], string>> = {
  '1d': 'last day',
  '7d': 'last 7 days',
  '30d': 'last 30 days',
  '3m': 'last 3 months',
  '6m': 'last 6 months',
  '1y': 'last year',
};

/**
 * Returns a function that tests whether a transaction contains every word, regardless of letter
 * case and accents.
 */
export function matcher(
  text: string,
): (txn: ListedTransaction, recipientOf: RecipientOf) => boolean {
  const words = plainLetters(text)
    .split(/\s+/)
    .filter((word) => word !== '');
  return (txn, recipientOf) => {
    const texts = textsOf(txn, recipientOf).map(plainLetters);
    return words.every((word) => texts.some((text) => hasWord(text, word)));
  };
}

/**
 * Returns whether a text contains a word, at the beginning of one of its own words. In an id,
 * invoice or address, a short word such as `ada` counts only at the beginning of the whole text.
 */
function hasWord(text: string, word: string): boolean {
  if (isCode(text)) return word.length < leastPart ? text.startsWith(word) : text.includes(word);
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!/[\p{L}\p{N}]/u.test(text.charAt(at - 1))) return true;
  return false;
}

/** Whether a text is an id, an invoice or an address. */
const isCode = (text: string): boolean => /^(?=.*\d)[\w-]{26,}$/.test(text);

const leastPart = 8;

const textsOf = (txn: ListedTransaction, recipientOf: RecipientOf): string[] =>
  [
    txn.txnId,
    txn.extRefId,
    txn.note,
    recipientOf(txn.txnId),
    ...[txn.sourceReq, txn.destReq].flatMap(({ reqDetails }) => Object.values(reqDetails ?? {})),
  ].filter((value) => typeof value === 'string');

/**
 * Reads the service's list for the transactions that match a text, or without a text for all
 * transactions, up to `most` of them. Shows the progress on the live line.
 */
export async function searched(
  filter: TransactionFilter,
  text: string | undefined,
  isWanted: (txn: ListedTransaction) => boolean,
  context: Context,
  most = Infinity,
): Promise<ListedTransaction[]> {
  const { live } = context;
  const { client } = await context.account();
  const isMatch = matcher(text ?? '');
  const found: ListedTransaction[] = [];
  let read = 0;
  const progress = (): string => `Searching: ${read} transactions, ${found.length} found`;
  await live.during(progress, async () => {
    for await (const page of client.eachTransactionPage(filter)) {
      read += page.length;
      const wanted = page.filter(isWanted);
      if (text === undefined) found.push(...wanted);
      else {
        const { rows, recipientOf } = await lookUp(wanted, context);
        found.push(...rows.filter((txn) => isMatch(txn, recipientOf)));
      }
      live.update();
      if (found.length >= most) return;
    }
  });
  return found.slice(0, most);
}

/**
 * Returns whether a list shows a transaction. A list without a filter by states omits unconfirmed
 * quotes that have expired, which a service may still report in the state `quoted`.
 */
export const isListed =
  (states: readonly string[], service: Pick<ServiceClient, 'serviceNow'>) =>
  ({ txnState, sourceReq: { method, expiresAt } }: ListedTransaction): boolean =>
    states.length > 0 ||
    method !== 'servicepay' ||
    (txnState !== 'expired' &&
      !(isQuoted(txnState) && expiresAt != null && expiresAt < service.serviceNow()));

export interface HistoryPage {
  readonly transactions: readonly ListedTransaction[];
  readonly page: number;
  /** The number of all matching transactions, or null if the service does not report the number. */
  readonly total: number | null;
  readonly more: boolean;
}

/**
 * Reads a page of the service's list without omitting a row, because a page with fewer rows than
 * requested would look like the last page. If the service reports no total, a full page means that
 * more pages may follow.
 */
export async function readPage(
  filter: TransactionFilter,
  page: number,
  limit: number,
  context: Context,
): Promise<HistoryPage> {
  const { client } = await context.account();
  const { data, pagination } = await client.transactions({ ...filter, limit, page });
  const total = pagination?.total ?? null;
  const isFull =
    total === null ? data.length >= limit : page * (pagination?.limit || limit) < total;
  const more = data.length > 0 && isFull;
  const counted = more ? null : (page - 1) * limit + data.length;
  return { transactions: data, page, total: total ?? counted, more };
}

export const newestLast = (rows: readonly ListedTransaction[]): ListedTransaction[] =>
  rows.toReversed().toSorted((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0));
