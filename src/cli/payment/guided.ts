// Runs guided flows: asks for the missing answers and, after a refusal, shows the reason and asks
// what to change.
import { Failure, type FailureKind } from '../../formats/failure.js';
import { back, type Choice, type Questions, walk } from '../../terminal/ask/questions.js';
import { failureLines } from '../../terminal/next-step.js';
import type { Context } from '../context.js';
import { leftAtOnce } from '../process.js';
import { formatAmount, moneyFromWire, type Money } from '../../formats/amount.js';

/** A flow with the answers `A` and the result `R`. */
interface Flow<A, R> {
  /** Returns the questions about the answers that `start` lacks. */
  readonly questions: (start: A) => Questions<A> | Promise<Questions<A>>;
  readonly run: (answers: A) => Promise<R>;
  /** What the person can change after a refusal, and the answers that each change withdraws. */
  readonly changes: Changes<A>;
  /** Whether the flow moves no money, so that its refusals do not mention money. */
  readonly paysNobody?: true;
}

export type Changes<A> = Readonly<Record<string, readonly (keyof A)[]>>;

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

/**
 * Asks the questions of a flow and runs the flow until it succeeds or the person leaves. The
 * command ends if the person goes back from the first question.
 * @param ref the reference that the person gave, if any; a payment with a given reference cannot
 * change, so a refusal ends the flow
 */
export async function guide<A extends object, R>(
  start: A,
  flow: Flow<A, R>,
  ref: string | undefined,
  context: Context,
): Promise<R> {
  const { ask, client } = context;
  // Opens the client first, so that a command without a login fails before the first question.
  await client();
  const { steps, onStep } = await flow.questions(start);
  const asked = await walk(ask.pose, start, steps, { onStep });
  if (asked === back) throw leftAtOnce(context, flow.paysNobody && 'Nothing was requested');
  for (let answers = asked; ;) {
    try {
      return await flow.run(answers);
    } catch (error) {
      if (!(error instanceof Failure) || ref !== undefined || !retryable.has(error.kind))
        throw error;
      answers = await askChange(answers, error, flow, context);
    }
  }
}

/** Asks the person what to change after a failure. Throws the failure if the person leaves. */
async function askChange<A extends object, R>(
  answers: A,
  error: Failure,
  { questions, changes, paysNobody }: Flow<A, R>,
  { ask, globals, out }: Context,
): Promise<A> {
  const isDeclined = error.kind === 'declined';
  if (!isDeclined)
    out.card((canvas) => [
      '',
      ...failureLines(error, { money: paysNobody !== true, canvas, run: globals }),
      '',
    ]);
  const again = isDeclined ? [] : [{ name: 'Try again', value: answers }];
  const changed = Object.entries(changes).flatMap(([name, withdrawn]) =>
    withdrawn.some((each) => answers[each] !== undefined)
      ? [{ name, value: without(answers, withdrawn) }]
      : [],
  );
  // "Try again" is the first choice only for a temporary failure, after which the same answers may
  // succeed.
  const choices = error.kind === 'temporary' ? [...again, ...changed] : [...changed, ...again];
  while (choices.length > 0) {
    const question = { message: 'What now?', flag: '--yes', choices, backName: 'Leave it' };
    const start = await ask.pose(question);
    if (start === back) break;
    const { steps, onStep } = await questions(start);
    const next = await walk(ask.pose, start, steps, { before: answers, onStep });
    if (next !== back) return next;
  }
  throw error;
}

const without = <A extends object>(answers: A, names: readonly (keyof A)[]): A => ({
  ...answers,
  ...Object.fromEntries(names.map((name) => [name, undefined])),
});

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
