// Shows a payment on the screen: quote card, question with countdown, live line, result. A pure
// reducer turns the events of the payment into a model and what to draw.
import type { Transaction, Rates } from '../../api/types.js';
import {
  formatAmount,
  amountWithSats,
  type Money,
  moneyFromWire,
  decimalsOf,
  money,
} from '../../formats/amount.js';
import { formatDuration, describeDuration, roughDuration } from '../../formats/calendar.js';
import { isQuoted } from '../../formats/states.js';
import { quoteCard, rateText, type QuoteCard } from '../../terminal/cards/quote-card.js';
import {
  ageOf,
  besideSteps,
  recordLine,
  stepsLine,
  waitingText,
  confirmationsText,
} from '../../terminal/cards/steps.js';
import { transactionList } from '../../terminal/views/transaction-view.js';
import type { Answer, Approval, PaymentDeps, PaymentEvent } from '../../wallet/payment/model.js';
import { commandFor } from '../../terminal/next-step.js';
import type { Context } from '../context.js';
import type { Deps } from '../define.js';
import { within } from '../process.js';
import { Failure, unlessFailure } from '../../formats/failure.js';
import type { CardLine } from '../../terminal/cards/card.js';
import { decodeOrder, type Order } from '../../wallet/order/orders.js';
import { movedAmounts, spentBy } from '../../wallet/history/moved-amounts.js';
import { instructionOf } from '../../wallet/instruction/instruction.js';
import { keptText, replacedText } from '../../wallet/instruction/words.js';
import { latest, type Payment } from '../../store/journal/payment.js';
import { resolutionText } from '../../wallet/payment/outcomes.js';
import { type Quote, findRate } from '../../wallet/quote/quote.js';
import { methodProperties } from '../../formats/rails.js';
import { latestPayments } from '../contacts/payees.js';

/** The parts of the context that draw a payment. */
type ScreenDeps = Deps<
  | 'account'
  | 'ask'
  | 'client'
  | 'every'
  | 'globals'
  | 'live'
  | 'now'
  | 'out'
  | 'present'
  | 'sleep'
  | 'terminal'
> & { readonly settings: Pick<Context['settings'], 'embedded' | 'profileName'> };

interface PaymentScreen {
  readonly approve: (approval: Approval) => Promise<Answer>;
  readonly on: PaymentDeps['on'];
  readonly completeCard: () => Promise<void>;
  readonly done: (txn: Transaction) => void;
}

export function showSearching(
  count: number,
  { live, terminal }: Pick<Context, 'live' | 'terminal'>,
): void {
  if (terminal.canAnimate)
    live.start(() => `Searching the service's list for the reference (${count} transactions read)`);
}

/** Returns the hint to mine a block, shown while the embedded sandbox waits for confirmations. */
export function miningHint(
  txn: Transaction,
  { settings, terminal }: Pick<ScreenDeps, 'settings' | 'terminal'>,
): string {
  if (!settings.embedded || confirmationsText(txn) === undefined) return '';
  return terminal.canAnimate
    ? `\n${terminal.stderrCanvas.style.dim('the next block: svcpay --sandbox sandbox mine')}`
    : '';
}

/** Draws the quotes of a payment. */
function quoteCards(shown: Shown, presentation: Presentation, context: ScreenDeps) {
  const { out, present } = context;
  const isAsked = presentation.isAsked !== false && !context.globals.yes;
  /** The function that draws the next quote card, or undefined if no quote card is due. */
  let card: (() => void) | undefined;
  let worth: WorthOf | undefined;
  const decoration =
    !context.terminal.stderrIsTty || out.quiet
      ? undefined
      : readWorth(context).then((read) => void (worth = read));
  const draw = (): void => {
    card?.();
    card = undefined;
  };
  /** Draws the quote card after a short wait for the exchange rates. */
  const complete = async (): Promise<void> => {
    if (card !== undefined && decoration !== undefined)
      await within(decorationMs, decoration, context);
    draw();
  };
  const show = (approval: Approval): void => {
    const before = shown.approval;
    shown.approval = approval;
    shown.txn = approval.txn;
    if (before?.txn.txnId === approval.txn.txnId) return;
    const changes = before && changesOf(before.quote, approval.quote);
    if (changes !== undefined) {
      const price =
        changes.length === 0
          ? 'the new quote has the same price'
          : `the new quote has a different price: ${changes.join(', ')}`;
      out.say(`The quote expired; ${price}.`);
    } else if (approval.worse) out.say('The quote has changed:');
    const quote = cardOf(approval, presentation, isAsked, present());
    card = () => {
      if (changes?.length !== 0)
        out.card((canvas) => ['', ...quoteCard({ ...quote, worth }, canvas), '']);
      warnOf(approval, context);
      out.change(approval.txn, transactionList(present()).columns);
    };
    if (!isAsked) void complete();
  };
  return { show, draw, complete };
}

