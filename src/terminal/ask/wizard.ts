// Asks a sequence of questions in which the person can go back. Each step receives the earlier
// answers, and adds its own answer.

/** The answer that returns to the previous question. */
export const back = Symbol('back');
export type Back = typeof back;

/**
 * Asks the question of a wizard's step. Returns undefined if the question does not apply, or if a
 * flag has already answered the question. After a step back, `before` contains the
 * withdrawn answers, which the question then suggests.
 */
export type Step<Answers> = (
  soFar: Answers,
  before: Answers | undefined,
) => Promise<Answers | Back> | undefined;

/**
 * Asks the steps in order. Each step back withdraws the last answer and repeats the question for
 * that answer. A step back from the first question ends the wizard with `back`.
 * @param before the answers of an earlier run of the wizard, which the questions suggest
 */
export async function walk<Answers>(
  start: Answers,
  steps: readonly Step<Answers>[],
  before?: Answers,
): Promise<Answers | Back> {
  const asked: { readonly index: number; readonly soFar: Answers }[] = [];
  let soFar = start;
  let furthest: { readonly index: number; readonly soFar: Answers | undefined } = {
    index: 0,
    soFar: before,
  };
  for (let index = 0; index < steps.length; index++) {
    const answers = await steps[index]?.(soFar, furthest.soFar);
    if (answers === undefined) continue;
    if (answers === back) {
      const previous = asked.pop();
      if (previous === undefined) return back;
      if (index >= furthest.index) furthest = { index, soFar };
      soFar = previous.soFar;
      index = previous.index - 1;
    } else {
      asked.push({ index, soFar });
      soFar = answers;
    }
  }
  return soFar;
}

/**
 * Creates a step for one of the answers. The created step asks only if the answer is missing and
 * required.
 */
export const stepFor =
  <Answers extends object>() =>
  <K extends keyof Answers>(
    name: K,
    question: (soFar: Answers, before: Answers | undefined) => Promise<Answers[K] | Back>,
    wanted: (soFar: Answers) => boolean = () => true,
  ): Step<Answers> =>
  (soFar, before) =>
    soFar[name] === undefined && wanted(soFar)
      ? taking<Answers[K], Answers>(question(soFar, before), (given) => ({
          ...soFar,
          [name]: given,
        }))
      : undefined;

/** Waits for an answer. Returns `back` unchanged, and converts any other answer with `take`. */
export async function taking<T, Answers>(
  answer: Promise<T | Back>,
  take: (given: T) => Answers,
): Promise<Answers | Back> {
  const given = await answer;
  return given === back ? back : take(given);
}
