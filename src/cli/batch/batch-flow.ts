// Runs a checked batch to its result: compares the rows with earlier runs, shows the plan, asks
// once, and pays row by row.
import { Failure, ifAvailable, isUnknown } from '../../formats/failure.js';
import { readRunName, type Row, pastRuns, sumsOf } from '../../wallet/batch/row.js';
import { dayAndMonth } from '../../formats/calendar.js';
import { counted, messageOf } from '../../formats/text.js';
import {
  paidAt,
  shortOf,
  totalsOf,
  Ceiling,
  priceRows,
  refusedRow,
  unpayable,
  type Available,
  tooPoor,
  type Cost,
  type Priced,
} from '../../wallet/batch/check.js';
import type { BatchFlags, BatchSource } from './batch-check.js';
import { lineOf, openResult, warnOf, type BatchSteps, type Ended } from './batch-output.js';
import { priceReference, type Payment } from '../../store/journal/payment.js';
import { quote, unfinished, unlessSubmitted } from '../../wallet/payment/pay.js';
import { keepMemorySmall, nestedContext, type Context } from '../context.js';
import {
  formatAmount,
  formatAmounts,
  money,
  moneyFromWire,
  type Money,
} from '../../formats/amount.js';
import {
  batchCard,
  remarkText,
  type BatchLine,
  type BatchPlan,
  type BatchSummary,
} from '../../terminal/cards/batch-view.js';
import { compareRuns, needsAcceptance, type Comparison } from '../../wallet/batch/compare.js';
import {
  payRows,
  countsOf,
  failureOf,
  hasMoved,
  stopped,
  type BatchConsent,
} from '../../wallet/batch/run.js';
import { sharedService } from '../../wallet/batch/shared-service.js';
import type { PaymentDeps } from '../../wallet/payment/model.js';
import { methodOf } from '../../wallet/instruction/instruction.js';
import { orderOf } from '../../wallet/instruction/order.js';
import { readQuote, type Quote } from '../../wallet/quote/quote.js';
import { paymentDeps } from '../payment/payment-flow.js';
import { termsOf } from '../payment/payment-options.js';

interface Drain {
  /** The signal after which no payment begins. */
  readonly stop: AbortSignal;
  /** Called before the first payment of the batch. */
  begin(): void;
}

/** The time in ms that svcpay gives the payments in flight after Ctrl-C. */
const graceMs = 10_000;

/**
 * Runs the rows that `open` reads. After Ctrl-C, no payment begins, and the payments in flight have
 * a grace period.
 * @param isOwn whether a payment belongs to the batch, or undefined for a run that pays nothing
 */
export async function* runDraining(
  isOwn: ((payment: Payment) => boolean) | undefined,
  context: Context,
  open: (nested: Context) => Promise<{ readonly source: BatchSource; readonly flags: BatchFlags }>,
): BatchSteps {
  await keepMemorySmall(context);
  const { signal: stop, sleep } = context;
  const cut = new AbortController();
  const ended = new AbortController();
  let isPaying = false;
  const interrupt = (): void => {
    if (!isPaying) return cut.abort();
    sleep(graceMs, ended.signal).then(
      () => cut.abort(),
      () => undefined,
    );
  };
  if (stop.aborted) interrupt();
  else stop.addEventListener('abort', interrupt, { once: true, signal: ended.signal });
  const nested = nestedContext(context, { signal: cut.signal });
  context.onClose(nested.close);
  try {
    const { source, flags } = await open(nested);
    return yield* runRows(source, flags, { stop, begin: () => void (isPaying = true) }, nested);
  } catch (error) {
    throw await unlessSubmitted(error, isOwn && unfinished(isOwn), context.journal);
  } finally {
    ended.abort();
  }
}