/** Draws a payment on the screen. */
export function paymentScreen(presentation: Presentation, context: ScreenDeps): PaymentScreen {
  const { out, live, now, present } = context;
  const { columns } = transactionList(present());
  const shown: Shown = { reached: [] };
  const cards = quoteCards(shown, presentation, context);
  const wait = (): void => {
    if (shown.waitingSince !== undefined) return;
    shown.waitingSince = now();
    startWaiting(shown, context);
  };

  const on = (event: PaymentEvent): void => {
    cards.draw();
    switch (event.type) {
      case 'quoted':
        return cards.show(event);
      case 'searching':
        return showSearching(event.count, context);
      case 'exceeded':
        return out.warn(event.error.message);
      case 'journal-failed':
        return out.warn(`${event.error.message} The payment continues.`);
      case 'submitting':
        shown.isNews = true;
        return presentation.onSubmitted?.();
      case 'read':
        shown.txn = event.txn;
        return wait();
      case 'state':
        shown.txn = event.txn;
        shown.isNews = true;
        shown.reached.push(event.txn.txnState);
        wait();
        out.change(event.txn, columns);
        return live.update();
      case 'following':
        shown.isNews = true;
        break;
      case 'recorded':
        shown.isRecorded = true;
    }
    out.say(remarkOn(event));
  };

  return {
    on,
    completeCard: cards.complete,
    done: (txn) => showEnd(txn, shown, presentation, context),
    async approve(approval) {
      await cards.complete();
      const answer = await askFor(approval, context);
      if (answer === true) wait();
      return answer;
    },
  };
}

type Remarked = Extract<
  PaymentEvent,
  {
    readonly type:
      | 'following'
      | 'replaced'
      | 'kept'
      | 'recorded'
      | 'found'
      | 'refused'
      | 'rate-unchecked';
  }
>;

/** Describes an event that changes neither the quote card nor the live line. */
function remarkOn(event: Remarked): string {
  switch (event.type) {
    case 'following':
      return `Waiting for another svcpay process that is working on ${event.payment.ref}.`;
    case 'replaced':
      return replacedText(instructionOf(event.payment));
    case 'kept':
      return keptText(event.total);
    case 'recorded':
      return resolutionText(event.resolution);
    case 'found':
      return `Resuming the earlier transaction ${event.txn.txnId}.`;
    case 'refused':
      // The failure that ends the run tells the reason of the refusal.
      return (
        'The service refused the confirmation. svcpay checks for 8 s whether the service ' +
        'accepted an earlier confirmation.'
      );
    case 'rate-unchecked':
      return event.why;
  }
}

/** The longest time that the quote card waits for the exchange rates, in ms. */
const decorationMs = 1_500;

function warnOf({ quote, unusual }: Approval, { out }: ScreenDeps): void {
  if (!quote.namesFees)
    out.warn('The total contains no fees, because the service does not report its fees.');
  for (const each of unusual) out.warn(`${each}.`);
}

async function askFor(
  { quote, unusual }: Approval,
  { ask, settings, every, present }: ScreenDeps,
): Promise<boolean | 'lapsed'> {
  const { expiresAt, total } = quote;
  const left = (): number => (expiresAt === undefined ? 0 : expiresAt - present());
  const place = settings.embedded ? 'sandbox' : settings.profileName;
  const despite = unusual.length === 0 ? '' : `, although ${unusual.join(' and ')}`;
  const question = `Pay ${formatAmount(total)} from your ${total.ccy} wallet (${place})${despite}?`;
  // The question has no countdown if the quote has no expiry, or if the service still accepts an
  // expired quote.
  return left() <= 0 ? ask.confirm(question) : ask.confirmWithin(question, { left, every });
}

/** Starts the live line of a payment. */
function startWaiting(shown: Shown, context: ScreenDeps): void {
  const line = waitingLine(context);
  context.live.start((elapsedMs) => {
    const { txn, reached, approval } = shown;
    if (txn === undefined) return 'Waiting';
    const steps = stepsLine(txn, context.terminal.stderrCanvas, reached);
    // If an earlier run submitted the payment, svcpay counts the wait from the creation of the
    // transaction.
    const waitedMs = approval === undefined ? ageOf(txn, context.present()) : elapsedMs;
    return line(txn, steps, waitedMs) + miningHint(txn, context);
  });
}

