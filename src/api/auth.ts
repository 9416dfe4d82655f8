// Signing in: the signed token request, its answer, and one token shared by all requests of a client.
import { Failure } from '../formats/failure.js';
import type { Credentials, Token, TokenStore } from './types.js';

export const tokenPath = '/api/v2/authentication/token-signature';

/** A token this near to its end could expire on the way. */
const renewalMarginMs = 10_000;

/** Throws Failure `usage` for a key that no header can carry to the service as it is. */
export function checkKey({ apiKey }: Credentials): void {
  if (/^[!-~](?:[ -~]*[!-~])?$/.test(apiKey)) return;
  const why = apiKey === '' ? 'is empty' : 'has an invalid character or surrounding blanks';
  throw new Failure('usage', `The API key ${why}.`, { hint: 'Copy it again as it was given to you.' });
}

/** HMAC-SHA256 over the API key and the exact body text, in lower-case hex (specification: Authentication). */
export async function signature({ apiKey, apiSecret }: Credentials, body: string): Promise<string> {
  // Loaded here because a run with a kept token, which is nearly every run, has nothing to sign.
  const { createHmac } = await import('node:crypto');
  return createHmac('sha256', apiSecret).update(`${apiKey}&payload=${body}`, 'utf8').digest('hex');
}

/**
 * Makes bodies of token requests. A signature is single-use, so no two bodies are equal: time and chance tell processes
 * apart, the count tells the requests of one process apart.
 */
export function createBodies(now: () => number, random: () => number): () => string {
  let count = 0;
  return () => {
    count += 1;
    const chance = () => Math.floor(random() * 2 ** 32).toString(16).padStart(8, '0');
    return JSON.stringify({ time: now(), nonce: `${chance()}${chance()}-${count}` });
  };
}

interface Held extends Token {
  /** Got here, not kept by an earlier process. */
  readonly isNew: boolean;
  /** Whether it has enough of its life left for one more request. */
  isFresh(): boolean;
}

/**
 * Requests that need a new token at the same time wait for one and the same sign-in.
 * @param now the service's clock
 * @param clock the machine's
 */
export function createTokenKeeper(store: TokenStore, signIn: () => Promise<Token>, now: () => number, clock: () => number) {
  let held: Held | undefined;
  let renewal: Promise<Token> | undefined;

  /** One that was got here lives as long as its answer said, whatever other clocks of the service say later. */
  const holdNew = (token: Token): Token => {
    const life = token.expiresAt - now();
    const renewAt = clock() + life - Math.min(renewalMarginMs, life / 2);
    held = { ...token, isNew: true, isFresh: () => clock() < renewAt };
    return token;
  };
  const load = async (): Promise<Held | undefined> => {
    const token = await store.load();
    return token && { ...token, isNew: false, isFresh: () => now() < token.expiresAt - renewalMarginMs };
  };
  /** A new token, whatever is kept. */
  const renew = (): Promise<Token> => {
    renewal ??= signIn()
      .then(holdNew)
      .finally(() => (renewal = undefined));
    return renewal;
  };
  /** The token to use now: kept, or new when that one is about to expire. */
  const current = async (): Promise<Token> => {
    const kept = held ?? (await load());
    held ??= kept;
    return held?.isFresh() === true ? held : renew();
  };
  return {
    renew,
    current,
    isNew: ({ accessToken }: Token): boolean => held?.accessToken === accessToken && held.isNew,
    /** Keeps no token any more, and the account all the same. */
    async forget(): Promise<void> {
      const kept = await store.load();
      // Another process may have got a better one meanwhile.
      if (kept === undefined || (held !== undefined && held.accessToken !== kept.accessToken)) return;
      await store.save({ ...kept, accessToken: '', expiresAt: 0 });
    },
    /** The account that the key belongs to: it outlives its tokens, and is known where no new one can be had now. */
    async accountId(): Promise<string> {
      try {
        return (await current()).accountId;
      } catch (error) {
        const kept = await store.load();
        if (kept === undefined) throw error;
        return kept.accountId;
      }
    },
    /** What this process or another one has got in place of a token that the service refused, if anything. */
    async successor(refused: Token): Promise<Token | undefined> {
      const isOther = (token: Held | undefined): token is Held => token !== undefined && token.accessToken !== refused.accessToken;
      if (isOther(held)) return held;
      const kept = await load().catch(() => undefined);
      if (!isOther(kept) || !kept.isFresh()) return undefined;
      return (held = kept);
    },
  };
}
