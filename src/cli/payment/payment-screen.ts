// A payment on the screen: quote card, question with countdown, live line, result.
import type { Transaction } from '../../api/types.js';
import { formatAmount, moneyFromWire, type Money } from '../../formats/amount.js';
import { describeDuration, formatDuration } from '../../formats/duration.js';
import { Failure } from '../../formats/failure.js';
import { isQuoted } from '../../formats/states.js';
import { amountWithSats, type Fact } from '../../terminal/cards/card.js';
import { quoteCard, type QuoteCard } from '../../terminal/cards/quote-card.js';
import { recordLine } from '../../terminal/cards/record-line.js';
import { stepsLine } from '../../terminal/cards/steps.js';
import { confirmationsText } from '../../terminal/views/state-words.js';
import { transactionList } from '../../terminal/views/transaction-view.js';
import { spentBy } from '../../wallet/history/ledger-entry.js';
import type { Approval, PaymentDeps, PaymentEvent } from '../../wallet/payment/contract.js';
import type { Quote } from '../../wallet/quote/quote.js';
import type { Context } from '../context.js';
import { readWorth, type Worth } from '../overview/worth.js';
import { within } from '../within.js';

/** How the command presents a payment. */
export interface Presentation {
  readonly about: readonly Fact[];
  /** Epoch ms. */
  readonly expiresAt?: number | undefined;
  /** Default: "Recipient gets". */
  readonly getsLabel?: string;
  /** A question with a countdown follows the quote. */
  readonly isAsked?: boolean;
  /** Called when the confirmation is sent. */
  readonly onSubmitted?: (() => void) | undefined;
  /** Describes the result by what arrived instead of by the cost. */
  readonly ended?: (gets: Money) => string;
}

/** A swap shows what it brought. */
export const swapPresentation = {
  getsLabel: 'You get',
  ended: (gets: Money): string => `You got ${amountWithSats(gets)}`,
};

export interface PaymentScreen {
  readonly approve: PaymentDeps['approve'];
  readonly on: PaymentDeps['on'];
  readonly completeCard: () => Promise<void>;
  readonly done: (txn: Transaction) => void;
}

export function showSearching(
  count: number,
  { live, terminal }: Pick<Context, 'live' | 'terminal'>,
): void {
  if (terminal.canAnimate)
    live.start(() => `Searching the service's list for the reference: ${count} transactions`);
}

/** How to mine a block while the embedded sandbox awaits confirmations. */
export function miningHint(txn: Transaction, { settings, terminal }: Context): string {
  if (!settings.embedded || confirmationsText(txn) === undefined) return '';
  return terminal.canAnimate
    ? `\n${terminal.stderrCanvas.style.dim('the next block: svcpay --sandbox sandbox mine')}`
    : '';
}

