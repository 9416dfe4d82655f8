// Reads and checks a batch file before any payment, and asks about rows that were paid long ago.
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { Money } from '../../formats/amount.js';
import { dayAndMonth } from '../../formats/calendar.js';
import { Failure } from '../../formats/failure.js';
import { counted } from '../../formats/text.js';
import { back, type Back } from '../../terminal/ask/ask.js';
import type { Command } from '../../terminal/next-step.js';
import { sanitize } from '../../terminal/sanitize.js';
import { wrap } from '../../terminal/layout.js';
import { checkBatch, paidAt, staleRows, type BatchCheck } from '../../wallet/batch/check.js';
import { readRunName, runName } from '../../wallet/batch/status.js';
import type { PlannedRow, Row } from '../../wallet/batch/row.js';
import { readRows, type BatchRow, type Problem } from '../../wallet/batch/rows.js';
import type { BudgetOfRun } from '../../wallet/payment/contract.js';
import { ownAddressGuard } from '../../wallet/instruction/destinations.js';
import type { Context } from '../context.js';
import { limitsInForce } from '../limits/in-force.js';
import { spentToday } from '../payment/payment-flow.js';
import { readGivenFile, readStdinBytes } from '../stdin.js';
import { openLookUp } from '../payout/payout-flow.js';
import { batchCommand, type BatchFlags } from './batch-options.js';
import { batchColumns, planRow, type PlanDeps } from './batch-row.js';

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
  /** The command that runs the batch again, or undefined for rows from stdin. */
  readonly again: ((more: Command['options']) => Command) | undefined;
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
 * Checks the batch file. Throws Failure `usage` or `limit` for invalid rows, and lists the problems
 * on stderr. If an earlier run paid rows long ago, svcpay asks whether to pay these rows again.
 * With `--yes` or `--dry-run`, svcpay does not ask but throws Failure `usage`.
 */
export async function openFile(
  file: string,
  flags: BatchFlags,
  context: Context,
): Promise<BatchSource> {
  const { globals, ask, now } = context;
  const needsYes = !globals.yes && !flags.dryRun;
  if (needsYes && file === '-') ask.demand(['--yes']);
  const rows = readRows(await bytesOf(file, context), batchColumns(flags.ignoreColumns));
  if (needsYes) ask.demand(['--yes']);
  const isPiped = file === '-';
  for (let { name } = flags; ;) {
    const check = await checkRows(rows, { ...flags, name }, context);
    refuseProblems(check, adviceFor(check, file, { ...flags, name }, now()), context);
    const stale = staleRows(check, now());
    const source = {
      check,
      file,
      name,
      run: check.run ?? runName(now(), labelOf(file, name)),
      result: flags.result ?? (isPiped ? null : `${file}.result.csv`),
      again: isPiped
        ? undefined
        : (more: Command['options']) => batchCommand(file, { ...flags, name }, more),
    };
    if (stale.length === 0) return source;
    const unfinished = await unfinishedRun(rows, { ...flags, name }, context);
    const next = await nameFor(stale, check, { file, flags, needsYes, name, unfinished }, context);
    if (next === undefined) return source;
    name = next;
  }
}

function adviceFor(
  { isRepeated }: BatchCheck,
  file: string,
  flags: BatchFlags,
  now: number,
): FailureAdvice {
  return isRepeated && flags.name === ''
    ? {
        hint: 'Most references were paid by an earlier run. To pay them again in a new run',
        next: { do: 'run', ...batchCommand(file, { ...flags, name: today(now) }) },
      }
    : { hint: 'Fix the file and run the same command again.' };
}

/** Returns the name of a batch in the journal. */
export const labelOf = (file: string, name: string): string =>
  name === '' ? (file === '-' ? 'stdin' : basename(file)) : name;

interface NameRequest {
  readonly file: string;
  readonly flags: BatchFlags;
  readonly needsYes: boolean;
  /** The name of the run, which is empty for a run without a name. */
  readonly name: string;
  readonly unfinished: UnfinishedRun | undefined;
}

interface UnfinishedRun {
  readonly name: string;
  readonly text: string;
}

/** The number of latest runs in which svcpay searches for an unfinished run of a file. */
const runsSearched = 12;

/** Finds the latest run with another name that paid some of the file's rows, but not all. */
async function unfinishedRun(
  rows: readonly (BatchRow | Problem)[],
  flags: BatchFlags,
  context: Context,
): Promise<UnfinishedRun | undefined> {
  const { scope, journal } = await context.account();
  const runs = await (await journal()).runs(scope, runsSearched);
  const names = new Set(runs.map(({ run }) => readRunName(run).name));
  for (const name of names) {
    if (name === flags.name) continue;
    const { count, toPay } = await checkRows(rows, { ...flags, name }, context);
    const paid = count - toPay.length;
    if (paid === count) return undefined;
    if (paid > 0) return { name, text: `${name} (${paid} of ${counted(count, 'row')} paid)` };
  }
  return undefined;
}

/**
 * Asks for a new run name, under which svcpay pays the already paid rows again. Returns undefined
 * if the person decides to pay only the other rows.
 */
