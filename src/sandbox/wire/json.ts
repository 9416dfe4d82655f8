// Reads and writes JSON with exact numbers. The reader turns every number into an exact decimal,
// and the writer writes decimals without an exponent.
import Big from 'big.js';

const maxDepth = 32;
const maxNumberLength = 64;
const maxExponent = 40;
const token =
  /[\s]*([{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;

/**
 * Reads JSON with every number as an exact `Big`. Throws `SyntaxError` for text that is not JSON,
 * for too many nested levels, for half a surrogate pair, and for a number that is too long or has
 * an extreme exponent.
 */
export function readJson(text: string): unknown {
  // `JSON.parse` validates the text, so the other functions may assume well-formed JSON.
  JSON.parse(text);
  token.lastIndex = 0;
  return readValue(next(text), text, 0);
}

/** Writes JSON, with decimals as numbers without an exponent. Omits undefined fields. */
export function writeJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof Big) return value.eq(0) ? '0' : value.toFixed();
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  const fields = Object.entries(value).flatMap(([key, field]) =>
    field === undefined ? [] : `${JSON.stringify(key)}:${writeJson(field)}`,
  );
  return `{${fields.join(',')}}`;
}

const next = (text: string): string => token.exec(text)?.[1] ?? '';

function readValue(first: string, text: string, depth: number): unknown {
  if (depth > maxDepth) throw new SyntaxError('nested too deeply');
  switch (first[0]) {
    case '{':
      return readObject(text, depth);
    case '[':
      return readArray(text, depth);
    case '"':
      return readText(first);
    case 't':
      return true;
    case 'f':
      return false;
    case 'n':
      return null;
    default:
      return readNumber(first);
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

/** Reads a text. Throws for half a surrogate pair, which UTF-8 cannot represent. */
function readText(literal: string): string {
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
