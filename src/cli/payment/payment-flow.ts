// A payment as a person or a script goes through it: the quote card, the yes, the live line, the record.
import { parseBaseUrl } from '../../api/base-url.js';
import type { Transaction } from '../../api/types.js';
import { formatAmount, money, moneyFromWire, type Money } from '../../formats/amount.js';
import { describeDuration, formatDuration } from '../../formats/duration.js';
import { Failure } from '../../formats/failure.js';
import { amountWithSats, type Fact } from '../../terminal/cards/card.js';
import type { RecordView } from '../../terminal/output.js';
import { quoteCard, type QuoteCard } from '../../terminal/cards/quote-card.js';
import { recordLine } from '../../terminal/cards/record-line.js';
import { stepsLine } from '../../terminal/cards/steps.js';
import { transactionList } from '../../terminal/views/transaction-view.js';
import type { Approval, PaymentDeps, PaymentEvent, PaymentOptions } from '../../wallet/payment/contract.js';
import { spentBy } from '../../wallet/history/ledger-entry.js';
import { lastDay, noLimits } from '../../wallet/limits/limits.js';
import type { Spend } from '../../store/journal/journal.js';
import type { Order } from '../../wallet/payment/orders.js';
import { openHistory, type History } from '../../wallet/payment/history.js';
import { pay } from '../../wallet/payment/payment.js';
import { isQuoted } from '../../formats/states.js';
import type { Context } from '../context.js';
import { readWorth, type Worth } from '../overview/worth.js';
import type { PaymentFlags } from './payment-options.js';

/** What the command knows about a payment besides its order, for the card above the figures. */
export interface Presentation {
  readonly about: readonly Fact[];
  /** Who gets it, as in `You get`; "Recipient gets" unless said otherwise. */
  readonly getsLabel?: string;
  /** What the payment brought, where that is more to the point than what it cost. */
  readonly ended?: (gets: Money) => string;
}

/** Runs one payment and prints its transaction. Asks before money moves; without a terminal `--yes` is needed. */
export async function runPayment(
  order: Order,
  flags: PaymentFlags,
  presentation: Presentation,
  context: Context,
): Promise<void> {
  const { globals } = context;
  if (!flags.quoteOnly && !globals.yes) context.ask.demand(['--yes']);
  const noted = flags.note === undefined ? order : { ...order, body: { ...order.body, note: flags.note } };
  const request = {
    order: noted,
    ref: flags.ref,
    terms: { maxFee: flags.maxFee?.(order.body.sourceReq.ccy) },
    consent: globals.yes ? ('standing' as const) : ('none' as const),
  };
  await showPayment(presentation, (deps) => pay(request, optionsOf(flags), deps), context);
}

/** Draws a payment while it is driven, and prints its transaction. */
export async function showPayment(
  presentation: Presentation,
  drive: (deps: PaymentDeps) => Promise<Transaction>,
  context: Context,
): Promise<void> {
  const client = await context.ownClient();
  const screen = paymentScreen(presentation, () => client.serviceNow(), context);
  try {
    const txn = await drive(await paymentDeps(context, screen));
    screen.done(txn);
    await context.out.record(txn, paidView(context));
  } finally {
    context.live.stop();
  }
}

/** How long to wait, and the like, from the flags of a payment. */
export function optionsOf(flags: Pick<PaymentFlags, 'wait' | 'waitTimeout' | 'retry' | 'quoteOnly'>): PaymentOptions {
  const { wait, waitTimeout, retry, quoteOnly } = flags;
  return { wait: wait === false ? false : (waitTimeout ?? 'forever'), retry, mode: quoteOnly ? 'look' : 'pay' };
}

export interface PaymentScreen {
  readonly approve: PaymentDeps['approve'];
  readonly on: PaymentDeps['on'];
  readonly done: (txn: Transaction) => void;
}

export async function paymentDeps(context: Context, screen: Pick<PaymentScreen, 'approve' | 'on'>): Promise<PaymentDeps> {
  const service = await context.ownClient();
  return {
    service,
    journal: await context.journal(),
    scope: await journalScope(context),
    account: await service.ownAccountId(),
    owner: context.owner,
    limits: context.settings.profile.limits ?? noLimits,
    now: context.now,
    sleep: context.sleep,
    every: context.every,
    newId: context.newId,
    signal: context.signal,
    approve: screen.approve,
    on: (event) => {
      if (event.type === 'let-go') context.moneyIsLetGo();
      screen.on(event);
    },
  };
}

/** The service and the account, within which the journal's references are unique. */
export async function journalScope({ settings, ownClient }: Context): Promise<string> {
  const accountId = await (await ownClient()).ownAccountId();
  return `${parseBaseUrl(settings.baseUrl ?? '')} ${accountId}`;
}

/** A long history is read once; on a screen that is seen. */
function showReading(count: number, { live, terminal }: Context): void {
  if (terminal.canAnimate) live.start(() => `Reading the history once, to know its references: ${count} transactions`);
}

/** What is known of the service's list of transactions, for looking up references. */
export async function historyOf(context: Context): Promise<History> {
  return openHistory({
    service: await context.ownClient(),
    references: (await context.journal()).references,
    scope: await journalScope(context),
    onRead: (count) => showReading(count, context),
  });
}