async function nameFor(
  stale: readonly Row[],
  { rows, toPay }: BatchCheck,
  { file, flags, needsYes, name: before, unfinished }: NameRequest,
  { ask, now }: Context,
): Promise<string | undefined> {
  const day = dayAndMonth(Math.max(...stale.map(({ payment }) => paidAt(payment))), now());
  const which =
    stale.length === rows.length
      ? 'every row was'
      : `${counted(stale.length, 'row')} without a reference ` +
        (stale.length === 1 ? 'was' : 'were');
  // The suggested name of the run is today's date, because a month may have several weekly runs.
  const suggested = today(now());
  if (!needsYes) {
    const also =
      unfinished === undefined ? '' : `, and the run ${unfinished.text} of this file is unfinished`;
    throw new Failure('usage', `${which} already paid on ${day}${also}.`, {
      money: 'Nothing was sent',
      hint:
        unfinished === undefined
          ? 'To pay these rows again, give this run a name'
          : 'To pay all rows again, give this run a new name. To finish the earlier run',
      next: { do: 'run', ...batchCommand(file, { ...flags, name: unfinished?.name ?? suggested }) },
    });
  }
  const left = toPay.length;
  const choice = await ask.steps.select<string | boolean | Back>({
    message: `On ${day}, ${which} already paid. What now?`,
    flag: '--name NAME',
    choices: [
      ...(unfinished === undefined
        ? []
        : [{ value: unfinished.name, name: `Finish the run ${unfinished.text}` }]),
      { value: true, name: 'Pay these rows again, in a new run' },
      {
        value: false,
        name:
          left === 0
            ? 'Skip these rows and pay nothing'
            : `Skip these rows and pay the other ${counted(left, 'row')}`,
      },
    ],
    default: undefined,
  });
  if (choice === false && left > 0) return undefined;
  if (choice !== back && typeof choice === 'string') return choice;
  const name =
    choice === true
      ? await ask.steps.parsed({
          message: 'Name of this run',
          flag: '--name NAME',
          default: suggested,
          parse: (text) => newName(text.trim(), before),
        })
      : back;
  if (name === back) throw new Failure('declined', '', { money: 'Nothing was sent' });
  return name;
}

const today = (now: number): string => new Date(now).toISOString().slice(0, 10);

function newName(name: string, before: string): string {
  if (name === before)
    throw new Failure('usage', `The run ${name} was already paid. Choose another name.`);
  return name;
}

async function bytesOf(file: string, context: Context): Promise<Buffer> {
  if (file === '-') return readStdinBytes(context);
  if (!existsSync(file))
    throw new Failure('usage', `the file ${file} does not exist.`, { money: 'Nothing was sent' });
  return readGivenFile(file);
}

type Plan = (row: BatchRow) => Promise<PlannedRow>;

export function planner({ name, from }: Pick<BatchFlags, 'name' | 'from'>, context: Context): Plan {
  let opened: ReturnType<typeof openLookUp> | undefined;
  const { config, settings } = context;
  const { contacts } = config.read();
  const deps: PlanDeps = {
    name,
    from,
    network: settings.network,
    now: context.now(),
    contacts,
    sender: settings.profile.sender,
    lookUp: async (countryCode) => (await (opened ??= openLookUp(context)))(countryCode),
    digestUnder: async (ref) => {
      const { scope, journal } = await context.account();
      const payment = await (await journal()).find(scope, ref);
      return payment?.ref === ref ? payment.digest : undefined;
    },
  };
  return (row) => planRow(row, deps);
}

/** Finds the payments of references in the journal. */
export const alikeIn =
  (context: Context) =>
  async (refs: readonly string[]): ReturnType<Awaited<ReturnType<Context['journal']>>['alike']> => {
    const [{ scope }, journal] = await Promise.all([context.account(), context.journal()]);
    return journal.alike(scope, refs);
  };

/** Checks the rows of a batch file, or rows that are already planned. */
export async function checkRows<R extends BatchRow>(
  rows: readonly (R | Problem)[],
  flags: Pick<BatchFlags, 'name' | 'from' | 'retry'>,
  context: Context,
  plan: (row: R) => Promise<PlannedRow> = planner(flags, context),
): Promise<BatchCheck> {
  const { live, now } = context;
  const refuseOwn = ownAddressGuard(context.account, context.out.say);
  let checked = 0;
  const deps = {
    name: flags.name,
    plan: async (row: R) => {
      checked += 1;
      return plan(row);
    },
    vet: ({ instruction }: Row) => refuseOwn(instruction),
    alike: alikeIn(context),
    spent: () => spentToday(context),
    limits: await limitsInForce(context),
    retry: flags.retry,
    now,
  };
  return live.during(
    () => `Checking the rows: ${checked}`,
    () => checkBatch(rows, deps),
  );
}

type FailureAdvice = Partial<Pick<Failure, 'hint' | 'next'>>;

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
  const lines = problems.map(
    ({ line, column, message }) =>
      [line === 0 ? 'All rows' : `Line ${line}`, ...(column === undefined ? [] : [column])].join(
        ', ',
      ) + `: ${message}`,
  );
  const { stderr, stderrIsTty, stderrCanvas } = terminal;
  const shown = lines
    .map(sanitize)
    .flatMap((line) => (stderrIsTty ? wrap(line, stderrCanvas.columns) : [line]));
  stderr.write(shown.map((line) => `${line}\n`).join(''));
  const kind = problems.every((problem: Problem) => problem.kind === 'limit') ? 'limit' : 'usage';
  const inRows = problems.filter(({ line, isHeader }) => line > 0 && isHeader !== true);
  const bad = new Set(inRows.map(({ line }) => line)).size;
  const what =
    bad === 0
      ? 'the batch cannot be paid as a whole (see above)'
      : `${bad} of ${counted(count, 'row')} cannot be paid (see above)`;
  const more = kind === 'limit' ? { next: { do: 'see-limits' as const } } : advice;
  throw new Failure(kind, `${what}.`, { money, ...more });
}
