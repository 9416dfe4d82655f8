// Sign-in: the signed token request, and one token shared by all requests of a client.
import { Failure } from '../formats/failure.js';
import type { Credentials, Token, TokenStore } from './types.js';

export const tokenPath = '/api/v2/authentication/token-signature';

/** A token this close to its end could expire in flight. */
const renewalMarginMs = 10_000;

/** Throws Failure `usage` for a key that does not fit into a header. */
export function checkKey({ apiKey }: Credentials): void {
  if (/^[!-~](?:[ -~]*[!-~])?$/.test(apiKey)) return;
  const why = apiKey === '' ? 'is empty' : 'has an invalid character or surrounding blanks';
  throw new Failure('usage', `The API key ${why}.`, {
    hint: 'Copy it again as it was given to you.',
  });
}

/** HMAC-SHA256 over the API key and the exact body text, in lower-case hex (specification: Authentication). */
export async function signature({ apiKey, apiSecret }: Credentials, body: string): Promise<string> {
  // Loaded here because most runs have a stored token and sign nothing.
  const { createHmac } = await import('node:crypto');
  return createHmac('sha256', apiSecret).update(`${apiKey}&payload=${body}`, 'utf8').digest('hex');
}

/**
 * Creates the bodies of token requests. A signature is single-use, so all bodies differ: time and random bits between processes,
 * the count within a process.
 */
export function createBodies(now: () => number, random: () => number): () => string {
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

interface Held extends Token {
  /** Issued to this process. */
  readonly isNew: boolean;
  /** Whether it lasts for another request. */
  isFresh(): boolean;
}

/**
 * Concurrent requests share one sign-in.
 * @param now the service's clock
 * @param clock the machine's
 */
export function createTokenKeeper(
  store: TokenStore,
  signIn: () => Promise<Token>,
  now: () => number,
  clock: () => number,
) {
  let held: Held | undefined;
  let renewal: Promise<Token> | undefined;

  /** A new token lasts as long as its response stated, even if the service's clock changes. */
  const holdNew = (token: Token): Token => {
    const life = token.expiresAt - now();
    const renewAt = clock() + life - Math.min(renewalMarginMs, life / 2);
    held = { ...token, isNew: true, isFresh: () => clock() < renewAt };
    return token;
  };
  const load = async (): Promise<Held | undefined> => {
    const token = await store.load();
    return (
      token && { ...token, isNew: false, isFresh: () => now() < token.expiresAt - renewalMarginMs }
    );
  };
  const renew = (): Promise<Token> => {
    renewal ??= signIn()
      .then(holdNew)
      .finally(() => (renewal = undefined));
    return renewal;
  };
  /** The stored token, or a new one if that is about to expire. */
  const current = async (): Promise<Token> => {
    const kept = held ?? (await load());
    held ??= kept;
    return held?.isFresh() === true ? held : renew();
  };
  return {
    renew,
    current,
    isNew: ({ accessToken }: Token): boolean => held?.accessToken === accessToken && held.isNew,
    /** Deletes the stored token, but keeps its account. */
    async forget(): Promise<void> {
      const kept = await store.load();
      // Another process may have stored a new token.
      if (kept === undefined || (held !== undefined && held.accessToken !== kept.accessToken))
        return;
      await store.save({ ...kept, accessToken: '', expiresAt: 0 });
    },
    /** The key's account, also if no new token can be issued now. */
    async accountId(): Promise<string> {
      try {
        return (await current()).accountId;
      } catch (error) {
        const kept = await store.load();
        if (kept === undefined) throw error;
        return kept.accountId;
      }
    },
    /** A newer token of this or another process after a refusal, if there is one. */
    async successor(refused: Token): Promise<Token | undefined> {
      const isOther = (token: Held | undefined): token is Held =>
        token !== undefined && token.accessToken !== refused.accessToken;
      if (isOther(held)) return held;
      const kept = await load().catch(() => undefined);
      if (!isOther(kept) || !kept.isFresh()) return undefined;
      return (held = kept);
    },
  };
}
