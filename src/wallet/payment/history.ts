// What the service's list says of references. The service has no look-up by reference, so its list is read once, and from
// then on only what is new since; what was seen is kept in the journal.
import type { ListedTransaction, TransactionFilter, TransactionPage } from '../../api/types.js';
import type { ReferenceIndex, SeenTransaction } from '../../store/journal/journal.js';

export interface ListService {
  eachTransaction(filter: TransactionFilter): AsyncIterable<ListedTransaction>;
  transactions(filter: TransactionFilter): Promise<TransactionPage>;
  serviceNow(): number;
}

export interface HistoryDeps {
  readonly service: ListService;
  readonly references: ReferenceIndex;
  readonly scope: string;
  /** Called while a long list is read: how many transactions so far. */
  readonly onRead: (count: number) => void;
}

export interface History {
  /**
   * Reads what the list has had since `from` (epoch ms by the service's clock), as far as that is not known. Resolves
   * when a reading that began after the call is over: calls at the same time share one.
   */
  update(from: number): Promise<void>;
  /** Reads all of it once more: where the list was not of one piece while it was read, something can have been missed. */
  readAnew(from: number): Promise<void>;
  /** Reads only if that has not been done for a while; for what is looked at once more before money moves. */
  updateOnce(from: number): Promise<void>;
  /** All attempts under a reference, see `attemptOf`. */
  attempts(ref: string): Promise<readonly Attempt[]>;
}

export interface Attempt extends SeenTransaction {
  /** 1 for `R`, n for `R~n`. */
  readonly number: number;
}

/** A list may show a transaction this much later than it was created: this much is read again. */
const overlapMs = 120_000;
const pageSize = 100;
/** A page that has fewer rows, and says that these are all, is believed: no service has pages that small. */
const smallPage = 10;
const notedAtOnce = 1_000;
const freshMs = 30_000;

export function openHistory({ service, references, scope, onRead }: HistoryDeps): History {
  let running: Promise<void> | undefined;
  let next: { from: number; reading: Promise<void> } | undefined;
  let updatedAt = Number.NEGATIVE_INFINITY;

  const read = async (from: number): Promise<void> => {
    const span = await references.covered(scope);
    const isKnown = span !== undefined && span.from <= from;
    const since = isKnown ? Math.max(from, span.to - overlapMs) : from;
    const newest = (await readNewest(since)) ?? (await readAll(since));
    // Its answers have told the service's time. What was read up to a time that is yet to come was dated by a clock that
    // has been set back since: what is new may be anywhere in it.
    const now = service.serviceNow();
    if (isKnown && span.to > now + overlapMs) await readAll(from);
    // A row that is dated ahead of the rest says nothing of what is created until then.
    await references.note(scope, [], { from: since, to: Math.max(since, Math.min(newest, now)) });
    updatedAt = now;
  };

  /**
   * Reads the first page and the last ones, where their rows and those that are known already are all that there are.
   * Resolves with the moment of the latest creation: how far the list was read is told by the service's own timestamps,
   * since a clock that is wrong would pass over what it takes for the past.
   */
  const readNewest = async (since: number): Promise<number | undefined> => {
    const known = await references.countSince(scope, since);
    // More than a page proves by itself: where the list will end is asked for meanwhile, which halves the time of a look.
    const end = known < smallPage ? 1 : Math.max(2, Math.ceil((known + 1) / pageSize));
    const [first, ahead] = await Promise.all([page(since, 1), end === 1 ? undefined : page(since, end)]);
    const { total, rows } = first;
    if (rows === 0) return since;
    if (total === undefined) return undefined;
    if (total === rows) return rows < smallPage || (end === 2 && ahead?.rows === 0) ? first.newest : undefined;
    const pages = ahead === undefined ? [first] : [first, ahead];
    const count = await references.countSince(scope, since);
    if (count > total || total - count > rows) return undefined;
    // Where the oldest come first, what is new comes last, and where their number is an old one, behind what it counts.
    const lastPage = Math.ceil((total + 1) / rows);
    for (let at = Math.ceil((count + 1) / rows); at <= lastPage; at += 1) if (at !== end) pages.push(await page(since, at));
    const isAll = pages.at(-1)?.total === (await references.countSince(scope, since));
    return isAll ? newestOf(pages.map(({ newest }) => ({ createdAt: newest }))) : undefined;
  };

  const page = async (since: number, number: number) => {
    const { data, pagination } = await service.transactions({ ...spanFilter(since), page: number });
    await references.note(scope, data.filter(isRead).map((row) => seen(row, since)));
    return { rows: data.length, total: pagination?.total ?? undefined, newest: newestOf(data) };
  };

  const readAll = async (since: number): Promise<number> => {
    let rows: SeenTransaction[] = [];
    let [count, newest] = [0, since];
    for await (const row of service.eachTransaction(spanFilter(since))) {
      if (isRead(row)) rows.push(seen(row, since));
      newest = Math.max(newest, row.createdAt ?? since);
      count += 1;
      if (rows.length < notedAtOnce) continue;
      await references.note(scope, rows);
      onRead(count);
      rows = [];
    }
    await references.note(scope, rows);
    return newest;
  };

  const update = (from: number): Promise<void> => {
    if (running === undefined) {
      running = read(from).finally(() => (running = undefined));
      return running;
    }
    const before = running;
    const earliest = Math.min(from, next?.from ?? from);
    const reading = next?.reading ?? before.catch(() => undefined).then(() => {
      const wanted = next?.from ?? from;
      next = undefined;
      return update(wanted);
    });
    next = { from: earliest, reading };
    return reading;
  };

  return {
    update,
    readAnew: async (from) => void (await readAll(from)),
    updateOnce: async (from) => {
      const span = await references.covered(scope);
      const isFresh = span !== undefined && span.from <= from && Math.abs(service.serviceNow() - updatedAt) < freshMs;
      if (!isFresh) await update(from);
    },
    async attempts(ref) {
      const rows = await references.attempts(scope, ref);
      return rows
        .flatMap((row) => {
          const number = attemptOf(ref, row.extRefId);
          return number === undefined ? [] : [{ ...row, number }];
        })
        .toSorted((a, b) => a.number - b.number || a.createdAt - b.createdAt || (a.txnId < b.txnId ? -1 : 1));
    },
  };
}

