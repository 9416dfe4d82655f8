// Shows a payment on the screen: quote card, question with countdown, live line, result.
import type { Transaction } from '../../api/types.js';
import { formatAmount } from '../../formats/amount.js';
import { formatDuration } from '../../formats/calendar.js';
import { isQuoted } from '../../formats/states.js';
import { quoteCard } from '../../terminal/cards/quote-card.js';
import {
  ageOf,
  besideSteps,
  recordLine,
  stepsLine,
  waitingText,
  confirmationsText,
} from '../../terminal/cards/steps.js';
import { transactionList } from '../../terminal/views/transaction-view.js';
import type { Answer, Approval, PaymentDeps } from '../../wallet/payment/contract.js';
import { commandFor } from '../../terminal/next-step.js';
import type { Context } from '../context.js';
import { readWorth, type WorthOf } from '../watch/worth.js';
import { within } from '../process.js';
import {
  cardOf,
  endedText,
  nothingShown,
  step,
  type Drawing,
  type PaymentModel,
  type Presentation,
  type ScreenEvent,
} from './payment-model.js';
import { readUsual } from './usual-time.js';

export interface PaymentScreen {
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

  const draw = (drawing: Drawing): void => {
    switch (drawing.draw) {
      case 'say':
        return out.say(drawing.text);
      case 'warning':
        return out.warn(drawing.text);
      case 'searching':
        return showSearching(drawing.count, context);
      case 'quote':
        return showQuote(drawing.approval, drawing.isKnown);
      case 'submitted':
        return presentation.onSubmitted?.();
      case 'wait':
        return startWaiting(() => model, context);
      case 'change':
        out.change(drawing.txn, columns);
        return live.update();
    }
  };

  const show = (event: ScreenEvent): void => {
    showCard();
    const [next, drawings] = step(model, event, context.now());
    model = next;
    drawings.forEach(draw);
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
