// Compares the rows of a batch with earlier runs and with each other. The functions are pure: they
// take rows and earlier runs, and return remarks.
import Big from 'big.js';
import leven from 'leven';
import { formatAmount, money } from '../../formats/amount.js';
import { dayAndMonth } from '../../formats/calendar.js';
import { counted, folded, grouped, plainLetters } from '../../formats/text.js';
import {
  readRunName,
  type PastRun,
  accountKey,
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
  const runs = earlier
    .map(({ run, rows: paid }) => ({ run, rows: paid.filter(({ ref }) => !own.has(ref)) }))
    .filter(({ rows: paid }) => paid.length > 0);
  const present = new Set(rows.flatMap(keysOf));
  const isHere = (row: PaidRow): boolean => keysOf(row).some((key) => present.has(key));
  const last = runs.find(({ rows: paid }) => {
    const payees = payeesOf(paid);
    const here = payees.filter(isHere).length;
    return here > 0 && here * 2 >= payees.length;
  });
  const missing = payeesOf(last?.rows ?? []).filter((row) => !isHere(row));
  const toPay = rows.filter(({ standing }) => standing !== 'settled');
  const known = { earlier: latestRows(runs), missing, hasLast: last !== undefined };
  const changes = toPay.flatMap((row) => changesOf(row, known, options.factor));
  return {
    last,
    remarks: [
      ...again(toPay, runs, options),
      ...[...rows.flatMap(unresolved), ...within(rows), ...onceNew(changes)].toSorted(
        (a, b) => (a.line ?? 0) - (b.line ?? 0),
      ),
      ...missing.map((row) => ({
        ...remark('payee-missing', row, { before: amountOf(row) }),
        line: null,
      })),
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
    const known = new Set(paid.flatMap((row) => asPaid(row) ?? []));
    const same = rows.filter((row) => known.has(asPaid(row) ?? '')).length;
    if (same < 2 || same < rows.length * 0.9) continue;
    const { startedAt, name: before } = readRunName(run);
    const isRecent = startedAt > now - dayMs;
    if (name !== '' && name !== before && !isRecent) return [];
    const payee = `${same} of ${counted(rows.length, 'row')}`;
    const note = `the run of ${isRecent ? 'today' : dayAndMonth(startedAt, now)}`;
    return [{ kind: 'run-again', line: null, payee, before: null, now: null, note }];
  }
  return [];
}

/** Reports a row that this run pays again although an earlier run may have paid it. */
const unresolved = (row: Row): BatchRemark[] =>
  row.standing === 'unknown' ? [remark('may-be-paid', row)] : [];

/** Keeps one remark for a new payee with several rows, on the first row of the payee. */
function onceNew(remarks: readonly BatchRemark[]): BatchRemark[] {
  const seen = new Set<string>();
  return remarks.filter(
    ({ kind, payee }) => kind !== 'new-payee' || seen.size < seen.add(payee).size,
  );
}

/**
 * The payee key and the account key of a row. If only the payee key matches an earlier row, the
 * account has changed. If only the account key matches an earlier row, the payee has changed.
 */
const keysOf = (row: PaidRow): string[] =>
  [payeeKey(row), accountKey(row)].flatMap((key) => key ?? []);

/** The last row of each payee, without invoices, because each invoice is a payee of its own. */
const payeesOf = (rows: readonly PaidRow[]): PaidRow[] =>
  [...grouped(rows, payeeKey).values()].flatMap((group) => group.at(-1) ?? []);

/** The rows of each payee, and of each account, in the latest run that paid them. */
function latestRows(runs: readonly PastRun[]): ReadonlyMap<string, readonly PaidRow[]> {
  const latest = new Map<string, PaidRow[]>();
  for (const { rows } of runs)
    for (const keyOf of [payeeKey, accountKey])
      for (const [key, same] of grouped(rows, keyOf)) if (!latest.has(key)) latest.set(key, same);
  return latest;
}

const remark = (
  kind: RemarkKind,
  row: PaidRow,
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

interface Known {
  /** The earlier rows by the keys of their payees and accounts. */
  readonly earlier: ReadonlyMap<string, readonly PaidRow[]>;
  /** The payees of the last run that are missing in the file. */
  readonly missing: readonly PaidRow[];
  readonly hasLast: boolean;
}

/** The remarks about values of which a payee has a new one. */
const valueChanges = {
  holder: 'holder-changed',
  country: 'country-changed',
  from: 'wallet-changed',
} as const;

function changesOf(row: Row, { earlier, missing, hasLast }: Known, factor: Big): BatchRemark[] {
  const payee = payeeKey(row);
  if (payee === undefined) return [];
  const ofPayee = earlier.get(payee);
  if (ofPayee !== undefined)
    return [
      ...accountChange(row, ofPayee),
      ...(['holder', 'country', 'from'] as const).flatMap((part) =>
        valueChange(row, ofPayee, part),
      ),
      ...amountChange(row, ofPayee, factor),
    ];
  const ofAccount = earlier.get(accountKey(row) ?? '');
  if (ofAccount === undefined)
    return lookAlike(row, missing) ?? (hasLast ? [remark('new-payee', row)] : []);
  const [{ name: before = null } = {}] = ofAccount;
  const { name: now } = row;
  const isRenamed = before !== null && now !== null;
  const note = isRenamed && resembles(now, before) ? difference(before, now) : null;
  return [
    ...(isRenamed ? [remark('name-changed', row, { before, now, note })] : []),
    ...amountChange(row, ofAccount, factor),
  ];
}

/** Reports a value that no earlier row of the payee has. */
function valueChange(
  row: Row,
  earlier: readonly PaidRow[],
  part: keyof typeof valueChanges,
): BatchRemark[] {
  const values = earlier.flatMap((each) => each[part] ?? []);
  const now = row[part];
  const [before] = values;
  return now === null || before === undefined || values.some((each) => folded(each) === folded(now))
    ? []
    : [remark(valueChanges[part], row, { before, now })];
}

/**
 * Reports a new name that resembles the name of a missing payee, or mixes Latin letters with
 * letters of other scripts that look alike.
 */
function lookAlike(row: Row, missing: readonly PaidRow[]): BatchRemark[] | undefined {
  const { name } = row;
  if (name === null) return undefined;
  const twin = missing.find((each) => each.name !== null && resembles(name, each.name));
  if (twin?.name != null) {
    const note = `resembles ${twin.name}: ${difference(twin.name, name)}`;
    return [remark('look-alike', row, { before: place(twin), now: place(row), note })];
  }
  const foreign = [...name].find((letter) => latin.has(letter.toLowerCase()));
  if (foreign === undefined || !/\p{Script=Latin}/u.test(name)) return undefined;
  const note = `${quoted(foreign)} looks like "${latin.get(foreign.toLowerCase())}"`;
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
  if (same === undefined) {
    const words = first.institution === row.institution ? accountOf : place;
    return [remark('account-changed', row, { before: words(first), now: words(row) })];
  }
  return [
    same.institution === row.institution
      ? remark('account-changed', row, { before: same.account, now: unknown.join(' ') })
      : remark('institution-changed', row, { before: bank(same), now: bank(row) }),
  ];
}

const accountOf = ({ account }: PaidRow): string => account;

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
  const times = closest && ratio(row, closest);
  if (times?.lte(factor) === true) return [];
  const note =
    times === undefined
      ? 'in another currency'
      : new Big(row.amount).gt(before.amount)
        ? `${times.round(times.lt(10) ? 1 : 0).toFixed()} times as much`
        : `only ${times.pow(-1).times(100).prec(2).toFixed()} % as much`;
  return [remark('amount-changed', row, { before: amountOf(before), now: amountOf(row), note })];
}

const amountOf = ({ ccy, amount }: PaidRow): string => formatAmount(money(ccy, amount));

/** The larger amount divided by the smaller amount. */
function ratio({ amount: one }: PaidRow, { amount: other }: PaidRow): Big {
  const [a, b] = [new Big(one), new Big(other)];
  if (a.eq(0) || b.eq(0)) return new Big(a.eq(b) ? 1 : Number.MAX_SAFE_INTEGER);
  return a.gt(b) ? a.div(b) : b.div(a);
}

/**
 * Reports rows of the file that differ only in their references, and accounts that occur under two
 * names.
 */
function within(rows: readonly Row[]): BatchRemark[] {
  const firstOf = new Map<string, Row>();
  /** The first row with a key, if it is another row, and this run pays one of both. */
  const earlierWith = (key: string, row: Row): Row | undefined => {
    const first = firstOf.get(key);
    if (first === undefined) firstOf.set(key, row);
    return row.standing === 'settled' && first?.standing === 'settled' ? undefined : first;
  };
  return rows.flatMap((row) => {
    const account = accountKey(row);
    if (account === undefined) return [];
    const twin = earlierWith(row.content, row);
    const named = row.name === null ? undefined : earlierWith(account, row);
    return [
      ...(twin === undefined ? [] : [twice(row, twin)]),
      ...(named === undefined || payeeKey(named) === payeeKey(row) ? [] : [twoNames(row, named)]),
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
