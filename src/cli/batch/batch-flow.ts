// A batch from file to result: copied, checked completely, shown, approved once, paid row by row.
import { createReadStream } from 'node:fs';
import type { Wallet } from '../../api/types.js';
import { formatAmount, money, moneyFromWire, type Money } from '../../formats/amount.js';
import { counted } from '../../formats/text.js';
import { Failure, ifAvailable } from '../../formats/failure.js';
import { openSpool, type Spool } from '../../store/files/spool.js';
import {
  batchCard,
  batchRowList,
  batchView,
  dryRunLines,
  type BatchRowView,
  type BatchSummary,
} from '../../terminal/cards/batch-view.js';
import { back } from '../../terminal/ask/ask.js';
import { sanitize } from '../../terminal/sanitize.js';
import { checkBatch, shortOf, type BatchCheck, type BatchTotal } from '../../wallet/batch/check.js';
import { quoteCost, type Quoted } from '../../wallet/batch/cost.js';
import type { PlannedRow } from '../../wallet/batch/plan.js';
import { isProblem, readRows, type BatchRow, type Problem } from '../../wallet/batch/rows.js';
import type { PaymentDeps } from '../../wallet/payment/contract.js';
import { ownAddressGuard } from '../../wallet/plan/destinations.js';
import { openPayments, payBatch, quoteRow, type BatchFlags } from './batch-pay.js';
import { batchColumns, planRow, type PlanDeps } from './batch-row.js';
import type { Context } from '../context.js';
import { limitsInForce } from '../limits.js';
import type { Drain } from './drain.js';
import { spentToday } from '../payment/payment-flow.js';
import { parseMaxFee, type MaxFeeOf } from '../payment/payment-options.js';
import { openLookUp } from '../payout/payout-flow.js';

export async function runBatchFile(
  file: string,
  flags: BatchFlags,
  drain: Drain,
  context: Context,
): Promise<void> {
  const { globals, ask, out } = context;
  const needsYes = !globals.yes && !flags.dryRun;
  if (needsYes && file === '-') ask.demand(['--yes']);
  const spool = await openSpool(bytesOf(file, context));
  context.onClose(() => spool.close());
  if (needsYes) ask.demand(['--yes']);
  const plan = planner(flags, context);
  const check = await checkFile(spool, plan, context);
  if (check.problems.length > 0) throw refusalOf(check, context);
  // Reports a --max-fee in the wrong currency once, not for every row.
  for (const { from } of check.totals) flags.maxFee?.(from);
  const { client: service } = await context.account();
  const wallets = await ifAvailable(service.wallets());
  const available = (ccy: string): Money | undefined => balanceOf(ccy, wallets ?? []);
  const before = summaryOf(file, flags, check, available);
  const isReported = (ccy: string): boolean =>
    wallets?.every((each) => each.ccy !== ccy || each.availableBalance != null) === true;
  const short = shortOf(
    check.totals.filter(({ from }) => isReported(from)),
    available,
  );
  const rows = (): AsyncGenerator<PlannedRow> =>
    planned(readRows(spool.read(), batchColumns), plan);
  if (flags.dryRun && short.length === 0) return listRows(rows(), before, context);
  // Connects before the first payment needs it.
  context.early?.open(context.settings.baseUrl ?? '', flags.concurrency);
  const payment = await openPayments(check, flags.concurrency, context);
  const isAsked = needsYes && check.rows > check.settled && short.length === 0;
  const quotable = isAsked ? check.quotable : undefined;
  const cost = quotable && (await costOf(quotable, flags, payment, context));
  out.card((canvas) => [
    '',
    ...batchCard({ ...before, settled: check.settled, quoted: cost }, canvas),
    '',
  ]);
  if (short.length > 0) throw tooPoor(short);
  if (cost !== undefined) refuseUnpayable(cost, available);
  const bounded =
    isAsked && quotable === undefined ? await withMaxFee(flags, check.totals, context) : flags;
  await agree(check, cost, bounded, context);
  const { summary, failures, failure } = await payBatch(
    rows(),
    check,
    { ...before, cost: cost?.costs ?? null },
    bounded,
    drain,
    payment,
    context,
  );
  if (out.format !== 'jsonl') await out.record(summary, batchView(summary, failures));
  if (failure !== undefined) throw failure;
}

const tooPoor = (short: readonly string[]): Failure =>
  new Failure('limit', `Nothing was sent: ${short.join(' ')}`, { next: { do: 'see-wallets' } });

/** Lists the rows of a dry run; under `--json` they are part of the summary. */
async function listRows(
  rows: AsyncIterable<PlannedRow>,
  summary: BatchSummary,
  { out }: Context,
): Promise<void> {
  if (out.format === 'json') {
    const list: BatchRowView[] = [];
    for await (const row of rows) list.push(rowView(row));
    return out.record({ ...summary, list }, batchView(summary, []));
  }
  await out.list(rowViews(rows), batchRowList);
  out.screen((canvas) => ['', ...dryRunLines(summary, canvas)]);
}

async function* rowViews(rows: AsyncIterable<PlannedRow>): AsyncGenerator<BatchRowView> {
  for await (const row of rows) yield rowView(row);
}

const rowView = ({ line, ref, to, amount, order }: PlannedRow): BatchRowView => ({
  line,
  to,
  amount,
  from: order.body.sourceReq.ccy,
  method: order.body.destReq.method,
  ref,
});

/** Quotes every row. */
function costOf(
  rows: readonly PlannedRow[],
  flags: BatchFlags,
  payment: PaymentDeps,
  { live }: Context,
): Promise<Quoted> {
  let done = 0;
  const quote = async (row: PlannedRow): Promise<Money | undefined> => {
    const total = await quoteRow(row, flags, payment);
    done += 1;
    return total;
  };
  const line = (): string => `Quoting: ${done} of ${counted(rows.length, 'row')}`;
  return live.during(line, () => quoteCost(rows, flags.concurrency, quote));
}

