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
export function miningHint(txn: Transaction, { settings, terminal }: Context): string {
  if (!settings.embedded || confirmationsText(txn) === undefined) return '';
  return terminal.canAnimate
    ? `\n${terminal.stderrCanvas.style.dim('the next block: svcpay --sandbox sandbox mine')}`
    : '';
}

/** Draws a payment on the screen. */
export function paymentScreen(presentation: Presentation, context: Context): PaymentScreen {
  const { out, live, present } = context;
  const isAsked = presentation.isAsked !== false && !context.globals.yes;
  const { columns } = transactionList(present());
  let model = nothingShown;
  /** The function that draws the next quote card, or undefined if no quote card is due. */
  let card: (() => void) | undefined;
  let worth: WorthOf | undefined;
  const decoration =
    !context.terminal.stderrIsTty || out.quiet
      ? undefined
      : readWorth(context).then((read) => void (worth = read));

  const showCard = (): void => {
    card?.();
    card = undefined;
  };

  /** Draws the quote card after a short wait for the exchange rates. */
  const completeCard = async (): Promise<void> => {
    if (card !== undefined && decoration !== undefined)
      await within(decorationMs, decoration, context);
    showCard();
  };

  const showQuote = (approval: Approval, isKnown: boolean): void => {
    const quote = cardOf(approval, presentation, isAsked, present());
    card = () => {
      if (!isKnown) out.card((canvas) => ['', ...quoteCard({ ...quote, worth }, canvas), '']);
      warnOf(approval, context);
      out.change(approval.txn, columns);
    };
    if (!isAsked) void completeCard();
  };

  const show = (event: ScreenEvent): void => {
    showCard();
    showEvent(event, model, context.now(), {
      remember: (news) => (model = { ...model, ...news }),
      say: out.say,
      warn: out.warn,
      searching: (count) => showSearching(count, context),
      quote: showQuote,
      submitted: () => presentation.onSubmitted?.(),
      wait: () => startWaiting(() => model, context),
      change(txn) {
        out.change(txn, columns);
        live.update();
      },
    });
  };

  return {
    on: show,
    completeCard,
    done: (txn) => showEnd(txn, model, presentation, context),
    async approve(approval) {
      await completeCard();
      const answer = await askFor(approval, context);
      if (answer === true) show({ type: 'approved' });
      return answer;
    },
  };
}

/** The longest time that the quote card waits for the exchange rates, in ms. */
const decorationMs = 1_500;

function warnOf({ quote, unusual }: Approval, { out }: Context): void {
  if (!quote.namesFees)
    out.warn('The total contains no fees, because the service does not report its fees.');
  for (const each of unusual) out.warn(`${each}.`);
}

