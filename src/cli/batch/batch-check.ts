// The options of svcpay batch and the columns of its file. Turns rows into payments, and checks
// all of them before the first payment.
import { type Money, checkGrouping, parseAmount } from '../../formats/amount.js';
import { Failure, invalid } from '../../formats/failure.js';
import { counted, clip, columnOf } from '../../formats/text.js';
import type { Command } from '../../terminal/next-step.js';
import { sanitize, wrap } from '../../terminal/text.js';
import { checkBatch, type BatchCheck, type Lookup } from '../../wallet/batch/check.js';
import { type Row, derivedRef, plannedRow } from '../../wallet/batch/row.js';
import {
  type BatchRow,
  type Problem,
  type Columns,
  CellFailure,
  cellFailure,
  inColumn,
} from '../../wallet/batch/file.js';
import type { BudgetOfRun } from '../../wallet/payment/model.js';
import { ownAddressGuard } from '../../wallet/instruction/order.js';
import type { Context } from '../context.js';
import { limitsInForce } from '../limits/in-force.js';
import { spentToday } from '../payment/payment-flow.js';
import {
  openLookUp,
  withInstitution,
  completePayout,
  readDraft,
  answerOptions,
  missingAnswers,
  type PayoutAnswers,
} from '../payout/payout-flow.js';
import Big from 'big.js';
import { paymentOptions, reference } from '../payment/payment-options.js';
import {
  choice,
  currency,
  duration,
  file,
  flag,
  literal,
  text,
  whole,
  type ValuesOf,
  readAll,
  type RawValues,
} from '../values.js';
import type { Institution } from '../../api/types.js';
import { type Contacts, type Profile, contactNamed } from '../../store/profile/profiles.js';
import { detectDestination } from '../../formats/destination.js';
import { countryAt } from '../../wallet/payout/methods.js';
import { resultFields } from '../../terminal/cards/batch-view.js';
import { digestOf, type Instruction } from '../../wallet/instruction/instruction.js';
import {
  readSend,
  readSendNow,
  type SendEnvironment,
  type SendWords,
} from '../../wallet/instruction/send.js';

function parseFactor(text: string): Big {
  if (/^\d{1,6}(?:\.\d{1,6})?$/.test(text) && new Big(text).gte(1)) return new Big(text);
  throw invalid(`"${clip(text)}" is not a factor. Write a number such as 1.5 or 2.`);
}

export const batchOptions = {
  dryRun: flag().describe('check every row and show payees, costs and changes, but send nothing'),
  ignoreColumns: flag().describe('ignore unknown columns'),
  acceptChanges: flag().describe(
    'with --yes, also pay new payees, changed accounts, duplicate rows and a repeated run',
  ),
  factor: literal('NUMBER', parseFactor)
    .otherwise(new Big('1.5'))
    .describe(
      "report amounts that differ from the payee's last amount by more than this factor " +
        '(default 1.5)',
    ),
  concurrency: whole(1, 64).otherwise(4).describe('pay this many rows at a time (default 4)'),
  onError: choice(['continue', 'stop'])
    .otherwise('continue')
    .describe('after a failed row, continue or stop (default continue)'),
  result: file()
    .optional()
    .describe('write the outcome of every row to this file (default FILE.result.csv; none for -)'),
  name: text('NAME')
    .otherwise('')
    .describe('name of the run; the same rows under another name are paid again'),
  from: currency()
    .optional()
    .describe('wallet to pay from if the row has none (default BTC, or USDT for TRON)'),
  maxFee: paymentOptions.maxFee.describe('highest fee per row, e.g. 100sat or 1%'),
  maxRateLoss: paymentOptions.maxRateLoss,
  wait: paymentOptions.wait.describe(
    'wait until every row is settled (default: only for Lightning)',
  ),
  waitTimeout: duration()
    .otherwise(120_000)
    .describe('longest wait for a row to settle (default 2m)'),
  retry: paymentOptions.retry.describe(
    'retry rows whose payment failed or has an unknown outcome; ' +
      'a row is paid twice if its earlier payment settles after all',
  ),
};

const { name, from, ignoreColumns } = batchOptions;

/** The options that say what the rows of a file are. */
export const rowOptions = { name, from, ignoreColumns };

export type BatchFlags = ValuesOf<typeof batchOptions>;

