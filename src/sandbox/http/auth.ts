// Authenticates requests by signatures at the token endpoint, and by JWTs at all other endpoints.
import { createHmac, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { findAccount, type Account } from '../world/accounts.js';
import { type Context, randomHex } from '../world/context.js';
import { Refusal, unauthorized } from '../wire/refusal.js';
import { requireSetting, type Store } from '../storage/database.js';
import { durations, reusedSignature } from '../unspecified.js';

const keyRow = v.object({ secret: v.string(), accountId: v.string() });
const claims = v.object({ sub: v.string(), exp: v.number() });

const jwtHeader = encodePart({ alg: 'HS256', typ: 'JWT' });

/**
 * Checks a signature over the exact body bytes and issues a token. The service accepts each
 * signature once, unless `allowReuse` is set.
 */
export function issueToken(
  ctx: Context,
  apiKey: string | undefined,
  signature: string | undefined,
  body: Uint8Array,
  allowReuse: boolean,
) {
  const keyRecord =
    apiKey === undefined
      ? undefined
      : ctx.store.one(keyRow, 'SELECT secret, account_id FROM api_key WHERE key = ?', apiKey);
  if (apiKey === undefined || signature === undefined || keyRecord === undefined) {
    throw unauthorized('invalid API key or signature');
  }
  const expected = createHmac('sha256', keyRecord.secret)
    .update(`${apiKey}&payload=`)
    .update(body)
    .digest('hex');
  if (!sameText(signature, expected)) throw unauthorized('invalid api signature');
  const fresh = ctx.store.run(
    'INSERT INTO used_signature (signature) VALUES (?) ON CONFLICT DO NOTHING',
    signature,
  );
  if (fresh === 0 && !allowReuse) throw new Refusal(401, reusedSignature, 'repeated signature');
  return newToken(ctx, keyRecord.accountId);
}

export function authenticate(ctx: Context, authorization: string | undefined): Account {
  const [, token] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  if (token === undefined) throw unauthorized();
  const claimed = readToken(ctx.store, token);
  const account =
    claimed && claimed.exp * 1000 > ctx.now ? findAccount(ctx.store, claimed.sub) : undefined;
  if (account === undefined) throw unauthorized('invalid token or token expired');
  return account;
}

function newToken(ctx: Context, accountId: string) {
  // Uses whole seconds for the time of issue and for the expiry, because JWT readers expect whole
  // seconds, and the response and the token must state the same expiry.
  const issuedAt = Math.floor(ctx.now / 1000);
  const expiredAt = issuedAt * 1000 + durations.token;
  const payload = {
    sub: accountId,
    iat: issuedAt,
    exp: expiredAt / 1000,
    jti: randomHex(ctx.random, 16),
  };
  const signed = `${jwtHeader}.${encodePart(payload)}`;
  const signature = tokenSignature(requireSetting(ctx.store, 'tokenKey'), signed);
  return { accessToken: `${signed}.${signature}`, expiredAt, accountId };
}

/** Reads the claims of a token that this service signed, even if the token has expired. */
function readToken(store: Store, token: string): v.InferOutput<typeof claims> | undefined {
  const end = token.lastIndexOf('.');
  const signed = token.slice(0, end);
  // The signature of the token covers the JWT header, so the function accepts only the header that
  // this service writes.
  if (!sameText(token.slice(end + 1), tokenSignature(requireSetting(store, 'tokenKey'), signed)))
    return undefined;
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
