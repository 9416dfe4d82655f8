// A flow that has asked does not end in the shell with a refusal: it says what is wrong, and asks what to change.
import { Failure, type FailureKind } from '../../formats/failure.js';
import { back, type Back } from '../../terminal/ask/ask.js';
import { failureLines } from '../../terminal/failure-view.js';
import type { Context } from '../context.js';
import { leftAtOnce } from '../exit-with.js';

/** An answer, or several that belong together, given again. */
interface Change<A> {
  readonly name: string;
  readonly forget: (answers: A) => A;
}

export interface Flow<A> {
  /** Asks for what the answers leave open; those of before are offered again. */
  readonly ask: (answers: A, before?: A) => Promise<A | Back>;
  readonly run: (answers: A) => Promise<void>;
  readonly changes: readonly Change<A>[];
  /** A no is followed by the question what to change, because there were many answers. */
  readonly changesAfterNo?: true;
  /** A refusal says first what became of the money, unless none is to leave. */
  readonly paysNobody?: true;
}

/** Nothing has moved, and other answers may do better. */
const mendable: ReadonlySet<FailureKind> = new Set(['usage', 'limit', 'refused', 'not-found', 'temporary']);

/** Runs a flow that nothing stands before: whoever goes back from its first question has left the command. */
export async function runGuided<A>(start: A, flow: Flow<A>, ref: string | undefined, context: Context): Promise<void> {
  if ((await guide(start, flow, ref, context)) === back) throw leftAtOnce(context);
}

/**
 * Asks for everything, then runs it, until it is done or the person leaves; `back` from the first question.
 *
 * @param ref a reference stands for one payment, so that with one there is no other to make of it
 */
export async function guide<A>(
  start: A,
  flow: Flow<A>,
  ref: string | undefined,
  context: Context,
): Promise<Back | undefined> {
  // Throws before anything is typed where nobody is logged in.
  await context.client();
  const asked = await flow.ask(start);
  if (asked === back) return back;
  for (let answers: A = asked; ; ) {
    try {
      await flow.run(answers);
      return undefined;
    } catch (error) {
      if (!(error instanceof Failure) || ref !== undefined) throw error;
      if (!mendable.has(error.kind) && !(flow.changesAfterNo === true && error.kind === 'declined')) throw error;
      const changed: A | undefined = await askChange(answers, error, flow, context);
      if (changed === undefined) throw error;
      answers = changed;
    }
  }
}

/** Undefined when the person leaves it. */
async function askChange<A>(
  answers: A,
  error: Failure,
  { ask, changes, paysNobody }: Flow<A>,
  context: Context,
): Promise<A | undefined> {
  const { out } = context;
  if (error.kind !== 'declined') out.card((canvas) => ['', ...failureLines(error, { money: paysNobody !== true, canvas }), '']);
  const again = error.kind === 'declined' ? [] : [{ name: 'Try again', value: (same: A): A => same }];
  const choices = [...again, ...changes.map(({ name, forget }) => ({ name, value: forget }))];
  for (;;) {
    const question = { message: 'What now?', flag: '--yes', choices, backName: 'Leave it' };
    const forget = await context.ask.steps.select(question);
    if (forget === back) return undefined;
    const changed = await ask(forget(answers), answers);
    if (changed !== back) return changed;
  }
}