/** What the account has let go in the last day. */
export async function spentToday(context: Context): Promise<readonly Spend[]> {
  const service = await context.ownClient();
  const account = await service.ownAccountId();
  return (await context.journal()).spent(account, lastDay(context.now(), service.serviceNow()));
}

/** @param now the service's clock, epoch ms */
export function paymentScreen(presentation: Presentation, now: () => number, context: Context): PaymentScreen {
  const { out, ask, live, settings } = context;
  const reached: string[] = [];
  let latest: Transaction | undefined;
  let card: QuoteCard | undefined;
  let startedAt: number | undefined;
  let worth: Worth | undefined;
  // It only decorates: a card that is drawn before the rates are there is drawn without.
  if (context.terminal.stderrIsTty && !out.quiet) void readWorth(context).then((read) => (worth = read));

  const follow = (): void => {
    startedAt ??= context.now();
    const canvas = context.terminal.stderrCanvas;
    live.start(() => (latest === undefined ? 'Waiting' : stepsLine(latest, canvas, reached)));
  };

  const on = (event: PaymentEvent): void => {
    if (event.type === 'following') out.say(`Another svcpay is at work on ${event.intent.ref}; waiting for it.`);
    else if (event.type === 'found') out.say(`Going on with the earlier transaction ${event.txn.txnId}.`);
    else if (event.type === 'reading-history') showReading(event.count, context);
    else if (event.type === 'rate-unknown') out.say(`The service shows no rate for ${event.pair}: what the conversion loses was not checked.`);
    else if (event.type === 'journal-failed') out.warn(`${event.error.message} The payment goes on without it.`);
    else if (event.type === 'quoted') showQuote(event.approval);
    else if (event.type === 'state') observe(event.txn);
  };

  const showQuote = (approval: Approval): void => {
    latest = approval.txn;
    card = { ...cardOf(approval, presentation, now()), worth };
    const drawn = card;
    if (approval.worse) out.say('The quote has changed:');
    out.card((canvas) => ['', ...quoteCard(drawn, canvas), '']);
    for (const unusual of approval.unusual) out.warn(`Look twice: ${unusual}.`);
    out.change(approval.txn);
  };

  /** What stays on the screen of the way: its steps, and how long they took. */
  const showSteps = (txn: Transaction): void => {
    if (reached.length < 2 || startedAt === undefined) return;
    const took = formatDuration(context.now() - startedAt);
    out.card((canvas) => [`  ${stepsLine(txn, canvas, reached)}   ${canvas.style.dim(took)}`]);
  };

  const observe = (txn: Transaction): void => {
    latest = txn;
    if (startedAt === undefined) follow();
    reached.push(txn.txnState);
    out.change(txn);
    live.update();
  };

  return {
    on,
    done: (txn) => {
      live.stop();
      if (isQuoted(txn.txnState)) return;
      showSteps(txn);
      live.succeed(recordLine(endedText(txn, card, presentation), txn.txnId, context.terminal.stderrCanvas));
    },
    async approve({ quote }) {
      const valid = quote.expiresAt === undefined ? undefined : quote.expiresAt - now();
      const place = settings.embedded ? 'the sandbox' : settings.profileName;
      const yes = await ask.confirm(`Pay ${formatAmount(quote.total)} from ${place}?`, {
        note: valid === undefined ? undefined : `quote valid ${describeDuration(Math.max(valid, 0))}`,
      });
      if (yes) follow();
      return yes;
    },
  };
}

function cardOf({ quote, available }: Approval, { about, getsLabel }: Presentation, now: number): QuoteCard {
  const gets = quote.receives;
  if (gets === undefined) {
    throw new Failure('refused', 'Nothing moved: the quote does not say what the recipient gets.', { txnId: quote.txnId });
  }
  return {
    about: quote.derived ? [...about, { label: 'Note', value: 'computed from the rate; the service fixes it at the end' }] : about,
    gets,
    getsLabel,
    serviceFee: quote.serviceFee,
    networkFee: quote.networkFee,
    pays: quote.total,
    rate: quote.rate === undefined ? undefined : { base: quote.total.ccy, quote: gets.ccy, value: quote.rate },
    left: available === undefined ? undefined : money(available.ccy, available.value.minus(quote.total.value)),
    validForMs: quote.expiresAt === undefined ? undefined : Math.max(quote.expiresAt - now, 0),
  };
}

/** What the payment brought, or what left the wallet: as it was agreed to or, without a quote in this run, as it settled. */
function endedText(txn: Transaction, card: QuoteCard | undefined, { ended }: Presentation): string {
  const { destReq, txnState } = txn;
  const gets = moneyFromWire(destReq.ccy, destReq.amtSettled) ?? card?.gets ?? moneyFromWire(destReq.ccy, destReq.amtRequested);
  const way = txnState === 'completed' ? '' : 'On its way: ';
  if (ended !== undefined && gets !== undefined) return `${way}${ended(gets)}`;
  const paid = card?.pays ?? spentBy(txn);
  return `${way || 'Paid '}${paid === undefined ? '' : amountWithSats(paid)}`.trimEnd();
}

/** On a screen the live line has said it all. */
export function paidView({ now }: Context): RecordView<Transaction> {
  const { columns, fields, quiet } = transactionList(now());
  return { columns, fields, quiet, screen: () => [] };
}