/**
 * Returns a function that adds the time of a wait to the steps of a payment, on a terminal that can
 * redraw the line.
 */
export function waitingLine(
  context: Deps<'account' | 'terminal'>,
): (txn: Transaction, steps: string, waitedMs: number) => string {
  const { canAnimate, stderrCanvas } = context.terminal;
  if (!canAnimate) return (_txn, steps) => steps;
  const usual = readUsual(context);
  return (txn, steps, waitedMs) =>
    besideSteps(steps, waitingText(txn, waitedMs, usual(txn)), stderrCanvas);
}

/** Draws the final steps of a payment with the duration of the payment, then the result. */
function showEnd(
  txn: Transaction,
  shown: Shown,
  presentation: Presentation,
  { out, live, now, terminal, globals }: ScreenDeps,
): void {
  const { reached, waitingSince, isRecorded } = shown;
  live.stop();
  if (isQuoted(txn.txnState) || isRecorded === true) return;
  if (reached.length > 1 && waitingSince !== undefined) {
    const took = formatDuration(now() - waitingSince);
    out.card((canvas) => [`  ${stepsLine(txn, canvas, reached)}   ${canvas.style.dim(took)}`]);
  }
  const text = endedText(txn, shown, presentation);
  live.succeed(recordLine(text, txn.txnId, terminal.stderrCanvas));
  // With --quote-only, a payment that an earlier run submitted has no quote to confirm.
  if (presentation.isAsked === false && txn.txnState !== 'completed')
    out.advise(`  To continue it: ${commandFor({ do: 'resume', id: txn.txnId }, globals)}`);
}

/** Defines how a command presents a payment. */
export interface Presentation {
  readonly about: readonly CardLine[];
  /** The expiry of the order in epoch ms. */
  readonly expiresAt?: number | undefined;
  /** The label of the received amount on the quote card, by default "Recipient gets". */
  readonly getsLabel?: string;
  /** Whether a question with a countdown follows the quote card. */
  readonly isAsked?: boolean;
  /** Called when svcpay sends the confirmation. */
  readonly onSubmitted?: (() => void) | undefined;
  /**
   * Returns a text about the result of a payment, which states the received amount. Without
   * `ended`, svcpay shows the cost of the payment instead of the received amount.
   */
  readonly ended?: (gets: Money) => string;
}

/** The presentation of a swap, which shows the received amount. */
export const swapPresentation = {
  getsLabel: 'You get',
  ended: (gets: Money): string => `You got ${amountWithSats(gets)}`,
};

/** What the screen shows of a payment. */
interface Shown {
  /** The quote that the screen showed last. */
  approval?: Approval;
  txn?: Transaction;
  /** The states that the service has reported, in the order of the reports. */
  readonly reached: string[];
  /**
   * The time at which svcpay began to wait for the settlement, in epoch ms by this machine's clock.
   * Undefined before the wait.
   */
  waitingSince?: number;
  /** Whether a recorded answer decides about the money, instead of the state of the transaction. */
  isRecorded?: boolean;
  /** Whether money moved while this run looked on, so that the payment was not paid before. */
  isNews?: boolean;
}

/** Describes the differences between two quotes. */
function changesOf(before: Quote, after: Quote): string[] {
  const changed = (what: string, one: Money | undefined, other: Money | undefined): string[] => {
    if (one === undefined || other === undefined || one.value.eq(other.value)) return [];
    return [`${what} ${formatAmount(other)} instead of ${formatAmount(one)}`];
  };
  return [
    ...changed('you pay', before.total, after.total),
    ...changed('the amount received is', before.receives, after.receives),
  ];
}

/** The line with the amount before its conversion to bitcoin. */
const worthLine = ({ worth }: Order): CardLine => ({
  label: 'Worth',
  value: worth && formatAmount(worth),
  note: worth && `at ${rateText({ base: 'BTC', quote: worth.ccy, value: worth.rate })}`,
});

/**
 * Builds the card of a quote.
 * @param now epoch ms by the service's clock
 */
function cardOf(
  { order, quote, available, left }: Approval,
  { about, getsLabel, expiresAt }: Presentation,
  isAsked: boolean,
  now: number,
): QuoteCard {
  const { receives } = quote;
  if (receives === undefined) {
    throw new Failure('refused', 'the quote does not state the amount that the recipient gets.', {
      money: 'Nothing moved',
      txnId: quote.txnId,
    });
  }
  const leftUntil = (end: number): number => Math.max(end - now, 0);
  return {
    ...quote,
    receives,
    about: [
      ...about,
      worthLine(order),
      {
        label: 'Expires',
        value: expiresAt === undefined ? '' : `in ${describeDuration(leftUntil(expiresAt))}`,
      },
      {
        label: 'Note',
        value: quote.derived ? 'computed from the rate; the service sets the final amount' : '',
      },
    ],
    getsLabel,
    left,
    isLeftCertain: available !== undefined,
    // The question shows the countdown, so the card does not repeat the remaining time.
    validForMs: quote.expiresAt === undefined || isAsked ? undefined : leftUntil(quote.expiresAt),
  };
}

