// Compares the rows of a batch with earlier runs and with each other. The functions are pure: they
// take rows and earlier runs, and return remarks.
import Big from 'big.js';
import leven from 'leven';
import { formatAmount, money } from '../../formats/amount.js';
import { dayAndMonth } from '../../formats/calendar.js';
import { counted, folded, plainLetters } from '../../formats/text.js';
import {
  readRunName,
  type PastRun,
  accountKey,
  grouped,
  payeeKey,
  payeeName,
  type PaidRow,
  type Row,
} from './row.js';

export type RemarkKind =
  | 'run-again'
  | 'new-payee'
  | 'look-alike'
  | 'holder-changed'
  | 'country-changed'
  | 'wallet-changed'
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
  /** A description of the change, such as `10 times as much`. */
  readonly note: string | null;
}

const serious: ReadonlySet<RemarkKind> = new Set([
  'run-again',
  'new-payee',
  'look-alike',
  'account-changed',
  'institution-changed',
  'row-twice',
]);

/** Whether a person must accept the remark even if the run has `--yes`. */
export const needsAcceptance = ({ kind }: BatchRemark): boolean => serious.has(kind);

export interface Comparison {
  /** The latest run that shares at least half of its payees with the file. */
  readonly last: PastRun | undefined;
  readonly remarks: readonly BatchRemark[];
}

export interface CompareOptions {
  /** The name of this run, which is empty for a run without a name. */
  readonly name: string;
  /** The ratio of two amounts above which a row gets a remark. */
  readonly factor: Big;
  readonly now: number;
}

/**
 * Compares the rows with earlier runs. The rows that an earlier run paid under the same references
 * belong to this run, so that they are not compared.
 * @param runs newest first
 */
export function compareRuns(
  rows: readonly Row[],
  earlier: readonly PastRun[],
  options: CompareOptions,
): Comparison {
  const own = new Set(rows.map(({ ref }) => ref));
  const runs = earlier.flatMap(({ run, rows: paid }) => {
    const others = paid.filter(({ ref }) => !own.has(ref));
    return others.length === 0 ? [] : { run, rows: others };
  });
  const last = lastRun(rows, runs);
  const left = missing(rows, last);
  const toPay = rows.filter(({ standing }) => standing !== 'settled');
  const known = { ...knownPayees(runs), left, hasLast: last !== undefined };
  const changes = toPay.flatMap((row) => changesOf(row, known, options.factor));
  return {
    last,
    remarks: [
      ...again(toPay, runs, options),
      ...[...rows.flatMap(unresolved), ...within(rows), ...onceNew(changes)].toSorted(
        (a, b) => (a.line ?? 0) - (b.line ?? 0),
      ),
      ...left.map((row) =>
        remark('payee-missing', { ...row, line: null }, { before: amountOf(row) }),
      ),
    ],
  };
}

const dayMs = 86_400_000;

/**
 * Reports that nearly all rows have the payee and the amount of a row of one earlier run. A name of
 * the run says that it is another run, unless the earlier run is of the same day.
 */
function again(
  rows: readonly Row[],
  runs: readonly PastRun[],
  { name, now }: CompareOptions,
): BatchRemark[] {
  const asPaid = (row: PaidRow): string | undefined => {
    const payee = payeeKey(row);
    return payee && `${payee} ${row.ccy} ${row.amount}`;
  };
  for (const { run, rows: paid } of runs) {
    const { startedAt, name: before } = readRunName(run);
    const isRecent = startedAt > now - dayMs;
    const known = new Set(paid.map(asPaid));
    const same = rows.filter((row) => known.has(asPaid(row)) && asPaid(row) !== undefined).length;
    if (same < 2 || same < rows.length * 0.9) continue;
    if (name !== '' && name !== before && !isRecent) return [];
    const text = `${same} of ${counted(rows.length, 'row')}`;
    return [
      {
        kind: 'run-again',
        line: null,
        payee: text,
        before: null,
        now: null,
        note: isRecent ? 'the run of today' : `the run of ${dayAndMonth(startedAt, now)}`,
      },
    ];
  }
  return [];
}

/** Reports a row that this run pays again although an earlier run may have paid it. */
const unresolved = (row: Row): BatchRemark[] =>
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

function lastRun(rows: readonly Row[], runs: readonly PastRun[]): PastRun | undefined {
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
  for (const { rows } of runs)
    for (const [key, same] of grouped(rows, keyOf)) if (!latest.has(key)) latest.set(key, same);
  return latest;
}

const remark = (
  kind: RemarkKind,
  row: Omit<PaidRow, 'line'> & Pick<BatchRemark, 'line'>,
  change: Partial<Pick<BatchRemark, 'before' | 'now' | 'note'>> = {},
): BatchRemark => ({
  kind,
  line: row.line,
  payee: payeeName({ ...row, line: 0 }),
  before: null,
  now: null,
  note: null,
  ...change,
});

interface Known extends KnownPayees {
  /** The payees of the last run that are missing in the file. */
  readonly left: readonly PaidRow[];
  readonly hasLast: boolean;
}

