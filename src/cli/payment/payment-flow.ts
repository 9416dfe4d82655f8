// Runs a payment from its flags to the printed transaction. Asks before svcpay repeats the same
// payment.
import type { Transaction } from '../../api/types.js';
import { Failure, ifAvailable, orFailure, invalid } from '../../formats/failure.js';
import type { RecordView } from '../../terminal/rows/view.js';
import { transactionList } from '../../terminal/views/transaction-view.js';
import { noWalletText } from '../../terminal/views/wallet-view.js';
import type { Approval, Consent, PaymentDeps, Repeats } from '../../wallet/payment/model.js';
import {
  checkDestination,
  checkSpend,
  spentIfLimited,
  noLimits,
  quotedAmounts,
  type EarlierPayment,
} from '../../wallet/limits/limits.js';
import type { Spend } from '../../store/journal/journal.js';
import {
  exact,
  type Instruction,
  methodOf,
  instructionOf,
} from '../../wallet/instruction/instruction.js';
import { needOf, mayBeOwn, ownAddressGuard } from '../../wallet/instruction/order.js';
import { pay, referenceOf, journalFirst, named } from '../../wallet/payment/pay.js';
import type { Context } from '../context.js';
import { limitsInForce } from '../limits/in-force.js';
import { lazily } from '../stores.js';
import { termsOf, waitOf, type PaymentFlags } from './payment-options.js';
import { withReason, eventsOf } from '../tx/local-facts.js';
import { type Presentation, paymentScreen } from './payment-screen.js';
import { decisive, type AttemptState } from '../../store/journal/payment.js';
import { back, type Back } from '../../terminal/ask/questions.js';
import { relativeTime } from '../../terminal/time.js';
import { amountAsked, payeeInWords } from '../../wallet/instruction/words.js';
import { concerned } from '../../wallet/payment/outcomes.js';

/** The time in ms after a payment in which svcpay asks before it makes the same payment again. */
const paidWithinMs = 600_000;

/**
 * Runs one payment, shows its progress and returns its transaction. Asks for approval before money
 * moves, or requires `--yes` if svcpay cannot ask.
 */
export async function runPayment(
  instruction: Instruction,
  given: PaymentFlags,
  presentation: Presentation,
  context: Context,
): Promise<Transaction> {
  const ruled = { from: instruction.from, method: methodOf(instruction) };
  const flags = (await context.agent?.admit?.(ruled, given)) ?? given;
  const until = flags.quoteOnly ? ('quoted' as const) : undefined;
  const options = { wait: waitOf(flags), retry: flags.retry, until };
  demandAnswers([], flags, context);
  // Opens one connection each for the create request, the wallets, the rates and the account's own
  // address.
  const isConverted = needOf(instruction) === 'rates' || convertsAtService(instruction);
  const requests = 2 + Number(isConverted) + Number(mayBeOwn(instruction));
  context.early?.open(context.settings.baseUrl ?? '', requests);
  const note = flags.note ?? instruction.note;
  const request = {
    instruction: note === undefined ? instruction : { ...instruction, note },
    ref: flags.ref,
    terms: termsOf(flags, instruction.from),
  };
  const asked = { ...presentation, isAsked: !flags.quoteOnly };
  const guard = ownAddressGuard(context.account, context.out.say);
  const checkOrder = lazily(() => guard(instruction));
  const drive = async (deps: PaymentDeps, consent: Consent): Promise<Transaction> =>
    pay({ ...request, consent: { ...consent, proposal: flags.proposal } }, options, {
      ...(await depsUnder(flags, deps, context)),
      checkOrder,
    });
  const show = (): Promise<Transaction> => showPayment(asked, drive, context);
  return journalFirst(named(referenceOf(request)), context.journal, show).catch((error: unknown) =>
    withWallets(error, instruction, context),
  );
}

/**
 * Replaces the service's refusal with an explanation if the account lacks a wallet that the
 * instruction names.
 */
async function withWallets(
  error: unknown,
  { verb, from, to }: Instruction,
  { client }: Context,
): Promise<never> {
  if (!(error instanceof Failure) || error.kind !== 'refused') throw error;
  const named = verb === 'swap' ? [from, to] : [from];
  const wallets = await ifAvailable((await client()).wallets());
  const missing = named.find((ccy) => wallets?.every((wallet) => wallet.ccy !== ccy));
  if (wallets === undefined || missing === undefined) throw error;
  throw error.saying(`this ${noWalletText(missing, wallets)}`, {
    money: 'Nothing moved',
    hint: undefined,
  });
}

/** Whether the service converts the money, so that svcpay compares the quote with its rates. */
const convertsAtService = ({ verb, amount, from }: Instruction): boolean =>
  verb !== 'send' || (exact({ amount })?.ccy ?? from) !== from;

/**
 * Adapts the dependencies of a payment to `--quote-only` and to `--again`. With `--again`, svcpay
 * repeats an identical payment without asking.
 */
async function depsUnder(
  { quoteOnly, again }: PaymentFlags,
  deps: PaymentDeps,
  context: Context,
): Promise<PaymentDeps> {
  if (quoteOnly) return warningOfLimits(deps, context);
  const repeats: Repeats = { ...deps.repeats, decide: async () => 'another' };
  return again ? { ...deps, repeats } : deps;
}