/** A batch too long for quotes is approved as its amounts plus a highest fee per row. */
async function withMaxFee(
  flags: BatchFlags,
  totals: readonly BatchTotal[],
  { ask }: Context,
): Promise<BatchFlags> {
  if (flags.maxFee !== undefined) return flags;
  const parse = (text: string): MaxFeeOf => {
    const maxFee = parseMaxFee(text);
    for (const { from } of totals) maxFee(from);
    return maxFee;
  };
  const question = {
    message: 'Highest fee per row',
    example: 'e.g. 100sat or 1%',
    flag: '--max-fee AMOUNT|PERCENT',
    parse,
  };
  const maxFee = await ask.steps.parsed(question);
  if (maxFee === back) throw new Failure('declined', 'Nothing was sent: you went back.');
  return { ...flags, maxFee };
}

function feeText(maxFee: MaxFeeOf | undefined, totals: readonly BatchTotal[]): string {
  const [first] = totals;
  const limit = first && maxFee?.(first.from);
  if (limit === undefined) return '';
  return ` plus at most ${'percent' in limit ? `${limit.percent} %` : formatAmount(money(limit.ccy, limit.amount))} of fees per row`;
}

/** Refuses a batch whose quoted total exceeds a wallet or a limit. */
function refuseUnpayable(
  { costs, refused }: Quoted,
  available: (ccy: string) => Money | undefined,
): void {
  const hopeless = refused.find(({ failure }) => failure.kind === 'limit');
  if (hopeless !== undefined) {
    const { row, failure } = hopeless;
    throw new Failure('limit', `Nothing was sent: line ${row.line}: ${failure.message}`, {
      hint: failure.hint,
      next: failure.next,
    });
  }
  const short = costs.flatMap(({ ccy, total }) => {
    const have = available(ccy);
    if (have === undefined || have.value.gte(total)) return [];
    return [
      `${formatAmount({ ccy, value: total })}, fees included, is needed from the ${ccy} wallet, and you have ${formatAmount(have)}.`,
    ];
  });
  if (short.length > 0) throw tooPoor(short);
}

async function* bytesOf(file: string, { stdin }: Context): AsyncGenerator<Buffer> {
  if (file === '-' && stdin.isTTY) {
    throw new Failure('usage', 'Nothing is piped in.', {
      hint: 'Pipe it: … | svcpay batch - --yes',
    });
  }
  try {
    for await (const chunk of file === '-' ? stdin.open() : createReadStream(file))
      yield Buffer.from(chunk);
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
  const { live, now } = context;
  const refuseOwn = ownAddressGuard(context.account, context.out.say);
  let checked = 0;
  const deps = {
    plan: async (row: BatchRow) => {
      checked += 1;
      return plan(row);
    },
    vet: ({ order }: PlannedRow) => refuseOwn(order),
    find: async (ref: string) => {
      const { scope, journal } = await context.account();
      return (await journal()).find(scope, ref);
    },
    spent: () => spentToday(context),
    limits: await limitsInForce(context),
    now,
  };
  return live.during(
    () => `Checking the rows: ${checked}`,
    () => checkBatch(readRows(spool.read(), batchColumns), deps),
  );
}

/** Lists the problems on stderr, also under -q and --json. */
function refusalOf({ problems, rows }: BatchCheck, { terminal }: Context): Failure {
  const lines = problems.map(
    ({ line, message }) => `${line === 0 ? 'All rows' : `Line ${line}`}: ${message}`,
  );
  terminal.stderr.write(lines.map((line) => `${sanitize(line)}\n`).join(''));
  const kind = problems.every((problem: Problem) => problem.kind === 'limit') ? 'limit' : 'usage';
  const bad = new Set(problems.filter(({ line }) => line > 0).map(({ line }) => line)).size;
  const what =
    bad === 0
      ? 'the batch as a whole cannot be paid'
      : `${bad} of ${counted(rows, 'row')} cannot be paid (see above)`;
  const advice =
    kind === 'limit'
      ? { next: { do: 'see-limits' as const } }
      : { hint: 'Fix the file and run the same command again.' };
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
    cost: null,
    totals: totals.map((total) => ({ ...total, available: available(total.from)?.value ?? null })),
    result: null,
  };
}

async function agree(
  { rows, settled, totals }: BatchCheck,
  cost: Quoted | undefined,
  { maxFee }: BatchFlags,
  { ask, settings, out }: Context,
): Promise<void> {
  if (rows === settled) return out.say('Every row is already paid or in flight.');
  // If the service refused every row there is nothing to approve, and the result gives the reasons.
  if (cost?.costs.length === 0) return;
  const place = settings.embedded ? 'the sandbox' : settings.profileName;
  const sums =
    cost === undefined
      ? totals.map(({ ccy, amount }) => money(ccy, amount))
      : cost.costs.map(({ ccy, total }) => money(ccy, total));
  const what = `${sums.map(formatAmount).join(' and ')}${cost === undefined ? feeText(maxFee, totals) : ''}`;
  const refused = cost?.refused.length ?? 0;
  await ask.agree(
    `Pay ${what} in ${counted(rows - settled - refused, 'row')} from ${place}?`,
    'Nothing was sent.',
  );
}

/** Reads the checked copy again. */
async function* planned(
  rows: AsyncIterable<BatchRow | Problem>,
  plan: Plan,
): AsyncGenerator<PlannedRow> {
  for await (const row of rows) if (!isProblem(row)) yield await plan(row);
}
