// Checks the options that a program passes to the library, so that a wrong type or a misspelt name
// never becomes a request or a payment, and the base URL, which decides who gets a token.
import * as v from 'valibot';
import { type Failure, invalid } from '../formats/failure.js';
import { nearest } from '../formats/text.js';

/** Makes the compiler refuse an options type whose names differ from the names of the entries. */
type WithNames<T, Names> = [keyof T, Names] extends [Names, keyof T] ? unknown : never;

/**
 * Returns a function that checks the options of the function `name`, and returns the options
 * unchanged. It throws Failure `usage` for options that do not fit the entries.
 */
export function optionsOf<Entries extends v.ObjectEntries>(name: string, entries: Entries) {
  const shape = v.strictObject(entries);
  return <T>(given: T & WithNames<T, keyof Entries>): T => {
    const { success, issues } = v.safeParse(shape, given);
    if (success) return given;
    // A misspelt name explains a missing option better than the missing option itself.
    const issue = issues.find(isUnknownName) ?? issues[0];
    const option = v.getDotPath(issue);
    throw invalid(`${name}: ${problem(issue, option, Object.keys(entries))}`);
  };
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

const longest = 2_000;

/**
 * Checks a base URL, and returns it without a trailing slash and without a pasted `/api/v2`. A bare
 * name such as `wallet.example.com` means https, and a bare loopback name such as `localhost:8787`
 * means http. The URL must be https, or http to this machine, and must have no credentials, query
 * or fragment. Throws Failure `usage` for a text that is not an allowed base URL.
 */
export function parseBaseUrl(text: string): string {
  const trimmed = withScheme(text.trim());
  const url = trimmed.length <= longest && URL.canParse(trimmed) ? new URL(trimmed) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw usage('The base URL is not valid.', 'Write a URL such as https://api.example.com.');
  }
  if (url.username !== '' || url.password !== '') {
    throw usage(
      `The base URL for ${url.host} contains a user name or password.`,
      'Remove the user name and the password from the base URL. svcpay signs in with the API key.',
    );
  }
  if (url.search !== '' || url.hash !== '') {
    throw usage('The base URL has a query or a fragment.', `Write ${url.origin}${url.pathname}.`);
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw usage(
      `http://${url.host} is not encrypted, so anyone on the network could read the token.`,
      `Use https://${url.host}. ` +
        'Plain http is allowed only for this machine (localhost, 127.0.0.1, [::1]).',
    );
  }
  return (
    url.origin +
    url.pathname
      .replace(/\/*$/, '')
      .replace(/(?:\/+api\/v2)?$/, '')
      .replace(/\/*$/, '')
  );
}

function withScheme(text: string): string {
  if (
    text.includes('://') ||
    !/^(?:[\w-]+(?:\.[\w-]+)*|\[[\da-f:]+\])(?::\d+)?(?:\/.*)?$/i.test(text)
  )
    return text;
  const https = `https://${text}`;
  return URL.canParse(https) && isLoopback(new URL(https).hostname) ? `http://${text}` : https;
}

/** Whether a host name, in the spelling of `URL`, always means this machine. */
export function isLoopback(hostname: string): boolean {
  return isLocalName(hostname) || /^127(?:\.\d{1,3}){3}$/.test(hostname) || hostname === '[::1]';
}

/** Whether a host name is `localhost` or a name under `localhost` (RFC 6761). */
export const isLocalName = (hostname: string): boolean =>
  hostname === 'localhost' || hostname.endsWith('.localhost');

const usage = (message: string, hint: string): Failure => invalid(message, { hint });
