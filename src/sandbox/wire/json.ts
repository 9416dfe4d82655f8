// JSON with exact numbers: reads every number as a decimal of the text itself, writes decimals in plain notation.
import Big from 'big.js';

const maxDepth = 32;
const maxNumberLength = 64;
const maxExponent = 40;
/** A literal of ASCII without escapes. */
const plainText = /^"[ !#-[\]-~]*"$/;
const token = /[\s]*([{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;

/**
 * Reads JSON text; every number becomes a `Big` of exactly the digits that were written.
 * Throws `SyntaxError` for text that is not JSON, is nested too deeply, or has half a character or a number of absurd
 * size in it.
 */
export function readJson(text: string): unknown {
  // The platform's parser decides what is JSON; what follows may then rely on a well-formed text.
  JSON.parse(text);
  token.lastIndex = 0;
  return readValue(next(text), text, 0);
}

/** Writes JSON; decimals are numbers without an exponent. Fields that are undefined are left out. */
export function writeJson(value: unknown): string {
  // What is most comes first: an answer has thirty of these.
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof Big) return value.eq(0) ? '0' : value.toFixed();
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  let fields = '';
  for (const [key, field] of Object.entries(value)) {
    if (field !== undefined) fields += `${fields === '' ? '' : ','}${JSON.stringify(key)}:${writeJson(field)}`;
  }
  return `{${fields}}`;
}

const next = (text: string): string => token.exec(text)?.[1] ?? '';

function readValue(first: string, text: string, depth: number): unknown {
  if (depth > maxDepth) throw new SyntaxError('nested too deeply');
  switch (first[0]) {
    case '{': return readObject(text, depth);
    case '[': return readArray(text, depth);
    case '"': return readText(first);
    case 't': return true;
    case 'f': return false;
    case 'n': return null;
    default: return readNumber(first);
  }
}

function readObject(text: string, depth: number): Record<string, unknown> {
  const fields: [string, unknown][] = [];
  for (let key = next(text); key !== '}'; key = next(text)) {
    if (key === ',') continue;
    next(text);
    fields.push([readText(key), readValue(next(text), text, depth + 1)]);
  }
  return Object.fromEntries(fields);
}

function readArray(text: string, depth: number): unknown[] {
  const items: unknown[] = [];
  for (let item = next(text); item !== ']'; item = next(text)) {
    if (item !== ',') items.push(readValue(item, text, depth + 1));
  }
  return items;
}

/** Half a surrogate pair cannot be stored or sent as UTF-8, so it is no text. */
function readText(literal: string): string {
  if (plainText.test(literal)) return literal.slice(1, -1);
  const text = String(JSON.parse(literal));
  if (/\p{Cs}/u.test(text)) throw new SyntaxError('half a character');
  return text;
}

function readNumber(literal: string): Big {
  const exponent = Number(/[eE](.*)/.exec(literal)?.[1] ?? 0);
  if (literal.length > maxNumberLength || Math.abs(exponent) > maxExponent) {
    throw new SyntaxError('number out of range');
  }
  return new Big(literal);
}