/** With `--quote-only`, shows exceeded limits as warnings, because a quote moves no money. */
async function warningOfLimits(deps: PaymentDeps, context: Context): Promise<PaymentDeps> {
  const { limits } = deps;
  const spent = await spentIfLimited(limits, () => spentToday(context));
  const reasons = ({ order, quote }: Approval): string[] => {
    const refusal = orFailure(() => {
      checkDestination(limits, order);
      checkSpend(limits, quotedAmounts(order, quote), spent);
    });
    return refusal ? [`your limits refuse this payment because ${refusal.clause}`] : [];
  };
  const on: PaymentDeps['on'] = (event) => {
    if (event.type !== 'quoted') return deps.on(event);
    deps.on({ ...event, unusual: [...event.unusual, ...reasons(event)] });
  };
  return { ...deps, limits: noLimits, on };
}

/**
 * Throws Failure `declined` with a list of all missing answers, including `--yes`, if svcpay cannot
 * ask questions.
 */
export function demandAnswers(
  missing: readonly string[],
  { quoteOnly }: Pick<PaymentFlags, 'quoteOnly'>,
  context: Context,
  hint?: string,
): void {
  const all = [...missing, ...(quoteOnly || context.globals.yes ? [] : ['--yes'])];
  if (all.length > 0) context.ask.demand(all, hint);
}

export async function showPayment(
  presentation: Presentation,
  drive: (deps: PaymentDeps, consent: Consent) => Promise<Transaction>,
  context: Context,
): Promise<Transaction> {
  const screen = paymentScreen(presentation, context);
  try {
    const deps = await paymentDeps(context, (event) => {
      screen.on(event);
      context.agent?.on(event);
    });
    const asked: Consent = { by: 'person', ask: screen.approve };
    const consent: Consent = context.globals.yes ? { by: 'yes' } : asked;
    const txn = await drive(deps, consent)
      .finally(screen.completeCard)
      .catch(async (error: unknown) => {
        throw await withReason(error, context);
      });
    screen.done(txn);
    return txn;
  } finally {
    context.live.stop();
  }
}

export async function paymentDeps(context: Context, on: PaymentDeps['on']): Promise<PaymentDeps> {
  const account = await context.account();
  return {
    service: account.client,
    journal: await account.journal(),
    scope: account.scope,
    account: account.id,
    owner: context.owner,
    limits: await limitsInForce(context),
    budget: await budgetOf(context),
    now: context.now,
    sleep: context.sleep,
    every: context.every,
    newId: context.newId,
    reported: (txnId) => reported(txnId, context),
    signal: context.signal,
    repeats: context.agent?.repeats ?? {
      of: 'generated references',
      paidWithinMs,
      decide: (earlier, at) => askAgain(earlier, at, context),
    },
    on: (event) => {
      if (event.type === 'submitting') context.onSubmit();
      on(event);
    },
  };
}

/** Loads the code about proposals only for a run that belongs to a budget. */
const budgetOf = async (context: Context): Promise<PaymentDeps['budget']> =>
  context.settings.budget === undefined
    ? undefined
    : (await import('../proposals/for-owner.js')).budgetOf(context);

const reported = async (txnId: string, context: Context): Promise<readonly string[]> =>
  (await eventsOf(txnId, context)).flatMap(({ txnState }) => txnState ?? []);

export async function spentToday(context: Context): Promise<readonly Spend[]> {
  const { client, id, journal } = await context.account();
  return (await journal()).spent(id, client.datedNow());
}

/**
 * Returns the view of a paid transaction, which is empty on a screen because the live line shows
 * the result.
 */
export function paidView(now: number): RecordView<Transaction> {
  const { columns, fields, quiet } = transactionList(now);
  return { columns, fields, quiet, screen: () => [] };
}

const unknown = 'The outcome of the earlier payment is not known yet.';

/** What is known of an unfinished payment. */
const progress: Readonly<Partial<Record<AttemptState, string>>> = {
  'in-flight': 'The service has accepted it, and it is on its way.',
};

/**
 * Asks the person whether to repeat a payment. With `--yes`, throws Failure `usage` if the payment
 * to repeat is unfinished, because a script that runs twice would pay twice. At the submission,
 * nobody can be asked, so svcpay refuses the second of two payments at once. Throws Failure
 * `declined` if the person declines to repeat the payment.
 */
export async function askAgain(
  earlier: EarlierPayment,
  at: 'start' | 'submission',
  { ask, globals, now, out }: Pick<Context, 'ask' | 'globals' | 'now' | 'out'>,
): Promise<'follow' | 'another'> {
  const { payment, is } = earlier;
  const instruction = instructionOf(payment);
  const isOpen = is === 'unfinished';
  const sentence =
    `sent ${amountAsked(instruction)} to ${payeeInWords(instruction)} ` +
    `${relativeTime(earlier.at, now())}.` +
    (isOpen ? ` ${progress[decisive(payment).state] ?? unknown}` : '');
  if (globals.yes && !isOpen) return 'another';
  if (globals.yes || at === 'submission') {
    throw invalid(`you ${sentence}`, {
      money: 'Not sent',
      hint: 'To send the same amount again, add --again. To follow the earlier payment',
      next: { do: 'resume', id: decisive(payment).txnId ?? payment.ref },
      ...concerned(payment, decisive(payment)),
    });
  }
  out.say(`  You ${sentence}`);
  const answer = await ask.pose<'follow' | 'another' | Back>({
    message: 'What now?',
    flag: '--again',
    choices: [
      { value: 'follow', name: isOpen ? 'Follow that payment' : 'Show that payment' },
      { value: 'another', name: `Send another ${amountAsked(instruction)}` },
    ],
    default: isOpen ? 'follow' : back,
    backName: 'Cancel',
  });
  if (answer === back) throw new Failure('declined', '', { money: 'Not sent' });
  return answer;
}
