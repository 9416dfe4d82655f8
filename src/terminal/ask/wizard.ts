// A walk through questions that can be taken back: each step sees the answers so far and adds its own.
import { back, type Back } from './back.js';

/** Undefined when there is nothing to ask: the answer came as a flag, or does not apply. */
export type Step<Answers> = (soFar: Answers) => Promise<Answers | Back> | undefined;

/** Going back forgets the last answer and asks its question again; going back from the first ends with `back`. */
export async function walk<Answers>(start: Answers, steps: readonly Step<Answers>[]): Promise<Answers | Back> {
  const asked: { readonly index: number; readonly soFar: Answers }[] = [];
  let soFar = start;
  for (let index = 0; index < steps.length; index++) {
    const answers = await steps[index]?.(soFar);
    if (answers === undefined) continue;
    if (answers === back) {
      const previous = asked.pop();
      if (previous === undefined) return back;
      soFar = previous.soFar;
      index = previous.index - 1;
    } else {
      asked.push({ index, soFar });
      soFar = answers;
    }
  }
  return soFar;
}

/** What an answer adds to those before it; going back adds nothing. */
export async function taking<T, Answers>(answer: Promise<T | Back>, take: (given: T) => Answers): Promise<Answers | Back> {
  const given = await answer;
  return given === back ? back : take(given);
}