/** @param now the service's clock, epoch ms */
export function paymentScreen(
  presentation: Presentation,
  now: () => number,
  context: Context,
): PaymentScreen {
  const { out, ask, live, settings } = context;
  const isAsked = presentation.isAsked !== false && !context.globals.yes;
  const { columns } = transactionList(context.now());
  const reached: string[] = [];
  let latest: Transaction | undefined;
  let card: QuoteCard | undefined;
  let shown: Approval | undefined;
  let startedAt: number | undefined;
  let worth: Worth | undefined;
  let drawCard: (() => void) | undefined;
  const decoration =
    !context.terminal.stderrIsTty || out.quiet
      ? undefined
      : readWorth(context).then((read) => void (worth = read));

  /** Starts the live line. */
  const follow = (txn = latest): void => {
    latest = txn;
    if (startedAt !== undefined) return;
    startedAt = context.now();
    const canvas = context.terminal.stderrCanvas;
    live.start(() =>
      latest === undefined
        ? 'Waiting'
        : `${stepsLine(latest, canvas, reached)}${miningHint(latest, context)}`,
    );
  };

  const showCard = (): void => {
    drawCard?.();
    drawCard = undefined;
  };

  const on = (event: PaymentEvent): void => {
    showCard();
    if (event.type === 'following')
      out.say(`Another svcpay process is working on ${event.payment.ref}; waiting for it.`);
    else if (event.type === 'found')
      out.say(`Resuming the earlier transaction ${event.txn.txnId}.`);
    else if (event.type === 'searching') showSearching(event.count, context);
    else if (event.type === 'refused')
      out.say(
        `The service refused the confirmation (${event.error.message.replace(/\.$/, '')}). Reading its state for 8 s, in case a copy was carried out.`,
      );
    else if (event.type === 'exceeded') out.warn(event.failure.message);
    else if (event.type === 'rate-unchecked') out.say(event.why);
    else if (event.type === 'journal-failed')
      out.warn(`${event.error.message} The payment continues.`);
    else if (event.type === 'submitting') presentation.onSubmitted?.();
    else if (event.type === 'quoted') showQuote(event.approval);
    else if (event.type === 'state') observe(event.txn);
    else if (event.type === 'read') follow(event.txn);
  };

  const showQuote = (approval: Approval): void => {
    const before = shown;
    shown = approval;
    latest = approval.txn;
    card = cardOf(approval, presentation, isAsked, now());
    if (before?.txn.txnId === approval.txn.txnId) return;
    if (before !== undefined) out.say(renewedText(before.quote, approval.quote));
    else if (approval.worse) out.say('The quote has changed:');
    const isSame = before !== undefined && changesOf(before.quote, approval.quote).length === 0;
    drawCard = () => {
      card = card && { ...card, worth };
      if (!isSame)
        out.card((canvas) => ['', ...(card === undefined ? [] : quoteCard(card, canvas)), '']);
      if (!approval.quote.namesFees)
        out.warn('The service does not report its fees: the total has none.');
      for (const unusual of approval.unusual) out.warn(`Check this: ${unusual}.`);
      out.change(approval.txn, columns);
    };
    if (!isAsked) void completeCard();
  };

  /** Shows the card, after a short wait for the rates. */
  const completeCard = async (): Promise<void> => {
    if (drawCard !== undefined && decoration !== undefined)
      await within(decorationMs, decoration, context);
    showCard();
  };

  /** Leaves the steps and their duration on the screen. */
  const showSteps = (txn: Transaction): void => {
    if (reached.length < 2 || startedAt === undefined) return;
    const took = formatDuration(context.now() - startedAt);
    out.card((canvas) => [`  ${stepsLine(txn, canvas, reached)}   ${canvas.style.dim(took)}`]);
  };

  const observe = (txn: Transaction): void => {
    follow(txn);
    reached.push(txn.txnState);
    out.change(txn, columns);
    live.update();
  };

  return {
    on,
    completeCard,
    done: (txn) => {
      live.stop();
      if (isQuoted(txn.txnState)) return;
      showSteps(txn);
      live.succeed(
        recordLine(endedText(txn, card, presentation), txn.txnId, context.terminal.stderrCanvas),
      );
    },
    async approve({ quote, unusual }) {
      await completeCard();
      const { expiresAt } = quote;
      const left = expiresAt === undefined ? 0 : expiresAt - now();
      const place = settings.embedded ? 'the sandbox' : settings.profileName;
      const despite = unusual.length === 0 ? '' : `, although ${unusual.join(' and ')}`;
      const question = `Pay ${formatAmount(quote.total)} from ${place}${despite}?`;
      // An expired quote that the service still honours has no countdown.
      const answer =
        expiresAt === undefined || left <= 0
          ? await ask.confirm(question)
          : await ask.confirmWithin(question, {
              left: () => expiresAt - now(),
              every: context.every,
            });
      if (answer === true) follow();
      return answer;
    },
  };
}

/** Longest wait for the rates on the card. */
const decorationMs = 1_500;

/** Differences between two quotes. */
function changesOf(before: Quote, after: Quote): string[] {
  const changed = (what: string, one: Money | undefined, other: Money | undefined): string[] => {
    if (one === undefined || other === undefined || one.value.eq(other.value)) return [];
    return [`${what} ${formatAmount(other)} instead of ${formatAmount(one)}`];
  };
  return [
    ...changed('you pay', before.total, after.total),
    ...changed('what arrives is', before.receives, after.receives),
  ];
}

function renewedText(before: Quote, after: Quote): string {
  const changes = changesOf(before, after);
  return `The quote expired; ${changes.length === 0 ? 'the new one has the same price' : `with the new one ${changes.join(', ')}`}.`;
}

function cardOf(
  { quote, available, left: leftAtLeast }: Approval,
  { about, getsLabel, expiresAt }: Presentation,
  isAsked: boolean,
  now: number,
): QuoteCard {
  const gets = quote.receives;
  if (gets === undefined) {
    throw new Failure(
      'refused',
      'Nothing moved: the quote does not name what the recipient gets.',
      { txnId: quote.txnId },
    );
  }
  const left = (until: number): number => Math.max(until - now, 0);
  return {
    about: [
      ...about,
      ...(expiresAt === undefined
        ? []
        : [{ label: 'Expires', value: `in ${describeDuration(left(expiresAt))}` }]),
      ...(quote.derived
        ? [{ label: 'Note', value: 'computed from the rate; the service sets the final amount' }]
        : []),
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
    // The question has a countdown.
    validForMs: quote.expiresAt === undefined || isAsked ? undefined : left(quote.expiresAt),
  };
}

/** The result: what arrived or what was paid, from the approved quote or from the settled transaction. */
function endedText(txn: Transaction, card: QuoteCard | undefined, { ended }: Presentation): string {
  const { destReq, txnState } = txn;
  const gets =
    moneyFromWire(destReq.ccy, destReq.amtSettled) ??
    card?.gets ??
    moneyFromWire(destReq.ccy, destReq.amtRequested);
  const way = txnState === 'completed' ? '' : 'On its way: ';
  if (ended !== undefined && gets !== undefined) return `${way}${ended(gets)}`;
  const paid = card?.pays ?? spentBy(txn);
  return `${way || 'Paid '}${paid === undefined ? '' : amountWithSats(paid)}`.trimEnd();
}
