// A batch from its file to its outcome: copied, checked whole, shown, agreed to once, paid row by row.
import { createReadStream } from 'node:fs';
import type { Wallet } from '../../api/types.js';
import { formatAmount, money, moneyFromWire, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { openSpool, type Spool } from '../../store/files/spool.js';
import { batchCard, batchView, type BatchSummary } from '../../terminal/cards/batch-view.js';
import { sanitize } from '../../terminal/sanitize.js';
import { checkBatch, shortOf, type BatchCheck } from '../../wallet/batch/check.js';
import type { PlannedRow } from '../../wallet/batch/plan.js';
import { isProblem, readRows, type BatchRow, type Problem } from '../../wallet/batch/rows.js';
import { noLimits } from '../../wallet/limits/limits.js';
import { ownAddressGuard } from '../../wallet/plan/destinations.js';
import type { BatchFlags } from './batch-options.js';
import { payBatch } from './batch-pay.js';
import { batchColumns, planRow, type PlanDeps } from './batch-row.js';
import type { Context } from '../context.js';
import type { Drain } from './drain.js';
import { journalScope, spentToday } from '../payment/payment-flow.js';
import { openLookUp } from '../payout/payout-flow.js';

export async function runBatchFile(file: string, flags: BatchFlags, drain: Drain, context: Context): Promise<void> {
  const { globals, ask, home } = context;
  if (!globals.yes && !flags.dryRun) ask.demand(['--yes']);
  const spool = await openSpool(home.data, bytesOf(file, context));
  context.onClose(() => spool.close());
  const plan = planner(flags, context);
  const check = await checkFile(spool, plan, context);
  if (check.problems.length > 0) throw refusalOf(check, context);
  // One that does not fit a wallet is said once, and not of every row.
  for (const { from } of check.totals) flags.maxFee?.(from);
  const wallets = await (await context.ownClient()).wallets();
  const available = (ccy: string): Money | undefined => balanceOf(ccy, wallets);
  const before = summaryOf(file, flags, check, available);
  const short = shortOf(check.totals, available);
  if (flags.dryRun && short.length === 0) return context.out.record(before, batchView(before, []));
  context.out.card((canvas) => ['', ...batchCard({ ...before, settled: check.settled }, canvas), '']);
  if (short.length > 0) throw new Failure('limit', `Nothing was sent: ${short.join(' ')}`, { next: { do: 'see-wallets' } });
  await agree(check, context);
  const rows = planned(readRows(spool.read(), batchColumns), plan);
  const { summary, failures, failure } = await payBatch(rows, check, before, flags, drain, context);
  if (context.out.format !== 'jsonl') await context.out.record(summary, batchView(summary, failures));
  if (failure !== undefined) throw failure;
}

async function* bytesOf(file: string, { stdin }: Context): AsyncGenerator<Buffer> {
  if (file === '-' && stdin.isTTY) {
    throw new Failure('usage', 'Nothing is piped in.', { hint: 'Pipe it: … | svcpay batch - --yes' });
  }
  try {
    for await (const chunk of file === '-' ? stdin.open() : createReadStream(file)) yield Buffer.from(chunk);
  } catch (cause) {
    throw new Failure('usage', `Nothing was sent: the file ${file} cannot be read.`, { cause });
  }
}

type Plan = (row: BatchRow) => Promise<PlannedRow>;

function planner({ name, from }: BatchFlags, context: Context): Plan {
  let opened: ReturnType<typeof openLookUp> | undefined;
  const { config, settings } = context;
  const deps: PlanDeps = {
    name,
    from,
    network: settings.network,
    now: context.now(),
    recipients: config.read().recipients,
    sender: settings.profile.sender,
    lookUp: async (countryCode) => (await (opened ??= openLookUp(context)))(countryCode),
  };
  return (row) => planRow(row, deps);
}

async function checkFile(spool: Spool, plan: Plan, context: Context): Promise<BatchCheck> {
  const { live, settings, now, journal, terminal } = context;
  const refuseOwn = ownAddressGuard(context.ownClient);
  let checked = 0;
  const counted = async (row: BatchRow): Promise<PlannedRow> => {
    checked += 1;
    return plan(row);
  };
  if (terminal.canAnimate) live.start(() => `Checking the rows: ${checked}`);
  try {
    return await checkBatch(readRows(spool.read(), batchColumns), {
      plan: counted,
      vet: ({ order }) => refuseOwn(order),
      find: async (ref) => (await journal()).find(await journalScope(context), ref),
      spent: () => spentToday(context),
      limits: settings.profile.limits ?? noLimits,
      now,
    });
  } finally {
    live.stop();
  }
}

/** Says on stderr what is wrong with every row, under -q and --json too: it is why nothing was done. */
function refusalOf({ problems, rows }: BatchCheck, { terminal }: Context): Failure {
  const lines = problems.map(({ line, message }) => `${line === 0 ? 'All rows' : `Line ${line}`}: ${message}`);
  terminal.stderr.write(lines.map((line) => `${sanitize(line)}\n`).join(''));
  const kind = problems.every((problem: Problem) => problem.kind === 'limit') ? 'limit' : 'usage';
  const bad = new Set(problems.filter(({ line }) => line > 0).map(({ line }) => line)).size;
  const what = bad === 0 ? 'the batch as a whole cannot be paid' : `${bad} of ${rows} rows cannot be paid, as said above`;
  const advice = kind === 'limit' ? { next: { do: 'see-limits' as const } } : { hint: 'Mend the file and run the same command again.' };
  return new Failure(kind, `Nothing was sent: ${what}.`, advice);
}

function balanceOf(ccy: string, wallets: readonly Wallet[]): Money | undefined {
  const wallet = wallets.find((each) => each.ccy === ccy);
  return moneyFromWire(ccy, wallet?.availableBalance);
}

function summaryOf(
  file: string,
  { dryRun }: BatchFlags,
  { rows, settled, totals }: BatchCheck,
  available: (ccy: string) => Money | undefined,
): BatchSummary {
  return {
    file,
    dryRun,
    rows,
    paidBefore: settled,
    paid: 0,
    sent: 0,
    unknown: 0,
    failed: 0,
    notBegun: rows - settled,
    spent: [],
    totals: totals.map((total) => ({ ...total, available: available(total.from)?.value ?? null })),
    result: null,
  };
}

async function agree({ rows, settled, totals }: BatchCheck, { ask, settings, out }: Context): Promise<void> {
  if (rows === settled) return out.say('Every row is paid or on its way already.');
  const place = settings.embedded ? 'the sandbox' : settings.profileName;
  const what = totals.map(({ ccy, amount }) => formatAmount(money(ccy, amount))).join(' and ');
  const yes = await ask.confirm(`Pay ${what} in ${rows - settled} rows from ${place}?`, { note: 'fees come on top' });
  if (!yes) throw new Failure('declined', 'Nothing was sent: you said no.');
}

/** The copy was checked, and says the same again. */
async function* planned(rows: AsyncIterable<BatchRow | Problem>, plan: Plan): AsyncGenerator<PlannedRow> {
  for await (const row of rows) if (!isProblem(row)) yield await plan(row);
}

