// Signs in to the service: sends the signed token request, shares one token among all requests of a
// client, and reacts to a refused token.
import { invalid } from '../formats/failure.js';
import {
  codeOf,
  isSuccess,
  reportsError,
  serviceError,
  unknownOutcome,
  valueOf,
  type Advice,
  type Answer,
  type Call,
  type Send,
  type Step,
} from './answer.js';
import { NoAnswer, ServiceError } from './errors.js';
import type { ClientOptions, Credentials, Token } from './types.js';
import { readToken } from './reading.js';
import { policies, poll, type PollNext } from '../formats/poll.js';
import { messageOf } from '../formats/text.js';
import { interrupted, unlessInterrupted } from './timers.js';

export const tokenPath = '/api/v2/authentication/token-signature';

/**
 * The time in ms before the expiry of a token at which the client replaces the token, because the
 * token could expire while a request is in flight.
 */
const renewalMarginMs = 10_000;

/** Throws Failure `usage` for an API key that is not a valid value of an HTTP header. */
export function checkKey({ apiKey }: Credentials): void {
  if (/^[!-~](?:[ -~]*[!-~])?$/.test(apiKey)) return;
  const why =
    apiKey === '' ? 'is empty' : 'contains an invalid character, or a blank at its start or end';
  throw invalid(`The API key ${why}.`, {
    hint: 'Copy the whole API key again.',
  });
}

/**
 * Signs each token request separately, because a signature is single-use.
 *
 * @param now the service's clock
 */
export function sign({ credentials, random }: ClientOptions, now: () => number): Step {
  const nextBody = createBodies(now, random);
  return (next) => async (call) => {
    const body = nextBody();
    const headers = {
      'x-api-key': credentials.apiKey,
      'x-api-signature': await signature(credentials, body),
    };
    return next({ ...call, body, headers });
  };
}

/**
 * Returns the signature of a token request, which is HMAC-SHA256 over the API key and the exact
 * body text, in lower-case hex (specification, section Authentication).
 */
async function signature({ apiKey, apiSecret }: Credentials, body: string): Promise<string> {
  // Loads `node:crypto` only here, because most runs have a stored token and sign nothing.
  const { createHmac } = await import('node:crypto');
  return createHmac('sha256', apiSecret).update(`${apiKey}&payload=${body}`, 'utf8').digest('hex');
}

/**
 * Returns a function that creates the bodies of token requests. Each body differs from those of
 * other processes by its time and random bits, and from those of this process by a counter.
 */