/** Quotes the checked rows, compares them with earlier runs, asks, and pays them. */
async function* runRows(
  source: BatchSource,
  flags: BatchFlags,
  drain: Drain,
  context: Context,
): BatchSteps {
  const { globals, now } = context;
  const { check, approved } = source;
  const { toPay, totals } = check;
  // Reports a --max-fee in the wrong currency once instead of once per row.
  for (const { from } of totals) flags.maxFee?.(from);
  const comparison = await compare(source, flags, context);
  // Opens the connections to the service in advance, so that no payment waits for a new connection.
  context.early?.open(context.settings.baseUrl ?? '', flags.concurrency);
  const opened = await openPayments(flags.concurrency, context);
  const payment = { ...opened, budget: approved?.budget ?? opened.budget };
  const wallets = toPay.length === 0 ? undefined : await ifAvailable(payment.service.wallets());
  const available: Available = (ccy) => {
    const wallet = wallets?.find((each) => each.ccy === ccy);
    return wallets && !wallet ? null : moneyFromWire(ccy, wallet?.availableBalance);
  };
  const short = shortOf(totals, available);
  const isShown = !globals.yes || flags.dryRun || approved !== undefined;
  // With --yes, svcpay quotes only conversions, whose debit it cannot compare with the balance.
  const unpriced = short.length > 0 ? [] : toPay.filter((row) => isShown || row.from !== row.ccy);
  const quoted = await context.live.during(
    () => 'Quoting',
    () => priceRows(unpriced, (row) => quoteRow(row, flags, payment)),
  );
  const priced = { ...quoted, costs: within(quoted.costs, approved?.rest) };
  const cost = isShown && short.length === 0 ? priced.costs : null;
  const before = summaryOf(source, flags, comparison, cost, available);
  const linesOf = (rows: readonly Row[]) => rows.map((row) => lineOf(row, now()));
  const plan: BatchPlan = {
    rows: priced.rows.length > mostShown ? undefined : linesOf(priced.rows),
    refused: linesOf(priced.refused),
    short,
  };
  const refusal = unpayable(priced, available);
  if (flags.dryRun && short.length === 0) {
    const settled = check.rows.filter((row) => !toPay.includes(row));
    const lines = linesOf([...settled, ...priced.rows].toSorted((a, b) => a.line - b.line));
    const [refused] = priced.refused;
    const failure = refusal ?? (refused && refusedRow(refused));
    const totals = { ...plan, rows: undefined };
    return { summary: { ...before, list: lines }, plan: totals, rows: lines, failure };
  }
  const isDrawn = context.out.card((canvas) => ['', ...batchCard(before, plan, canvas), '']);
  if (!isDrawn) warnOf(before, context);
  if (short.length > 0) throw tooPoor(short);
  if (refusal !== undefined) throw refusal;
  if (globals.yes && !flags.acceptChanges) refuseChanges(comparison);
  const consent = await agree(source, priced, context);
  return yield* payBatch(source, before, consent, flags, drain, payment, context);
}

/** The largest number of rows that svcpay shows above the question. */
const mostShown = 100;

/**
 * Limits the costs to the rest of the highest total of a proposal. Throws Failure `limit` if the
 * rows cost more.
 */
const within = (costs: readonly Cost[], rest: readonly Money[] | undefined): readonly Cost[] =>
  costs.map((cost) => {
    const { ccy, total } = cost;
    if (rest === undefined) return cost;
    const { value } = rest.find((each) => each.ccy === ccy) ?? money(ccy, 0);
    if (total.lte(value)) return { ...cost, most: cost.most.lt(value) ? cost.most : value };
    const [about, most] = [total, value].map((each) => formatAmount(money(ccy, each)));
    throw new Failure(
      'limit',
      `the rows cost about ${about}, but the proposal allows at most ${most}.`,
      { money: 'Nothing was sent' },
    );
  });

async function compare(
  { check, name }: BatchSource,
  { factor }: BatchFlags,
  context: Context,
): Promise<Comparison> {
  const { scope, journal } = await context.account();
  const past = await pastRuns(await journal(), scope);
  return compareRuns(check.rows, past, { name, factor, now: context.now() });
}

/**
 * Throws Failure `usage` for differences from earlier runs that a person or --accept-changes must
 * approve.
 */
function refuseChanges({ remarks }: Comparison): void {
  const [first, ...others] = remarks.filter(needsAcceptance);
  if (first === undefined) return;
  const more = others.length === 0 ? '' : `, and ${counted(others.length, 'other change')}`;
  throw new Failure('usage', `${remarkText(first, 'line')}${more}.`, {
    money: 'Nothing was sent',
    hint:
      first.kind === 'run-again'
        ? 'If these are new payments, name the run with --name, or add --accept-changes.'
        : 'Check the file, then add --accept-changes.',
  });
}

function summaryOf(
  { check: { rows, toPay, totals }, file, run }: BatchSource,
  { dryRun }: BatchFlags,
  { remarks, last }: Comparison,
  cost: BatchSummary['cost'],
  available: Available,
): BatchSummary {
  const settled = rows.filter(({ standing }) => standing === 'settled');
  const { startedAt: at, name } = readRunName(last?.run ?? '');
  return {
    file,
    run,
    dryRun,
    rows: rows.length,
    ...countsOf([]),
    paidBefore: settled.length,
    notBegun: toPay.length,
    spent: [],
    cost,
    totals: totals.map((total) => ({ ...total, available: available(total.from)?.value ?? null })),
    lastRun: last ? { at, name, rows: last.rows.length, totals: totalsOf(last.rows) } : null,
    remarks,
    earlier: settled.map(({ line, payment }) => ({ line, at: paidAt(payment) })),
    result: null,
  };
}

