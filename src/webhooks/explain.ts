// Explains why a signature is wrong. svcpay names a cause only if svcpay can reproduce the wrong
// signature with that cause.
import { timingSafeEqual } from 'node:crypto';
import { jsonIn, withoutMark } from '../formats/unknown.js';
import { digestOf, isSignature, verifyBody } from './sign.js';

export interface Explanation {
  readonly cause: 'encoding' | 'secret' | 'body' | 'unknown';
  /**
   * The reason why the signature is wrong, as a sentence without an initial capital letter and
   * without a full stop.
   */
  readonly reason: string;
}

export interface OtherSecret {
  /** The name of the secret, such as `the API secret`. */
  readonly name: string;
  readonly secret: string;
}

/**
 * Explains why a signature is wrong, or returns undefined if the signature is correct. The
 * explanation never contains a secret.
 */
export function explainSignature(
  body: Uint8Array,
  signature: string,
  secret: string,
  others: readonly OtherSecret[] = [],
): Explanation | undefined {
  if (verifyBody(body, signature, secret)) return undefined;
  const claimed = readDigest(signature);
  if (claimed === undefined) return { cause: 'encoding', reason: formOf(signature) };
  const fits = (candidate: Uint8Array, key: string | Uint8Array): boolean =>
    timingSafeEqual(digestOf(candidate, key), claimed.digest);

  if (fits(body, secret)) {
    return {
      cause: 'encoding',
      reason: `the digest is right but written as ${claimed.written}, not as lowercase hex`,
    };
  }
  const key = [
    ...variantsOfSecret(secret),
    ...others.map((other) => ({ ...other, key: other.secret })),
  ].find((variant) => fits(body, variant.key));
  if (key !== undefined)
    return { cause: 'secret', reason: `the signature was made with ${key.name}` };
  const changed = variantsOfBody(body).find((variant) => fits(variant.body, secret));
  if (changed !== undefined)
    return { cause: 'body', reason: `the body was changed in transit: ${changed.name}` };
  return {
    cause: 'unknown',
    reason: 'the secret or the body is different; a signature alone does not show which',
  };
}

/**
 * Decodes the 32 bytes of a signature from a common encoding, such as hex or base64. Returns the
 * signature's bytes and the name of the encoding.
 */
function readDigest(signature: string) {
  const bare = signature.trim();
  if (isSignature(bare))
    return { digest: Buffer.from(bare, 'hex'), written: 'hex with white space around it' };
  if (/^[0-9a-f]{64}$/i.test(bare))
    return { digest: Buffer.from(bare, 'hex'), written: 'uppercase hex' };
  const prefixed = /^(?:sha256|v1|hmac)[=:]\s*([0-9a-f]{64})$/i.exec(bare)?.[1];
  if (prefixed !== undefined)
    return { digest: Buffer.from(prefixed, 'hex'), written: 'hex with a prefix' };
  if (/^[A-Za-z0-9+/]{43}=?$/.test(bare))
    return { digest: Buffer.from(bare, 'base64'), written: 'base64' };
  if (/^[A-Za-z0-9_-]{43}=?$/.test(bare))
    return { digest: Buffer.from(bare, 'base64url'), written: 'base64url' };
  return undefined;
}

const otherHashes: Readonly<Record<number, string>> = {
  32: 'MD5',
  40: 'SHA-1',
  96: 'SHA-384',
  128: 'SHA-512',
};

function formOf(signature: string): string {
  const bare = signature.trim();
  if (bare === '') return 'the signature is empty';
  if (!/^[0-9a-f]+$/i.test(bare)) return 'the signature must have 64 hex digits (0-9 and a-f)';
  const hash = otherHashes[bare.length];
  const guess = hash === undefined ? '' : `, like ${hash}`;
  return `the signature has ${bare.length} hex digits${guess}; HMAC-SHA256 has 64`;
}

function variantsOfSecret(secret: string): { name: string; key: string | Uint8Array }[] {
  const trimmed = secret.trim();
  return [
    ...(trimmed === secret
      ? []
      : [{ name: 'your secret without the white space around it', key: trimmed }]),
    { name: 'your secret followed by a line break', key: `${secret}\n` },
    ...(/^(?:[0-9a-f]{2})+$/i.test(trimmed)
      ? [{ name: 'your secret decoded as hex', key: Buffer.from(trimmed, 'hex') }]
      : []),
    ...(/^[A-Za-z0-9+/_-]+={0,2}$/.test(trimmed)
      ? [{ name: 'your secret decoded as base64', key: Buffer.from(trimmed, 'base64') }]
      : []),
  ];
}

function variantsOfBody(body: Uint8Array): { name: string; body: Uint8Array }[] {
  const text = Buffer.from(body).toString('utf8');
  const variants = (name: string, ...texts: string[]): { name: string; body: Uint8Array }[] =>
    texts
      .filter((each) => each !== text)
      .map((each) => ({ name, body: Buffer.from(each, 'utf8') }));
  return [
    ...variants('white space was added at the end of the body', text.trimEnd()),
    ...variants('the line break at the end of the body was removed', `${text}\n`, `${text}\r\n`),
    ...variants(
      'the line breaks of the body were converted',
      text.replaceAll('\r\n', '\n'),
      text.replace(/\r?\n/g, '\r\n'),
    ),
    ...variants('a byte order mark was added at the start of the body', withoutMark(text)),
    ...variants('the JSON of the body was rewritten', ...rewritten(text)),
  ];
}

/** Returns the texts that common JSON serializers would write for the value of a body. */
function rewritten(text: string): string[] {
  const value = jsonIn(text);
  if (typeof value !== 'object' || value === null) return [];
  const sorted = Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const written = [value, sorted].flatMap((each) => [
    JSON.stringify(each),
    spaced(each),
    JSON.stringify(each, null, 2),
    JSON.stringify(each, null, 4),
  ]);
  return [...written, ...written.map(asciiOnly)];
}

const asciiOnly = (json: string): string =>
  json.replace(
    /[\u0080-\uFFFF]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Writes JSON with spaces as Python does, such as `{"a": 1, "b": 2}`. */
function spaced(value: object): string {
  const lines = JSON.stringify(value, null, 1);
  return lines
    .replace(/\n\s*/g, ' ')
    .replace(/([[{]) /g, '$1')
    .replace(/ ([\]}])/g, '$1');
}
