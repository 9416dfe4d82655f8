// Describes what is wrong with a value of a request.
import * as v from 'valibot';

/** `destReq.amtRequested: a number is needed`. `root` is where the value itself was found. */
export function complaint(issue: v.BaseIssue<unknown>, root = ''): string {
  const path = [root, v.getDotPath(issue)].filter(Boolean).join('.');
  const words = needed(issue);
  return path === '' ? words : `${path}: ${words}`;
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a text is needed',
  boolean: 'true or false is needed',
  Object: 'an object is needed',
  Array: 'a list is needed',
};

function needed({ message, type, expected, received, requirement }: v.BaseIssue<unknown>): string {
  if (!message.startsWith('Invalid ')) return message;
  if (received === 'undefined') return 'it is required';
  if (type === 'non_empty') return 'it must not be empty';
  if (type === 'max_length') return `at most ${String(requirement)} characters are taken`;
  return kinds[expected ?? ''] ?? `${expected ?? 'something else'} is needed`;
}
