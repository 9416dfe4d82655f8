// Who is calling: signatures at the token endpoint, JWTs everywhere else.
import { createHmac, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { findAccount, type Account } from '../world/accounts.js';
import { type Context, randomHex } from '../world/context.js';
import { Refusal, unauthorized } from '../wire/refusal.js';
import type { Store } from '../storage/database.js';
import { requireSetting } from '../storage/settings.js';
import { durations, reusedSignature } from '../unspecified.js';

const keyRow = v.object({ secret: v.string(), accountId: v.string() });
const claims = v.object({ sub: v.string(), exp: v.number() });
type Claims = v.InferOutput<typeof claims>;

const jwtHeader = encodePart({ alg: 'HS256', typ: 'JWT' });

/**
 * Checks a signature over the exact body bytes and issues a token. A signature is good for one token, unless
 * `allowReuse` says otherwise.
 */
export function issueToken(
  ctx: Context, apiKey: string | undefined, signature: string | undefined, body: Uint8Array, allowReuse: boolean,
) {
  const known = apiKey === undefined ? undefined : ctx.store.one(
    keyRow, 'SELECT secret, account_id FROM api_key WHERE key = ?', apiKey,
  );
  if (apiKey === undefined || signature === undefined || known === undefined) {
    throw unauthorized('invalid API key or signature');
  }
  const expected = createHmac('sha256', known.secret).update(`${apiKey}&payload=`).update(body).digest('hex');
  if (!sameText(signature, expected)) throw unauthorized('invalid api signature');
  const fresh = ctx.store.run('INSERT INTO used_signature (signature) VALUES (?) ON CONFLICT DO NOTHING', signature);
  if (fresh === 0 && !allowReuse) throw new Refusal(401, reusedSignature, 'repeated signature');
  return newToken(ctx, known.accountId);
}

const mostTokens = 1_000;

/** Tells the account that a Bearer token stands for. What a token says is worked out once: a client sends it every time. */
export function authenticator(): (ctx: Context, authorization: string | undefined) => Account {
  const good = new Map<string, Claims>();
  return (ctx, authorization) => {
    const [, token] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    if (token === undefined) throw unauthorized();
    const claimed = good.get(token) ?? readToken(ctx.store, token);
    const account = claimed && claimed.exp * 1000 > ctx.now ? findAccount(ctx.store, claimed.sub) : undefined;
    if (claimed === undefined || account === undefined) throw unauthorized('invalid token or token expired');
    if (good.size >= mostTokens) good.clear();
    good.set(token, claimed);
    return account;
  };
}

function newToken(ctx: Context, accountId: string) {
  // Many a reader of tokens takes whole seconds alone, and the answer says the same moment as the token.
  const issuedAt = Math.floor(ctx.now / 1000);
  const expiredAt = issuedAt * 1000 + durations.token;
  const payload = { sub: accountId, iat: issuedAt, exp: expiredAt / 1000, jti: randomHex(ctx.random, 16) };
  const signed = `${jwtHeader}.${encodePart(payload)}`;
  const signature = tokenSignature(requireSetting(ctx.store, 'tokenKey'), signed);
  return { accessToken: `${signed}.${signature}`, expiredAt, accountId };
}

/** The claims of a token that was signed here, whether or not it has expired. */
function readToken(store: Store, token: string): Claims | undefined {
  const end = token.lastIndexOf('.');
  const signed = token.slice(0, end);
  // The signature covers the header, so no other header than the one written here ever passes.
  if (!sameText(token.slice(end + 1), tokenSignature(requireSetting(store, 'tokenKey'), signed))) return undefined;
  const payload = Buffer.from(signed.split('.')[1] ?? '', 'base64url').toString();
  return v.parse(claims, JSON.parse(payload));
}

function tokenSignature(key: string, signed: string): string {
  return createHmac('sha256', key).update(signed).digest('base64url');
}

function encodePart(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function sameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