/** The options that decide what the rows of a batch are, and the terms on which they are paid. */
export type RerunFlags = Pick<BatchFlags, 'name' | 'from' | 'ignoreColumns'> &
  Partial<Pick<BatchFlags, 'maxFee' | 'maxRateLoss' | 'result' | 'retry'>>;

/**
 * The command that runs a batch again, with its rows, terms and result file. Without the name of
 * the run, svcpay would pay the rows as another run.
 */
export const batchCommand = (
  file: string,
  { name, from, ignoreColumns, maxFee, maxRateLoss, result, retry }: RerunFlags,
): Command => ({
  command: 'batch',
  argument: file,
  options: {
    '--name': name || undefined,
    '--from': from,
    '--ignore-columns': ignoreColumns || undefined,
    '--max-fee': maxFee?.written,
    '--max-rate-loss': maxRateLoss && `${maxRateLoss}%`,
    '--result': result,
    '--retry': retry || undefined,
  },
});

/** The rows of a batch file or of a proposal, which passed all checks. */
export interface BatchSource {
  readonly check: BatchCheck;
  /** The path of the file, or the proposal, as svcpay shows it. */
  readonly file: string;
  /** The id of the new batch run, or of the earlier run that svcpay continues. */
  readonly run: string;
  /** The name of the run, which is empty for a run without a name. */
  readonly name: string;
  /** The path of the result file, or null for none. */
  readonly result: string | null;
  /** The command that pays failed rows again, or undefined for rows from stdin. */
  readonly retry: Command | undefined;
  /** The proposal to which the rows belong, and the rest of its highest total. */
  readonly approved?:
    | {
        readonly proposal: string;
        readonly rest: readonly Money[];
        readonly budget: BudgetOfRun;
      }
    | undefined;
}

/**
 * Returns the function that turns a row into a payment.
 * @param isOffline whether to check neither institutions nor earlier payments
 */
export function planner(
  { name, from }: Pick<BatchFlags, 'name' | 'from'>,
  context: Context,
  isOffline = false,
): (row: BatchRow) => Promise<Row> {
  const { config, settings } = context;
  const deps: PlanDeps = {
    name,
    from,
    network: settings.network,
    now: context.now(),
    contacts: config.read().contacts,
    sender: settings.profile.sender,
    lookUp: isOffline ? async () => [] : openLookUp(context),
    digestUnder: async (ref) => {
      if (isOffline) return undefined;
      const { scope, journal } = await context.account();
      const payment = await (await journal()).find(scope, ref);
      return payment?.ref === ref ? payment.digest : undefined;
    },
  };
  return (row) => planRow(row, deps);
}

/** Returns the function that finds the payments of references in the journal. */
export const paymentsIn =
  (context: Context): Lookup['paymentsUnder'] =>
  async (refs) => {
    const [{ scope }, journal] = await Promise.all([context.account(), context.journal()]);
    return journal.alike(scope, refs);
  };

/** Checks the rows of a batch file, or rows that are already planned. */
export async function checkRows<R extends BatchRow>(
  rows: readonly (R | Problem)[],
  flags: Pick<BatchFlags, 'name' | 'from' | 'retry'>,
  context: Context,
  plan: (row: R) => Promise<Row> = planner(flags, context),
): Promise<BatchCheck> {
  const refuseOwn = ownAddressGuard(context.account, context.out.say);
  let checked = 0;
  const deps = {
    name: flags.name,
    plan: (row: R) => {
      checked += 1;
      return plan(row);
    },
    checkPayee: ({ instruction }: Row) => refuseOwn(instruction),
    paymentsUnder: paymentsIn(context),
    spent: () => spentToday(context),
    limits: await limitsInForce(context),
    retry: flags.retry,
    now: context.now,
  };
  return context.live.during(
    () => `Checking the rows: ${checked}`,
    () => checkBatch(rows, deps),
  );
}

export type FailureAdvice = Partial<Pick<Failure, 'hint' | 'next'>>;

/**
 * Throws a Failure that counts the invalid rows, and lists their problems on stderr, even with -q
 * and --json.
 * @param money what happened to the money, in words
 */