/** Asks for the consent to the rows, or takes the consent that `--yes` gives. */
async function agree(
  { check: { rows, toPay, totals }, approved }: BatchSource,
  { costs, rows: priced }: Priced,
  { ask, globals, settings, out, now }: Context,
): Promise<BatchConsent> {
  if (toPay.length === 0) {
    const day = dayAndMonth(Math.max(...rows.map(({ payment }) => paidAt(payment))), now());
    out.say(`This run sent nothing: every row was sent before, the latest on ${day}.`);
  }
  const consentTo = (agreed: readonly Row[], most: readonly Money[] | undefined): BatchConsent => ({
    lines: new Set(agreed.map(({ line }) => line)),
    ceiling: most && new Ceiling(most),
    proposal: approved?.proposal,
  });
  if (globals.yes) return consentTo(toPay, approved?.rest);
  const quoted = priced.filter(({ cost }) => cost !== undefined);
  const consent = consentTo(
    quoted,
    costs.map((cost) => money(cost.ccy, cost.most)),
  );
  // If the service refused the quotes of all rows, svcpay does not ask for approval, and the result
  // of the batch contains the reasons.
  if (quoted.length === 0) return consent;
  const place = settings.embedded ? 'sandbox' : settings.profileName;
  const sum = (part: 'total' | 'most'): string =>
    formatAmounts(costs.map((cost) => money(cost.ccy, cost[part])));
  const wallets = [...new Set(totals.map(({ from }) => from))];
  await ask.agree(
    `Pay about ${sum('total')}, at most ${sum('most')}, in ${counted(quoted.length, 'row')} ` +
      `from your ${wallets.join(' and ')} wallet${wallets.length === 1 ? '' : 's'} (${place})?`,
    'Nothing was sent',
  );
  return consent;
}

/** Opens the journal and the client that the payments of the batch share. */
async function openPayments(concurrency: number, context: Context): Promise<PaymentDeps> {
  const payment = await paymentDeps(context, () => undefined);
  return { ...payment, service: sharedService(payment.service, concurrency, context.now) };
}

/**
 * Quotes a row under a temporary reference and cancels the quote, so that the order under the row's
 * own reference can still change.
 */
async function quoteRow(row: Row, flags: BatchFlags, payment: PaymentDeps): Promise<Quote> {
  const terms = termsOf(flags, row.from, methodOf(row.instruction));
  const ref = priceReference(payment.newId());
  // The quote is nobody's payment, so it does not claim the row's invoice.
  const instruction = { ...row.instruction, once: null };
  const request = { instruction, ref, terms, consent: { by: 'nobody' as const } };
  const txn = await quote(request, flags, payment);
  // If svcpay cannot cancel a quote, the quote expires without a payment.
  await ifAvailable(payment.service.cancelTransaction(txn.txnId));
  return readQuote(orderOf(instruction, { now: payment.now() }), txn);
}

/**
 * Pays the rows of a batch, and yields each row as it ends.
 * @param before the summary of the checked file before any payment
 */
async function* payBatch(
  { check: { rows, columns }, result: path, retry }: BatchSource,
  before: BatchSummary,
  consent: BatchConsent,
  flags: BatchFlags,
  { stop, begin }: Drain,
  payment: PaymentDeps,
  context: Context,
): BatchSteps {
  const { out, now } = context;
  const write = path === null ? undefined : await openResult(path, columns, context);
  const options = {
    ...flags,
    stopOnError: flags.onError === 'stop',
    terms: (ccy: string, method: string | undefined) => termsOf(flags, ccy, method),
    consent,
    run: before.run,
  };
  const warn = ({ message }: Failure): void => out.warn(`${message} The payment continues.`);
  // The lines of the rows that have ended need less memory than the rows.
  const ended: Ended[] = [];
  const linesOf = (): BatchLine[] => ended.map(({ line }) => line);
  let failure: Failure | undefined;
  begin();
  yield { rows: rows.length };
  try {
    for await (const row of payRows(rows, options, { payment, stop, warn })) {
      const line = lineOf(row, now());
      ended.push({ line, cells: row.cells });
      yield { line, rows: rows.length };
    }
  } catch (fault) {
    if (!hasMoved(linesOf())) throw fault;
    const why = `the batch stopped: ${messageOf(fault)}`;
    failure = stopped(linesOf(), rows.length, why, fault);
  }
  ended.sort((a, b) => a.line.line - b.line.line);
  const lines = linesOf();
  failure ??= failureOf(lines, rows.length, stop.aborted);
  try {
    await write?.(ended);
  } catch (lost) {
    if (!(lost instanceof Failure)) throw lost;
    if (failure !== undefined) out.warn(lost.message);
    failure ??= lost;
  }
  const mayRetry = !flags.retry && lines.some(({ error }) => error === 'payment-failed');
  const debits = lines.flatMap(({ before: isBefore, paid, paidCcy }) =>
    isBefore || paid === null || paidCcy === null ? [] : money(paidCcy, paid),
  );
  return {
    summary: {
      ...before,
      ...countsOf(lines),
      spent: sumsOf(debits).map(({ ccy, value: amount }) => ({ ccy, amount })),
      notBegun: rows.length - lines.length,
      result: path,
    },
    rows: lines,
    failure: failure && mayRetry && !isUnknown(failure) ? withRetry(failure, retry) : failure,
  };
}

/** Adds a hint about `--retry` to the failure of a batch in which payments failed. */
const withRetry = (failure: Failure, command: BatchSource['retry']): Failure =>
  failure.saying(failure.why, {
    hint: `To retry the failed rows${command ? '' : ', run the same command with --retry.'}`,
    next: command && { do: 'run', ...command },
  });