function createBodies(now: () => number, random: () => number): () => string {
  let count = 0;
  return () => {
    count += 1;
    const chance = () =>
      Math.floor(random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0');
    return JSON.stringify({ time: now(), nonce: `${chance()}${chance()}-${count}` });
  };
}

/**
 * Requests a token. A token request moves no money, so the client repeats it like a read.
 * @param now the service's clock
 */
export async function requestToken(
  send: Send,
  signal: AbortSignal | undefined,
  now: () => number,
): Promise<Token> {
  const call = { method: 'POST', path: tokenPath, effect: 'read', signal } as const;
  const answer = await send(call);
  if (!isSuccess(answer.response)) throw serviceError(answer, now(), signInAdvice(answer));
  return valueOf(answer, call, readToken(now()), now());
}

function signInAdvice({ response: { status, body } }: Answer): Advice {
  if (status === 401 && isRepeated.test(body.slice(0, 4_000))) {
    return { hint: 'The signature was already used. Each request must have a new signature.' };
  }
  if (status === 401 || status === 403) {
    return {
      hint: 'Check the API key and the API secret, then sign in again',
      next: { do: 'sign-in' },
    };
  }
  return status === 404 || status === 405
    ? { hint: 'There is no sign-in at this address: check the base URL.' }
    : {};
}

/** Matches the error texts that services send for a signature that was already used. */
const isRepeated =
  /signature[^"]*(?:used|repeat|replay|seen|again)|(?:reused|repeated|replayed)[^"]*signature/i;

interface HeldToken extends Token {
  /** Whether this process requested the token. */
  readonly isNew: boolean;
  /** Whether the token stays valid long enough for another request. */
  isFresh(): boolean;
}

type TokenKeeper = ReturnType<typeof createTokenKeeper>;

/**
 * Loads, stores and renews the access token. Concurrent requests share one sign-in.
 * @param now the service's clock
 */
export function createTokenKeeper(
  { tokens: store, clock, log }: ClientOptions,
  signIn: () => Promise<Token>,
  now: () => number,
) {
  let held: HeldToken | undefined;
  let renewal: Promise<Token> | undefined;

  /**
   * Keeps a new token for the lifetime from its response, even if the service's clock changes
   * later.
   */
  const holdNew = (token: Token): Token => {
    const life = token.expiresAt - now();
    const renewAt = clock() + life - Math.min(renewalMarginMs, life / 2);
    held = { ...token, isNew: true, isFresh: () => clock() < renewAt };
    return token;
  };
  const load = async (): Promise<HeldToken | undefined> => {
    const token = await store.load();
    return (
      token && { ...token, isNew: false, isFresh: () => now() < token.expiresAt - renewalMarginMs }
    );
  };
  /** Deletes the token from the store, but keeps the token's account there. */
  const forget = async (): Promise<void> => {
    const kept = await store.load();
    // Does not delete a newer token that another process has stored in the meantime.
    if (kept === undefined || (held !== undefined && held.accessToken !== kept.accessToken)) return;
    await store.save({ ...kept, accessToken: '', expiresAt: 0 });
  };
  const signInAndKeep = async (): Promise<Token> => {
    try {
      const token = await signIn();
      await store.save(token).catch(() => log?.('the token could not be stored'));
      return holdNew(token);
    } catch (error) {
      if (error instanceof ServiceError && error.status === 401)
        await forget().catch(() => log?.('the token could not be removed'));
      throw error;
    }
  };
  const renew = (): Promise<Token> => {
    renewal ??= signInAndKeep().finally(() => (renewal = undefined));
    return renewal;
  };
  /** Resolves with the stored token, or with a new token if the stored token is about to expire. */
  const current = async (): Promise<Token> => {
    const kept = held ?? (await load());
    held ??= kept;
    return held?.isFresh() === true ? held : renew();
  };
  return {
    renew,
    current,
    isNew: ({ accessToken }: Token): boolean => held?.accessToken === accessToken && held.isNew,
    /** Resolves with the account of the API key, even if the service currently issues no token. */
    async accountId(): Promise<string> {
      try {
        return (await current()).accountId;
      } catch (error) {
        const kept = await store.load();
        if (kept === undefined) throw error;
        return kept.accountId;
      }
    },
    /**
     * Resolves with a token that is newer than the refused token, or with undefined if neither this
     * process nor another process has stored a newer token.
     */
    async successor(refused: Token): Promise<Token | undefined> {
      const isOther = (token: HeldToken | undefined): token is HeldToken =>
        token !== undefined && token.accessToken !== refused.accessToken;
      if (isOther(held)) return held;
      const kept = await load().catch(() => undefined);
      if (!isOther(kept) || !kept.isFresh()) return undefined;
      return (held = kept);
    },
  };
}

/**
 * Sends a request with the token. After a 401, sends the request again with a newer token, because
 * a refused request has changed nothing. At some services, a new token invalidates the previous
 * token, so the client repeats a request several times if other processes use the same API key. The
 * client repeats a confirmation only once.
 */
export function authorize(tokens: TokenKeeper, options: ClientOptions): Step {
  const { clock: now, sleep, random } = options;
  /** Whether the service has accepted a token of this API key before. */
  let wasAccepted = false;
  return (next) => async (call) => {
    const { effect, signal } = call;
    // If a request is interrupted, its sign-in continues, because other requests may share the
    // sign-in.
    let token = await unlessInterrupted(tokens.current, signal);
    let hasOthers = wasAccepted;
    let refusal: Answer | undefined;
    const attempt = async ({ number }: { number: number }): Promise<PollNext<Answer>> => {
      if (refusal !== undefined) {
        const successor = await tokens.successor(token);
        if (successor === undefined && number > 2 && !hasOthers) return { done: refusal };
        hasOthers ||= successor !== undefined;
        token = successor ?? (await unlessInterrupted(tokens.renew, signal));
      }
      const headers = { authorization: `Bearer ${token.accessToken}` };
      const answer = await next({ ...call, headers });
      if (!isTokenRefused(answer, call)) {
        wasAccepted = true;
        return { done: answer };
      }
      refusal = answer;
      // If the service refuses a token that this process has just requested, another process has
      // probably signed in since, so the client pauses before the next attempt.
      return tokens.isNew(token) ? {} : { afterMs: 0 };
    };
    try {
      const policy = effect === 'payment' ? policies.tokenOfConfirmation : policies.token;
      const end = await poll(policy, attempt, { now, sleep, random, signal });
      if ('done' in end) return end.done;
      if (end.over === 'exhausted' && refusal !== undefined) return refusal;
      throw interrupted(signal);
    } catch (error) {
      throw effect === 'payment' && refusal !== undefined ? unanswered(error, call) : error;
    }
  };
}

/**
 * Returns the failure of a confirmation if the service refused its token, and the new sign-in or
 * the repeated confirmation then failed. If the repetition of a confirmation fails, the outcome of
 * the payment is unknown, because the first confirmation has already left this machine.
 */
function unanswered(cause: unknown, call: Call): NoAnswer {
  if (cause instanceof NoAnswer && cause.mayHaveArrived) return cause;
  const message =
    'The service refused the token sent with the confirmation, and svcpay could not send the ' +
    `confirmation again: ${messageOf(cause)}`;
  return unknownOutcome(message, call, { cause });
}

/**
 * Whether a response refuses the token, by its status or by the code of an expired token. For a
 * confirmation, returns true only if the service itself refused the token, because the service may
 * have received a confirmation that a gateway refuses.
 */
function isTokenRefused(answer: Answer, { effect }: Call): boolean {
  const { status } = answer.response;
  const isCoded = (status >= 400 && status < 500) || reportsError(answer);
  const isRefused = status === 401 || (codeOf(answer) === '1003' && isCoded);
  return isRefused && (effect !== 'payment' || serviceError(answer, 0).isOwnRefusal);
}
