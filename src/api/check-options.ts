// Checks the options that a program passes to the library, so that a wrong type or a misspelt name
// never becomes a request or a payment.
import * as v from 'valibot';
import { Failure } from '../formats/failure.js';
import { nearest } from '../formats/text.js';

export type OptionsShape<Entries extends v.ObjectEntries = v.ObjectEntries> = v.StrictObjectSchema<
  Entries,
  undefined
>;

/** Makes the compiler refuse an options type whose names differ from the names of the shape. */
type WithNames<T, Names> = [keyof T, Names] extends [Names, keyof T] ? unknown : never;

/**
 * Checks the options of the function `name` against a shape, and returns the options unchanged.
 * Throws Failure `usage` if the shape does not accept the options.
 */
export function checkOptions<Entries extends v.ObjectEntries, T>(
  name: string,
  shape: OptionsShape<Entries>,
  given: T & WithNames<T, keyof Entries>,
): T {
  const { success, issues } = v.safeParse(shape, given);
  if (success) return given;
  // A misspelt name explains a missing option better than the missing option itself.
  const issue = issues.find(isUnknownName) ?? issues[0];
  const option = v.getDotPath(issue);
  throw new Failure('usage', `${name}: ${problem(issue, option, Object.keys(shape.entries))}`);
}

export const option = {
  text: v.optional(v.string()),
  filled: v.pipe(v.string(), v.nonEmpty('is empty')),
  line: v.optional(
    v.pipe(v.string(), v.nonEmpty('is empty'), v.regex(/^[^\p{Cc}]*$/u, 'contains a line break')),
  ),
  flag: v.optional(v.boolean()),
  called: v.optional(v.function()),
  signal: v.optional(v.instance(AbortSignal)),
  count: (least: number) => v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(least))),
};

const isUnknownName = ({ type, expected }: Pick<v.BaseIssue<unknown>, 'type' | 'expected'>) =>
  type === 'strict_object' && expected === 'never';

function problem(
  { type, expected, received, message }: v.BaseIssue<unknown>,
  option: string | null,
  names: readonly string[],
): string {
  if (option === null) return `pass an object with ${names.join(', ')}.`;
  if (isUnknownName({ type, expected })) {
    const meant = nearest(option, names);
    return meant === undefined
      ? `there is no option ${option}. The options are: ${names.join(', ')}.`
      : `there is no option ${option}. Did you mean ${meant}?`;
  }
  if (received === 'undefined') return `${option} is missing.`;
  if (type === 'non_empty') return `${option} is empty.`;
  const what = expected === null ? undefined : wanted[expected.replace(/ \| undefined$/, '')];
  if (what === undefined) return `${option}: ${message}.`;
  // The message does not quote a string that the caller passed, because the string may be a secret.
  const given = received.startsWith('"') ? 'a text' : received;
  return `${option} must be ${what}, not ${given}.`;
}

/** The words for each type of value that valibot expects. */
const wanted: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  Function: 'a function',
  AbortSignal: 'an AbortSignal',
  Object: 'an object',
  '>=0': 'a whole number of at least 0',
  '>=1': 'a whole number of at least 1',
};