async function askFor(
  { quote, unusual }: Approval,
  { ask, settings, every, present }: Context,
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
function startWaiting(model: () => PaymentModel, context: Context): void {
  const { live, terminal } = context;
  const canvas = terminal.stderrCanvas;
  const usual = terminal.canAnimate ? readUsual(context) : () => undefined;
  live.start((elapsedMs) => {
    const { txn, reached, approval } = model();
    if (txn === undefined) return 'Waiting';
    const steps = stepsLine(txn, canvas, reached);
    if (!terminal.canAnimate) return steps;
    // If an earlier run submitted the payment, svcpay counts the wait from the creation of the
    // transaction.
    const waitedMs = approval === undefined ? ageOf(txn, context.present()) : elapsedMs;
    const time = waitingText(txn, waitedMs, usual(txn));
    return `${besideSteps(steps, time, canvas)}${miningHint(txn, context)}`;
  });
}

/** Draws the final steps of a payment with the duration of the payment, then the result. */
function showEnd(
  txn: Transaction,
  model: PaymentModel,
  presentation: Presentation,
  { out, live, now, terminal, globals }: Context,
): void {
  const { reached, waitingSince, recorded } = model;
  live.stop();
  if (isQuoted(txn.txnState) || recorded === true) return;
  if (reached.length > 1 && waitingSince !== undefined) {
    const took = formatDuration(now() - waitingSince);
    out.card((canvas) => [`  ${stepsLine(txn, canvas, reached)}   ${canvas.style.dim(took)}`]);
  }
  const text = endedText(txn, model, presentation);
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

interface PaymentModel {
  /** The quote that the screen showed last. */
  readonly approval: Approval | undefined;
  readonly txn: Transaction | undefined;
  /** The states that the service has reported, in the order of the reports. */
  readonly reached: readonly string[];
  /**
   * The time at which svcpay began to wait for the settlement, in epoch ms by this machine's clock.
   * Undefined before the wait.
   */
  readonly waitingSince: number | undefined;
  /** Whether a recorded answer decides about the money, instead of the state of the transaction. */
  readonly recorded?: boolean;
  /** Whether money moved while this run looked on, so that the payment was not paid before. */
  readonly isNews?: boolean;
}

export const nothingShown: PaymentModel = {
  approval: undefined,
  txn: undefined,
  reached: [],
  waitingSince: undefined,
};

/** The events of a payment, and the person's approval. */
export type ScreenEvent = PaymentEvent | { readonly type: 'approved' };

/** What the events of a payment draw. */
export interface Drawn {
  readonly remember: (news: Partial<PaymentModel>) => void;
  readonly say: (text: string) => void;
  readonly warn: (text: string) => void;
  readonly searching: (count: number) => void;
  /** Draws a quote. `isKnown` means that the screen already shows an identical quote. */
  readonly quote: (approval: Approval, isKnown: boolean) => void;
  readonly submitted: () => void;
  readonly wait: () => void;
  readonly change: (txn: Transaction) => void;
}

/**
 * Shows an event of a payment.
 * @param now epoch ms by this machine's clock
 */
export function showEvent(event: ScreenEvent, model: PaymentModel, now: number, to: Drawn): void {
  const waiting = (txn: Transaction | undefined, news: Partial<PaymentModel> = {}): void => {
    to.remember({ ...news, txn, waitingSince: model.waitingSince ?? now });
    if (model.waitingSince === undefined) to.wait();
  };
  switch (event.type) {
    case 'following':
      to.remember({ isNews: true });
      return to.say(`Waiting for another svcpay process that is working on ${event.payment.ref}.`);
    case 'replaced':
      return to.say(replacedText(instructionOf(event.payment)));
    case 'kept':
      return to.say(keptText(event.total));
    case 'recorded':
      to.remember({ recorded: true });
      return to.say(resolutionText(event.resolution));
    case 'found':
      return to.say(`Resuming the earlier transaction ${event.txn.txnId}.`);
    case 'searching':
      return to.searching(event.count);
    case 'refused':
      return to.say(refusedText);
    case 'exceeded':
      return to.warn(event.error.message);
    case 'rate-unchecked':
      return to.say(event.why);
    case 'journal-failed':
      return to.warn(`${event.error.message} The payment continues.`);
    case 'submitting':
      to.remember({ isNews: true });
      return to.submitted();
    case 'quoted':
      return quoted(event, model, to);
    case 'approved':
      return waiting(model.txn);
    case 'read':
      return waiting(event.txn);
    case 'state':
      waiting(event.txn, { reached: [...model.reached, event.txn.txnState], isNews: true });
      return to.change(event.txn);
  }
}

/** The failure that ends the run tells the reason of the refusal. */
const refusedText =
  'The service refused the confirmation. svcpay checks for 8 s whether the service accepted an ' +
  'earlier confirmation.';

function quoted(approval: Approval, { approval: before }: PaymentModel, to: Drawn): void {
  to.remember({ approval, txn: approval.txn });
  if (before?.txn.txnId === approval.txn.txnId) return;
  const changes = before && changesOf(before.quote, approval.quote);
  if (changes !== undefined) {
    const price =
      changes.length === 0
        ? 'the new quote has the same price'
        : `the new quote has a different price: ${changes.join(', ')}`;
    to.say(`The quote expired; ${price}.`);
  } else if (approval.worse) to.say('The quote has changed:');
  to.quote(approval, changes?.length === 0);
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
  { order, quote, available, left: leftAtLeast }: Approval,
  { about, getsLabel, expiresAt }: Presentation,
  isAsked: boolean,
  now: number,
): QuoteCard {
  const gets = quote.receives;
  if (gets === undefined) {
    throw new Failure('refused', 'the quote does not state the amount that the recipient gets.', {
      money: 'Nothing moved',
      txnId: quote.txnId,
    });
  }
  const left = (until: number): number => Math.max(until - now, 0);
  return {
    about: [
      ...about,
      worthLine(order),
      {
        label: 'Expires',
        value: expiresAt === undefined ? '' : `in ${describeDuration(left(expiresAt))}`,
      },
      {
        label: 'Note',
        value: quote.derived ? 'computed from the rate; the service sets the final amount' : '',
      },
    ],
    gets,
    getsLabel,
    serviceFee: quote.serviceFee,
    networkFee: quote.networkFee,
    namesFees: quote.namesFees,
    pays: quote.total,
    rate:
      quote.rate === undefined
        ? undefined
        : { base: quote.total.ccy, quote: gets.ccy, value: quote.rate },
    left: leftAtLeast,
    isLeftCertain: available !== undefined,
    // The question shows the countdown, so the card does not repeat the remaining time.
    validForMs: quote.expiresAt === undefined || isAsked ? undefined : left(quote.expiresAt),
  };
}

/**
 * Returns a text about the result of a payment, which states the received or the paid amount. The
 * amount comes from the transaction or from the approved quote.
 */
function endedText(
  { destReq, txnState, ...txn }: Transaction,
  { approval, isNews }: PaymentModel,
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
export function readUsual(context: Context): (txn: Transaction) => string | undefined {
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
export async function readWorth({ client, sleep }: Context): Promise<WorthOf> {
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
