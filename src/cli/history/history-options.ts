// The filters of the history, shared by `tx list` and `tx export`. Specification: endpoint 10.
import type { WalletClient } from '../../api/client.js';
import type { TransactionFilter } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { parseInstant, type Instant } from '../../formats/instant.js';
import { transactionStates } from '../../formats/states.js';
import type { ValuesOf } from '../define.js';
import { choice, word } from '../values.js';

const times = ['1d', '7d', '30d', '3m', '6m', '1y'] as const;

const instant = () => word('TIME', parseInstant).optional();

const methods = () =>
  word('METHOD', (given) => {
    if (/^[a-z][a-z0-9-]{0,39}$/.test(given)) return given;
    throw new Failure('usage', `"${given}" is not a method. Write one such as lightning, on-chain or servicepay.`);
  }).repeated();

export const historyOptions = {
  time: choice(times, 'PERIOD').optional().describe(`the last ${times.join(', ')}`),
  since: instant().describe('from then on: 2h, 7d, 2026-03-01 or 2026-03-01T14:30:00Z'),
  until: instant().describe('up to then, inclusive'),
  state: choice(transactionStates, 'STATE').repeated().describe('only this state; may be repeated'),
  srcMethod: methods().describe('only from this source, such as servicepay or lightning'),
  destMethod: methods().describe('only to this destination, such as lightning or on-chain'),
  excludeSrcMethod: methods().describe('nothing from this source'),
  excludeDestMethod: methods().describe('nothing to this destination'),
};

type HistoryFlags = ValuesOf<typeof historyOptions>;

const dayMs = 86_400_000;

/**
 * The filter as the service takes it. Throws Failure `usage` for periods that contradict each other.
 *
 * @param otherwise the period where none is given; `always` for everything there is
 */
export async function historyFilter(
  flags: HistoryFlags,
  otherwise: 'always' | 'recent',
  service: WalletClient,
): Promise<TransactionFilter> {
  const { time, since, until, state, srcMethod, destMethod, excludeSrcMethod, excludeDestMethod } = flags;
  if (time !== undefined && (since !== undefined || until !== undefined)) {
    throw new Failure('usage', 'Give either --time or --since and --until, not both.');
  }
  const isBounded = since !== undefined || until !== undefined;
  const all = time === undefined && otherwise === 'always';
  return {
    ...(isBounded || all ? await period(since, until, service) : { time }),
    txnStatuses: state,
    srcMethods: joined(srcMethod),
    destMethods: joined(destMethod),
    excludedSrcMethods: joined(excludeSrcMethod),
    excludedDestMethods: joined(excludeDestMethod),
  };
}

const joined = (words: readonly string[]): string | undefined => (words.length === 0 ? undefined : words.join(','));

async function period(since: Instant | undefined, until: Instant | undefined, service: WalletClient) {
  const isRelative = [since, until].some((each) => each !== undefined && 'ago' in each);
  // "Two hours ago" is by the service's clock, which its first answer tells.
  if (isRelative) await service.transactions({ limit: 1 });
  const now = service.serviceNow();
  const start = since === undefined ? 0 : 'ago' in since ? now - since.ago : since.first;
  const end = until === undefined ? now + dayMs : 'ago' in until ? now - until.ago : until.last;
  if (start > end) throw new Failure('usage', 'Nothing lies between these times: --since is later than --until.');
  return { time: 'other', startTime: isoTime(start), endTime: isoTime(end) } as const;
}

const isoTime = (at: number): string => new Date(Math.max(at, 0)).toISOString();