export function refuseProblems(
  { problems, count }: Pick<BatchCheck, 'problems' | 'count'>,
  advice: FailureAdvice,
  { terminal }: Pick<Context, 'terminal'>,
  money = 'Nothing was sent',
): void {
  if (problems.length === 0) return;
  const { stderr, stderrIsTty, stderrCanvas } = terminal;
  for (const { line, column, message } of problems.toSorted((a, b) => a.line - b.line)) {
    const place = line === 0 ? 'All rows' : `Line ${line}`;
    const text = sanitize(`${place}${column === undefined ? '' : `, ${column}`}: ${message}`);
    const lines = stderrIsTty ? wrap(text, stderrCanvas.columns) : [text];
    stderr.write(lines.map((each) => `${each}\n`).join(''));
  }
  const kind = problems.every((problem) => problem.kind === 'limit') ? 'limit' : 'usage';
  const inRows = problems.filter(({ line, isHeader }) => line > 0 && isHeader !== true);
  const bad = new Set(inRows.map(({ line }) => line)).size;
  const what =
    bad === 0
      ? 'the batch cannot be paid as a whole (see above)'
      : `${bad} of ${counted(count, 'row')} cannot be paid (see above)`;
  const more = kind === 'limit' ? { next: { do: 'see-limits' as const } } : advice;
  throw new Failure(kind, `${what}.`, { money, ...more });
}

const common = ['ref', 'to', 'amount', 'currency', 'note', 'from'];

/**
 * The columns that only payout rows have. The column `recipient` contains a name from the address
 * book. Each other column contains the value of an option that describes a payout.
 */
const payoutColumns = new Map(
  ['recipient', ...Object.keys(answerOptions).filter((name) => name !== 'amount')].map((name) => [
    columnOf(name),
    name,
  ]),
);

const names: ReadonlySet<string> = new Set([...common, ...payoutColumns.keys()]);
const ofResult: ReadonlySet<string> = new Set(resultFields.map((name) => name.toLowerCase()));

/**
 * The columns of a batch file. If the batch file is a result file, svcpay ignores the columns with
 * results.
 */
export const batchColumns = (ignoreOthers: boolean): Columns => ({ names, ofResult, ignoreOthers });

/** The columns of a result file, including the columns of its batch file. */
export const resultColumns: Columns = {
  names: new Set([...ofResult, ...names]),
  ofResult,
  ignoreOthers: true,
};

interface PlanDeps extends SendEnvironment {
  /** The name of the batch, which distinguishes identical batches without references. */
  readonly name: string;
  /** The wallet that pays if the row names no wallet. */
  readonly from: string | undefined;
  /** The address book with accounts for payouts and destinations of sends. */
  readonly contacts: Contacts;
  readonly sender: Profile['sender'];
  readonly lookUp: (countryCode: string) => Promise<readonly Institution[]>;
  /** Returns the digest of the payment under a reference, if the journal has one. */
  readonly digestUnder: (ref: string) => Promise<string | undefined>;
}

/** Turns a row of a batch into a payment. Throws Failure `usage` for an invalid row. */
async function planRow({ line, cells: written }: BatchRow, deps: PlanDeps): Promise<Row> {
  const { cells, name } = named(written, deps);
  const { from = deps.from } = cells;
  const payer = from && inColumn('from', () => currency().read(from));
  const given = Object.keys(cells).filter((column) => payoutColumns.has(column));
  const { to, note } = cells;
  const foreign = given.filter((column) => column !== 'recipient_name');
  if (to !== undefined && foreign.length > 0)
    throw invalid(
      `A row must have either "to" for a send or ${foreign.join(', ')} for a payout, not both.`,
    );
  const paid =
    to === undefined
      ? await planPayout(cells, given, payer, deps)
      : planSend({ to, from: payer, note, name: name ?? cells['recipient_name'] }, cells, deps);
  const { instruction } = paid;
  const ref = await ownReference(cells, instruction, deps);
  const read = {
    ...paid,
    line,
    ref: ref ?? derivedRef(instruction, deps.name),
    isNamed: ref !== undefined,
    written: amountText(cells),
    cells: written,
  };
  return inColumn('amount', () => plannedRow(read, deps.now));
}

/**
 * Returns the reference in the row, or undefined for a row without a reference. A reference that an
 * earlier run generated stays only if it belongs to a payment of this row.
 */
async function ownReference(
  { ref }: BatchRow['cells'],
  instruction: Instruction,
  { digestUnder }: PlanDeps,
): Promise<string | undefined> {
  if (ref === undefined) return undefined;
  if (/^batch-[0-9a-f]{32}$/.test(ref))
    return (await digestUnder(ref)) === digestOf(instruction) ? ref : undefined;
  // A space at the end of a reference is invisible, but would make the row a different payment.
  if (ref.trim() !== ref)
    throw cellFailure('ref', `The reference "${ref}" must not begin or end with a space.`);
  return inColumn('ref', () => reference().read(ref));
}

