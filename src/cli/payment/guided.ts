// Runs guided flows. After a refusal, a guided flow shows the reason and asks what to change.
import { Failure, type FailureKind } from '../../formats/failure.js';
import { back, type Back, type Choice } from '../../terminal/ask/questions.js';
import { failureLines } from '../../terminal/next-step.js';
import type { Context } from '../context.js';
import { leftAtOnce } from '../process.js';
import { formatAmount, moneyFromWire, type Money } from '../../formats/amount.js';

/** A group of answers that the person can change after a refusal. */
interface Change<A> {
  readonly name: string;
  readonly forget: (answers: A) => A;
}

/** A flow with the answers `A` and the result `R`. */
export interface Flow<A, R> {
  /** Asks for the answers that `answers` lacks, and suggests the earlier answers in `before`. */
  readonly ask: (answers: A, before?: A) => Promise<A | Back>;
  readonly run: (answers: A) => Promise<R>;
  readonly changes: readonly Change<A>[];
  /** Whether the flow moves no money, so that its refusals do not mention money. */
  readonly paysNobody?: true;
}

/**
 * The failures after which no money has moved and different answers may succeed. The set contains
 * `declined`, because a person who declines a quote may want to change the answers.
 */
const retryable: ReadonlySet<FailureKind> = new Set([
  'usage',
  'limit',
  'refused',
  'not-found',
  'temporary',
  'declined',
]);

/** Runs a guided flow. The command ends if the person goes back from the first question. */
export async function runGuided<A, R>(
  start: A,
  flow: Flow<A, R>,
  ref: string | undefined,
  context: Context,
): Promise<R> {
  const result = await guide(start, flow, ref, context);
  if (result === back) throw leftAtOnce(context);
  return result;
}

/**
 * Asks the questions of a flow and runs the flow until it succeeds or the person leaves. Resolves
 * with `back` if the person goes back from the first question.
 * @param ref the reference that the person gave, if any; a payment with a given reference cannot
 * change, so a refusal ends the flow
 */
export async function guide<A, R>(
  start: A,
  flow: Flow<A, R>,
  ref: string | undefined,
  context: Context,
): Promise<R | Back> {
  // Opens the client first, so that a command without a login fails before the first question.
  await context.client();
  const asked = await flow.ask(start);
  if (asked === back) return back;
  for (let answers: A = asked; ;) {
    try {
      return await flow.run(answers);
    } catch (error) {
      if (!(error instanceof Failure) || ref !== undefined || !retryable.has(error.kind))
        throw error;
      const changed: A | undefined = await askChange(answers, error, flow, context);
      if (changed === undefined) throw error;
      answers = changed;
    }
  }
}

/**
 * Asks the person what to change after a failure, and returns the changed answers, or undefined if
 * the person leaves.
 */
async function askChange<A, R>(
  answers: A,
  error: Failure,
  { ask, changes, paysNobody }: Flow<A, R>,
  context: Context,
): Promise<A | undefined> {
  const { out } = context;
  if (error.kind !== 'declined')
    out.card((canvas) => [
      '',
      ...failureLines(error, { money: paysNobody !== true, canvas, run: context.globals }),
      '',
    ]);
  const again =
    error.kind === 'declined' ? [] : [{ name: 'Try again', value: (same: A): A => same }];
  const changed = changes.map(({ name, forget }) => ({ name, value: forget }));
  // "Try again" is the first choice only for a temporary failure, after which the same answers may
  // succeed.
  const choices = error.kind === 'temporary' ? [...again, ...changed] : [...changed, ...again];
  while (choices.length > 0) {
    const question = { message: 'What now?', flag: '--yes', choices, backName: 'Leave it' };
    const forget = await context.ask.pose(question);
    if (forget === back) return undefined;
    const next = await ask(forget(answers), answers);
    if (next !== back) return next;
  }
  return undefined;
}

export interface WalletChoice extends Choice<string> {
  readonly isEmpty: boolean;
  /** The balance of the wallet, or undefined if the service does not report the balance. */
  readonly held: Money | undefined;
}

export async function walletChoices({ account }: Context): Promise<WalletChoice[]> {
  const wallets = await (await account()).client.wallets();
  return wallets.map(({ ccy, availableBalance }) => {
    const held = moneyFromWire(ccy, availableBalance);
    return {
      value: ccy,
      name: held === undefined ? ccy : formatAmount(held),
      isEmpty: held?.value.lte(0) === true,
      held,
    };
  });
}