function changesOf(
  row: Row,
  { byPayee, byAccount, left, hasLast }: Known,
  factor: Big,
): BatchRemark[] {
  const payee = payeeKey(row);
  if (payee === undefined) return [];
  const earlier = byPayee.get(payee);
  if (earlier !== undefined) {
    return [
      ...accountChange(row, earlier),
      ...valueChange('holder-changed', row, earlier, ({ holder }) => holder),
      ...valueChange('country-changed', row, earlier, ({ country }) => country),
      ...valueChange('wallet-changed', row, earlier, ({ from }) => from),
      ...amountChange(row, earlier, factor),
    ];
  }
  const others = byAccount.get(accountKey(row) ?? '');
  if (others === undefined) {
    const alike = lookAlike(row, left);
    return alike ?? (hasLast ? [remark('new-payee', row)] : []);
  }
  const [{ name = null } = {}] = others;
  const renamed =
    name === null || row.name === null
      ? []
      : [
          remark('name-changed', row, {
            before: name,
            now: row.name,
            note: resembles(row.name, name) ? difference(name, row.name) : null,
          }),
        ];
  return [...renamed, ...amountChange(row, others, factor)];
}

/** Reports a value that no earlier row of the payee has. */
function valueChange(
  kind: RemarkKind,
  row: Row,
  earlier: readonly PaidRow[],
  valueOf: (row: PaidRow) => string | null,
): BatchRemark[] {
  const values = earlier.flatMap((each) => valueOf(each) ?? []);
  const value = valueOf(row);
  const isKnown = values.some((each) => folded(each) === folded(value ?? ''));
  const [before] = values;
  return value === null || before === undefined || isKnown
    ? []
    : [remark(kind, row, { before, now: value })];
}

/**
 * Reports a new name that resembles the name of a missing payee, or mixes Latin letters with
 * letters of other scripts that look alike.
 */
function lookAlike(row: Row, left: readonly PaidRow[]): BatchRemark[] | undefined {
  const { name } = row;
  if (name === null) return undefined;
  const twin = left.find((each) => each.name !== null && resembles(name, each.name));
  if (twin?.name != null) {
    const note = `resembles ${twin.name}: ${difference(twin.name, name)}`;
    return [remark('look-alike', row, { before: place(twin), now: place(row), note })];
  }
  const foreign = [...name].find((letter) => latin.has(letter.toLowerCase()));
  if (foreign === undefined || !/\p{Script=Latin}/u.test(name)) return undefined;
  const note = `${quoted(foreign)} looks like "${latin.get(foreign.toLowerCase()) ?? ''}"`;
  return [remark('look-alike', row, { note })];
}

/** The Cyrillic and Greek letters that look like a Latin letter. */
const latin: ReadonlyMap<string, string> = new Map(
  'аa вb еe кk мm нh оo рp сc тt уy хx ѕs іi јj һh ԁd ԛq ԝw αa βb εe ηn ιi κk νv οo ρp τt υu χx'
    .split(' ')
    .map(([letter = '', like = '']) => [letter, like]),
);

/** The name without the differences that people overlook. */
const outline = (name: string): string =>
  [...plainLetters(folded(name))]
    .map((letter) => latin.get(letter) ?? letter)
    .join('')
    .replaceAll('0', 'o')
    .replaceAll(/[1|i]/g, 'l')
    .replaceAll(/[^\p{L}\p{N}]/gu, '');

const resembles = (one: string, other: string): boolean => {
  const [a, b] = [outline(one), outline(other)];
  return leven(a, b) <= (a.length < 10 ? 1 : 2);
};

/** Describes the first letter that differs. */
function difference(before: string, now: string): string {
  const [a, b] = [[...before], [...now]];
  const at = b.findIndex((letter, i) => letter !== a[i]);
  const i = at < 0 ? b.length : at;
  return `letter ${i + 1} is ${quoted(b[i])}, not ${quoted(a[i])}`;
}

const quoted = (letter: string | undefined): string => {
  if (letter === undefined) return 'missing';
  const code = (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return /[ -~]/.test(letter) ? `"${letter}"` : `"${letter}" (U+${code})`;
};

function accountChange(row: Row, earlier: readonly PaidRow[]): BatchRemark[] {
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
function amountChange(row: Row, earlier: readonly PaidRow[], factor: Big): BatchRemark[] {
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

const timesText = (times: Big, isMore: boolean): string =>
  `${times.round(times.lt(10) ? 1 : 0).toFixed()} times ${isMore ? 'as much' : 'less'}`;

/**
 * Reports rows of the file that differ only in their references, and accounts that occur under two
 * names.
 */
function within(rows: readonly Row[]): BatchRemark[] {
  const firstOf = new Map<string, Row>();
  const namedFirst = new Map<string, Row>();
  return rows.flatMap((row) => {
    const account = accountKey(row);
    if (account === undefined) return [];
    const twin = firstOf.get(row.content);
    const named = namedFirst.get(account);
    if (twin === undefined) firstOf.set(row.content, row);
    if (named === undefined && row.name !== null) namedFirst.set(account, row);
    const isNew = (other: Row): boolean =>
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

const twice = (row: Row, { line, ref }: Row): BatchRemark =>
  remark('row-twice', row, {
    before: `line ${line} (${ref})`,
    now: row.ref,
    note: 'the rows differ only in the reference',
  });

const twoNames = (row: Row, { line, name }: Row): BatchRemark =>
  remark('two-names', row, { before: `${name ?? ''} on line ${line}`, now: place(row) });

/** The payees of the last run that the file lacks. */
function missing(rows: readonly Row[], last: PastRun | undefined): PaidRow[] {
  const present = new Set(rows.flatMap(keysOf));
  const payees = new Map((last?.rows ?? []).map((row) => [payeeKey(row), row]));
  return [...payees].flatMap(([key, row]) =>
    key === undefined || keysOf(row).some((each) => present.has(each)) ? [] : row,
  );
}