/**
 * Plans the payment of a row that is a send. An error concerns the destination column if the
 * destination is refused without the amount too, otherwise the amount column.
 */
const planSend = (words: SendWords, cells: BatchRow['cells'], deps: PlanDeps): Paid =>
  inColumn('amount', () => {
    const amount = amountText(cells);
    try {
      const { instruction, slow, pays } = readSendNow({ ...words, amount }, deps);
      return { instruction, isSlow: slow, to: pays.text };
    } catch (error) {
      inColumn('to', () => readSend({ to: words.to, from: words.from }, deps));
      throw error;
    }
  });

/**
 * Replaces a name of the address book in `to` or `recipient` with the saved destination or
 * recipient.
 */
function named(
  cells: BatchRow['cells'],
  { contacts }: PlanDeps,
): { readonly cells: BatchRow['cells']; readonly name?: string } {
  const { to, recipient, ...others } = cells;
  if (to !== undefined && recipient !== undefined)
    throw invalid('A row must have either "to" or "recipient", not both.');
  const given = to ?? recipient;
  if (given === undefined || given.length > longestName || isDestination(given)) return { cells };
  const column = to === undefined ? 'recipient' : 'to';
  const [name, contact] = inColumn(column, () => contactNamed(contacts, given)) ?? [];
  if (name === undefined) return { cells };
  return typeof contact === 'string'
    ? { cells: { ...others, to: contact }, name }
    : { cells: { ...others, recipient: name } };
}

/**
 * The length of the longest name in the address book. svcpay does not look up a longer text, such
 * as an invoice, in the address book.
 */
const longestName = 64;

function isDestination(text: string): boolean {
  try {
    detectDestination(text);
    return true;
  } catch {
    return false;
  }
}

type Paid = Pick<Row, 'instruction' | 'isSlow' | 'to'>;

async function planPayout(
  cells: BatchRow['cells'],
  given: readonly string[],
  from: string | undefined,
  { contacts, sender, lookUp }: PlanDeps,
): Promise<Paid> {
  if (given.length === 0)
    throw cellFailure(
      'to',
      '"to" is missing. Give a destination or a name from your address book.',
    );
  const raw: RawValues = Object.fromEntries(
    given.map((name) => [payoutColumns.get(name) ?? name, cells[name]]),
  );
  for (const [name, option] of Object.entries(answerOptions))
    if (raw[name] !== undefined) inColumn(columnOf(name), () => option.read(raw[name]));
  const answers = {
    ...readAll(answerOptions, raw),
    amount: undefined,
    recipient: cells['recipient'],
    from,
  };
  const read = (given: typeof answers | PayoutAnswers) => readDraft(given, contacts, sender);
  // Reads the cells in turn, so that a refusal names the column of its cell.
  inColumn(cells['recipient'] === undefined ? 'method' : 'recipient', () =>
    read({ ...answers, acctNum: undefined }),
  );
  const country = inColumn('acct_num', () => countryAt(read(answers)));
  const { currency: unit, note } = cells;
  const isOther = country !== undefined && unit !== undefined && unit.toUpperCase() !== country.ccy;
  const amount = inColumn('amount', () => amountText(cells));
  const inAmount = isOther ? 'currency' : 'amount';
  const draft = inColumn(inAmount, () => read({ ...answers, amount }));
  const missing = missingAnswers(draft).map(columnOf);
  if (missing[0] !== undefined)
    throw cellFailure(missing[0], `A payout must also have ${missing.join(', ')}.`);
  const complete = completePayout(draft, note);
  const instruction = await withInstitution(complete, lookUp).catch((error: unknown) => {
    throw error instanceof Failure ? new CellFailure('institution', error) : error;
  });
  return { instruction, isSlow: true, to: instruction.to };
}

/**
 * Returns the amount of a row with its unit, from the column `amount` or from `amount` and
 * `currency`.
 */
function amountText({ amount, currency: unit }: BatchRow['cells']): string | undefined {
  if (amount === undefined) return undefined;
  checkGrouping(amount, unit);
  if (unit === undefined) return amount;
  // A number that is refused has its unit too, so that the advice names this unit.
  if (/^[\d\s.,-]+$/.test(amount)) return `${amount}${unit}`;
  parseAmount(amount, /^sats?$/i.test(unit) ? 'BTC' : unit);
  return amount;
}