/**
 * Returns a text about the result of a payment, which states the received or the paid amount. The
 * amount comes from the transaction or from the approved quote.
 */
function endedText(
  { destReq, txnState, ...txn }: Transaction,
  { approval, isNews }: Shown,
  { ended, isAsked }: Presentation,
): string {
  const quote = approval?.quote;
  const gets =
    moneyFromWire(destReq.ccy, destReq.amtSettled) ??
    quote?.receives ??
    moneyFromWire(destReq.ccy, destReq.amtRequested);
  const way =
    txnState === 'completed' ? '' : isAsked === false ? 'Approved earlier: ' : 'On its way: ';
  const paid =
    quote?.total ??
    spentBy({ ...txn, destReq, txnState }) ??
    movedAmounts({ ...txn, destReq, txnState })?.left;
  if (txnState === 'completed' && isNews !== true)
    return `Already paid, nothing was sent now${paid ? `: ${amountWithSats(paid)}` : ''}`;
  if (ended !== undefined && gets !== undefined) return `${way}${ended(gets)}`;
  return `${way || 'Paid '}${paid === undefined ? '' : amountWithSats(paid)}`.trimEnd();
}

/**
 * Returns a text such as `on-chain usually takes 30 min`, or undefined if the duration is unknown.
 */
export function usualText(method: string, own: number | undefined): string | undefined {
  const properties = methodProperties(method);
  const ms = own ?? properties?.usualMs;
  return ms === undefined
    ? undefined
    : `${properties?.named ?? 'a payout like this'} usually takes ${roughDuration(ms)}`;
}

/**
 * Starts to read the latest payments from the journal, and ignores a failed read. Until the read of
 * the journal ends, the returned function uses the usual duration from the data of the payment
 * method.
 */
function readUsual(context: Deps<'account'>): (txn: Transaction) => string | undefined {
  let recent: readonly Payment[] = [];
  void latestPayments(context).then(
    (payments) => (recent = payments),
    () => undefined,
  );
  return ({ destReq: { method } }) =>
    method == null ? undefined : usualText(method, usualMs(recent, method));
}

/**
 * Returns the value of an amount in another currency, or undefined without an exchange rate.
 * Without a currency, returns the value of an amount of bitcoin in USD.
 */
export type WorthOf = (amount: Money, ccy?: string) => Money | undefined;

const fiat = 'USD';
const ratesTimeoutMs = 1_500;

/**
 * Reads the exchange rates, and resolves with a function that converts an amount. If the rates do
 * not arrive soon, the function returns undefined for every amount.
 */
export async function readWorth({ client, sleep }: Deps<'client' | 'sleep'>): Promise<WorthOf> {
  const rates = client().then((service) => service.rates());
  const answered = await within(ratesTimeoutMs, rates, { sleep }).catch(() => undefined);
  return answered === undefined ? () => undefined : (amount, ccy) => worthOf(amount, ccy, answered);
}

function worthOf({ ccy, value }: Money, into: string | undefined, rates: Rates) {
  if (into === undefined && ccy !== 'BTC') return undefined;
  const quote = into ?? fiat;
  const found = unlessFailure(() => findRate(rates, ccy + quote));
  return found && money(quote, value.times(found.rate).round(decimalsOf(quote)));
}

const leastKnown = 3;

/**
 * Estimates how long payments by a method usually take, in ms, or returns undefined if the journal
 * has too few payments. The estimate is the first quartile of the recorded times. Many recorded
 * times are too long, because a command may read a settlement long after it happened.
 */
export function usualMs(payments: readonly Payment[], method: string): number | undefined {
  const took = payments
    .filter((each) => decodeOrder(latest(each).request).body.destReq.method === method)
    .flatMap(({ attempts, updatedAt }) =>
      attempts.flatMap(({ state, submittedAt }) =>
        state === 'paid' && submittedAt !== null ? updatedAt - submittedAt : [],
      ),
    )
    .filter((ms) => ms > 0)
    .toSorted((a, b) => a - b);
  return took.length < leastKnown ? undefined : took[Math.floor(took.length / 4)];
}
