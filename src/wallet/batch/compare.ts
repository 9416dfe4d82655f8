// Compares the rows of a batch with earlier runs and with each other. The functions are pure: they
// take rows and earlier runs, and return remarks.
import Big from 'big.js';
import { formatAmount, money } from '../../formats/amount.js';
import { accountKey, payeeKey, payeeName, type PaidRow, type PayeeRow } from './payee.js';

/** A run of a batch, with the rows that it paid. */
export interface PastRun {
  /** The name of the run. See `BatchMark`. */
  readonly run: string;
  readonly rows: readonly PaidRow[];
}

export type RemarkKind =
  | 'new-payee'
  | 'account-changed'
  | 'institution-changed'
  | 'name-changed'
  | 'amount-changed'
  | 'payee-missing'
  | 'two-names'
  | 'row-twice'
  | 'may-be-paid';

export interface BatchRemark {
  readonly kind: RemarkKind;
  /** The line number of the payee's row in the file, or null for a payee that the file lacks. */
  readonly line: number | null;
  readonly payee: string;
  readonly before: string | null;
  readonly now: string | null;
  /** A description of the change, such as `ten times as much`. */
  readonly note: string | null;
}

/** Whether a person must accept the remark even if the run has `--yes`. */
export const needsAcceptance = ({ kind }: BatchRemark): boolean =>
  kind === 'account-changed' || kind === 'institution-changed' || kind === 'row-twice';

export interface Comparison {
  /** The latest run that shares at least half of its payees with the file. */
  readonly last: PastRun | undefined;
  readonly remarks: readonly BatchRemark[];
}

/**
 * Compares the rows with earlier runs.
 * @param runs newest first
 * @param factor the ratio of two amounts above which a row gets a remark
 */
export function compareRuns(
  rows: readonly PayeeRow[],
  runs: readonly PastRun[],
  factor: Big,
): Comparison {
  const last = lastRun(rows, runs);
  const payees = knownPayees(runs);
  const toPay = rows.filter(({ standing }) => standing !== 'settled');
  const changes = toPay.flatMap((row) => changesOf(row, payees, factor, last !== undefined));
  return {
    last,
    remarks: [...rows.flatMap(unresolved), ...within(rows), ...onceNew(changes)]
      .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
      .concat(missing(rows, last)),
  };
}

/** Reports a row that this run pays again although an earlier run may have paid it. */
const unresolved = (row: PayeeRow): BatchRemark[] =>
  row.standing === 'unknown' ? [remark('may-be-paid', row)] : [];

/** Keeps one remark for a new payee with several rows, on the first row of the payee. */
function onceNew(remarks: readonly BatchRemark[]): BatchRemark[] {
  const seen = new Set<string>();
  return remarks.filter(({ kind, payee }) => {
    if (kind !== 'new-payee') return true;
    const isFirst = !seen.has(payee);
    seen.add(payee);
    return isFirst;
  });
}

/**
 * The payee key and the account key of a row. If only the payee key matches an earlier row, the
 * account has changed. If only the account key matches an earlier row, the payee has changed.
 */
const keysOf = (row: PaidRow): string[] =>
  [payeeKey(row), accountKey(row)].flatMap((key) => key ?? []);

function lastRun(rows: readonly PayeeRow[], runs: readonly PastRun[]): PastRun | undefined {
  const present = new Set(rows.flatMap(keysOf));
  return runs.find((run) => {
    const payees = new Map(run.rows.map((row) => [payeeKey(row), row]));
    const here = [...payees.values()].filter((row) => keysOf(row).some((key) => present.has(key)));
    return here.length > 0 && here.length * 2 >= payees.size;
  });
}

interface KnownPayees {
  /** The rows of each payee in the latest run that paid the payee. */
  readonly byPayee: ReadonlyMap<string, readonly PaidRow[]>;
  readonly byAccount: ReadonlyMap<string, readonly PaidRow[]>;
}

function knownPayees(runs: readonly PastRun[]): KnownPayees {
  return { byPayee: latestBy(runs, payeeKey), byAccount: latestBy(runs, accountKey) };
}

function latestBy(
  runs: readonly PastRun[],
  keyOf: (row: PaidRow) => string | undefined,
): Map<string, PaidRow[]> {
  const latest = new Map<string, PaidRow[]>();
  for (const { rows } of runs) {
    const inRun = new Map<string, PaidRow[]>();
    for (const row of rows) {
      const key = keyOf(row);
      if (key === undefined || latest.has(key)) continue;
      const same = inRun.get(key);
      if (same === undefined) inRun.set(key, [row]);
      else same.push(row);
    }
    for (const [key, same] of inRun) latest.set(key, same);
  }
  return latest;
}

const remark = (
  kind: RemarkKind,
  row: PayeeRow,
  change: Partial<Pick<BatchRemark, 'before' | 'now' | 'note'>> = {},
): BatchRemark => ({
  kind,
  line: row.line,
  payee: payeeName(row),
  before: null,
  now: null,
  note: null,
  ...change,
});

function changesOf(
  row: PayeeRow,
  { byPayee, byAccount }: KnownPayees,
  factor: Big,
  hasLast: boolean,
): BatchRemark[] {
  const payee = payeeKey(row);
  if (payee === undefined) return [];
  const account = accountKey(row) ?? '';
  const earlier = byPayee.get(payee);
  if (earlier !== undefined)
    return [...accountChange(row, earlier), ...amountChange(row, earlier, factor)];
  const others = byAccount.get(account);
  if (others === undefined) return hasLast ? [remark('new-payee', row)] : [];
  const [{ name = null } = {}] = others;
  const renamed =
    name === null || row.name === null
      ? []
      : [remark('name-changed', row, { before: name, now: row.name })];
  return [...renamed, ...amountChange(row, others, factor)];
}