/** Undefined where a row does not say when it was created: then what is known of the list cannot be counted. */
const newestOf = (rows: readonly Pick<ListedTransaction, 'createdAt'>[]): number | undefined =>
  rows.reduce<number | undefined>((newest, { createdAt }) => (newest === undefined || createdAt == null ? undefined : Math.max(newest, createdAt)), 0);

/** A row that was not understood has no id. */
const isRead = ({ txnId }: ListedTransaction): boolean => txnId !== '';

const seen = ({ txnId, extRefId, createdAt }: ListedTransaction, since: number): SeenTransaction => ({
  txnId,
  extRefId: extRefId ?? null,
  createdAt: createdAt ?? since,
});

/** Until a day that no clock has reached: the one here may be slow. */
const endTime = '2100-01-01T00:00:00.000Z';

/** What was created since, all of it. */
export const spanFilter = (since: number): TransactionFilter => ({
  time: 'other',
  startTime: new Date(Math.max(since, 0)).toISOString(),
  endTime,
  limit: pageSize,
});

/** Attempt 1 carries the reference itself, later ones a number: an extRefId serves one transaction only. */
export const attemptRef = (ref: string, attempt: number): string => (attempt === 1 ? ref : `${ref}~${attempt}`);

function attemptOf(ref: string, extRefId: string | null): number | undefined {
  if (extRefId === null) return undefined;
  if (extRefId === ref) return 1;
  const [base, number] = attemptNamed(extRefId);
  return base === ref ? number : undefined;
}

/** The payment and the number of its attempt that a reference at the service stands for: `R~2` is the second of `R`. */
export function attemptNamed(extRefId: string): readonly [ref: string, attempt: number] {
  const [, ref, number] = /^(.+)~([2-9]|[1-9]\d{1,5})$/.exec(extRefId) ?? [];
  return ref === undefined ? [extRefId, 1] : [ref, Number(number)];
}
