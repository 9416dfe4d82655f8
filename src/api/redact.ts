// Removes secrets from responses before messages quote them, because a service or gateway may echo
// a secret.
import { escapeHtml, isFields, jsonIn } from '../formats/text.js';
import type { HttpRequest, HttpResponse } from './errors.js';

const redacted = '[redacted]';
/** Matches every JSON Web Token, even if the token is no longer in use. */
const webToken = /\beyJ[\w-]{8,}(?:\.[\w-]+)*/g;
/**
 * The minimum length of a secret that svcpay redacts in error responses. A secret shorter than
 * `shortest` could be an ordinary word.
 */
const shortest = 4;
/**
 * The minimum length of a secret that svcpay redacts in successful responses. A shorter secret
 * could be a part of other text in the response.
 */
const shortestInData = 16;

export const withoutTokens = (text: string): string => text.replace(webToken, redacted);

/**
 * Returns the spellings of a secret in plain text, JSON, a URL, a form or a web page, and the
 * encodings of the secret.
 */
const spellings = (secret: string): ReadonlySet<string> =>
  new Set([
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    String(new URLSearchParams({ '': secret })).slice(1),
    escapeHtml(secret),
    ...(secret.length < shortestEncoded ? [] : encodings(secret)),
  ]);

/**
 * The minimum length of a secret whose encodings svcpay redacts. svcpay does not redact the
 * encodings of shorter secrets, because they could occur in an ordinary word.
 */
const shortestEncoded = 8;

/**
 * Returns the encodings of a secret: in hex, in base64, and as a part of a longer text in base64,
 * such as `key:secret`. The base64 encoding of a secret within a longer text lacks the characters
 * at both ends that depend on the neighbouring text.
 */
function encodings(secret: string): string[] {
  const hex = Buffer.from(secret).toString('hex');
  const base64 = [0, 1, 2].flatMap((bytesBefore) => {
    const bytes = Buffer.concat([Buffer.alloc(bytesBefore), Buffer.from(secret)]);
    const whole = bytes.toString('base64');
    const part = whole.slice(
      bytesBefore === 0 ? 0 : bytesBefore + 1,
      whole.length - (bytes.length % 3 === 0 ? 0 : 4 - (bytes.length % 3)),
    );
    return bytesBefore === 0 ? [whole, part] : [part];
  });
  const inUrl = base64.map((each) =>
    each.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
  );
  return [hex, hex.toUpperCase(), ...base64, ...inUrl];
}

/**
 * Redacts a JSON body, or returns it unchanged if it contains no secret. A placeholder replaces
 * JSON that is nested too deeply.
 */
function redactedJson(
  body: string,
  json: unknown,
  hide: (name: string, value: unknown) => unknown,
): string {
  try {
    const hidden = JSON.stringify(json, hide);
    return hidden === JSON.stringify(json) ? body : hidden;
  } catch (error) {
    if (error instanceof RangeError) return redacted;
    throw error;
  }
}

/** Collects the secrets of requests, and removes them from responses. */
export function createRedactor(apiSecret: string) {
  const secrets = new Map([[apiSecret, spellings(apiSecret)]]);
  const tokens = new Map<string, ReadonlySet<string>>();
  const add = (to: Map<string, ReadonlySet<string>>, secret: string): void =>
    void (to.has(secret) || to.set(secret, spellings(secret)));
  const spellingsOf = (from: typeof secrets, least: number): string[] =>
    [...from].flatMap(([{ length }, spelled]) => (length < least ? [] : [...spelled]));
  const hideIn = (text: string): string => {
    const spellings = [...spellingsOf(secrets, shortest), ...spellingsOf(tokens, shortest)];
    return withoutTokens(
      spellings.reduce(
        (rest, each) => rest.replace(new RegExp(each.replace(/\W/g, '\\$&'), 'gi'), redacted),
        text,
      ),
    );
  };
  return {
    /** Collects the credentials of a request, and a webhook secret in its body. */
    note(headers: HttpRequest['headers'], body = ''): void {
      const sent = body.includes('secret') ? jsonIn(body) : undefined;
      const secret = isFields(sent) ? sent['secret'] : undefined;
      for (const each of [headers['x-api-signature'], secret])
        if (typeof each === 'string') add(secrets, each);
      const token = headers['authorization']?.replace(/^Bearer /, '');
      if (token !== undefined) add(tokens, token);
    },
    /**
     * Redacts a successful response, whose body contains data. Does not redact short secrets, which
     * may be a part of other text. Does not redact known tokens in the response to a sign-in,
     * because the client needs the new token, which may be identical to the previous token.
     */
    data(response: HttpResponse, isToken: boolean): HttpResponse {
      const spellings = [
        ...spellingsOf(secrets, shortestInData),
        ...(isToken ? [] : spellingsOf(tokens, shortestInData)),
      ];
      const body = spellings.reduce((rest, each) => rest.replaceAll(each, redacted), response.body);
      return { ...response, body };
    },
    error(response: HttpResponse): HttpResponse {
      const json = jsonIn(response.body);
      const hide = (_name: string, value: unknown): unknown => {
        if (typeof value === 'string') return hideIn(value);
        if (typeof value === 'number') return hideIn(`${value}`) === `${value}` ? value : redacted;
        return isFields(value)
          ? Object.fromEntries(Object.entries(value).map(([name, each]) => [hideIn(name), each]))
          : value;
      };
      const body =
        json === undefined ? hideIn(response.body) : redactedJson(response.body, json, hide);
      const headers = Object.fromEntries(
        Object.entries(response.headers).map(([name, value]) => [name, hideIn(value)]),
      );
      return { ...response, headers, body };
    },
  };
}

const secretHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'x-api-signature',
]);

/** Returns a request without its secrets, for hooks and logs. */
export const withoutSecrets = ({ headers, body, ...request }: HttpRequest): HttpRequest => ({
  ...request,
  headers: Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      secretHeaders.has(name) ? redacted : value,
    ]),
  ),
  body: body && hidden(body),
});

/** Returns a JSON text without its webhook secrets and tokens. */
export const hidden = (json: string): string =>
  json.replaceAll(/("(?:secret|accessToken)"\s*:\s*)"(?:[^"\\]|\\.)*"/g, `$1"${redacted}"`);