function accountChange(row: PayeeRow, earlier: readonly PaidRow[]): BatchRemark[] {
  const [first] = earlier;
  // A URI can be paid to any of its keys, so each must be known.
  const unknown = row.keys.filter((key) => earlier.every(({ keys }) => !keys.includes(key)));
  if (first === undefined || unknown.length === 0) return [];
  const same = earlier.find(({ account }) => account === row.account);
  if (same !== undefined && same.institution === row.institution)
    return [remark('account-changed', row, { before: same.account, now: unknown.join(' ') })];
  if (same !== undefined)
    return [remark('institution-changed', row, { before: bank(same), now: bank(row) })];
  const isSameBank = first.institution === row.institution;
  const change = isSameBank
    ? { before: first.account, now: row.account }
    : { before: place(first), now: place(row) };
  return [remark('account-changed', row, change)];
}

const bank = ({ institution, institutionName }: PaidRow): string =>
  institutionName === null || institution === null
    ? (institution ?? '')
    : `${institutionName} (${institution})`;

const place = (row: PaidRow): string =>
  [row.account, bank(row)].filter((part) => part !== '').join(' · ');

/**
 * Compares the row's amount with the closest amount that an earlier run paid to the payee,
 * preferably to the same account.
 */
function amountChange(row: PayeeRow, earlier: readonly PaidRow[], factor: Big): BatchRemark[] {
  const same = earlier.filter((each) => accountKey(each) === accountKey(row));
  const among = same.length > 0 ? same : earlier;
  const inCcy = among.filter(({ ccy }) => ccy === row.ccy);
  const [closest] = inCcy.toSorted((a, b) => ratio(row, a).cmp(ratio(row, b)));
  const before = closest ?? among[0];
  if (before === undefined) return [];
  const change = { before: amountOf(before), now: amountOf(row) };
  if (closest === undefined)
    return [remark('amount-changed', row, { ...change, note: 'in another currency' })];
  if (ratio(row, closest).lte(factor)) return [];
  const isMore = new Big(row.amount).gt(closest.amount);
  return [
    remark('amount-changed', row, { ...change, note: timesText(ratio(row, closest), isMore) }),
  ];
}

const amountOf = ({ ccy, amount }: PaidRow): string => formatAmount(money(ccy, amount));

/** The larger amount divided by the smaller amount. */
function ratio({ amount: one }: PaidRow, { amount: other }: PaidRow): Big {
  const [a, b] = [new Big(one), new Big(other)];
  if (a.eq(0) || b.eq(0)) return new Big(a.eq(b) ? 1 : Number.MAX_SAFE_INTEGER);
  return a.gt(b) ? a.div(b) : b.div(a);
}

const numerals = 'two three four five six seven eight nine ten'.split(' ');

function timesText(times: Big, isMore: boolean): string {
  const rounded = times.round(times.lt(10) ? 1 : 0);
  const count = numerals[rounded.eq(rounded.round(0)) ? rounded.toNumber() - 2 : -1];
  const text = count ?? rounded.toFixed();
  return isMore ? `${text} times as much` : `${text} times less`;
}

/**
 * Reports rows of the file that differ only in their references, and accounts that occur under two
 * names.
 */
function within(rows: readonly PayeeRow[]): BatchRemark[] {
  const firstOf = new Map<string, PayeeRow>();
  const namedFirst = new Map<string, PayeeRow>();
  return rows.flatMap((row) => {
    const account = accountKey(row);
    if (account === undefined) return [];
    const twin = firstOf.get(row.content);
    const named = namedFirst.get(account);
    if (twin === undefined) firstOf.set(row.content, row);
    if (named === undefined && row.name !== null) namedFirst.set(account, row);
    const isNew = (other: PayeeRow): boolean =>
      row.standing !== 'settled' || other.standing !== 'settled';
    return [
      ...(twin !== undefined && isNew(twin) ? [twice(row, twin)] : []),
      ...(named !== undefined &&
      isNew(named) &&
      row.name !== null &&
      payeeKey(named) !== payeeKey(row)
        ? [twoNames(row, named)]
        : []),
    ];
  });
}

const twice = (row: PayeeRow, { line, ref }: PayeeRow): BatchRemark =>
  remark('row-twice', row, {
    before: `line ${line} (${ref})`,
    now: row.ref,
    note: 'the rows differ only in the reference',
  });

const twoNames = (row: PayeeRow, { line, name }: PayeeRow): BatchRemark =>
  remark('two-names', row, { before: `${name ?? ''} on line ${line}`, now: place(row) });

function missing(rows: readonly PayeeRow[], last: PastRun | undefined): BatchRemark[] {
  const present = new Set(rows.flatMap(keysOf));
  const payees = new Map((last?.rows ?? []).map((row) => [payeeKey(row), row]));
  return [...payees].flatMap(([key, row]) =>
    key === undefined || keysOf(row).some((each) => present.has(each))
      ? []
      : {
          kind: 'payee-missing' as const,
          line: null,
          payee: payeeName(row),
          before: amountOf(row),
          now: null,
          note: null,
        },
  );
}
