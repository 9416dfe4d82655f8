// Converts requests and responses to and from the wire form. On the wire, identifiers contain the
// service name instead of `service`, and JSON has exact numbers in fixed notation, without
// exponents.
import Big from 'big.js';
import { fixed, fromWire } from '../formats/amount.js';
import { invalid } from '../formats/failure.js';

/** The identifiers that contain the service name, as field names or as values of `method`. */
const identifiers = ['servicepay', 'servicepayFees', 'deductServicepayFees'];

type Renames = ReadonlyMap<string, string>;

/**
 * Renames identifiers in a response, such as `acmepay` and `acmepayFees`, to the names from the
 * specification.
 */
export function fromWireNames(answer: unknown, serviceName: string): unknown {
  if (serviceName === 'service') return answer;
  return rename(answer, new Map(identifiers.map((name) => [onWire(name, serviceName), name])));
}

/** Renames the identifiers in a request body to the service's names. */
export function toWireNames(body: unknown, serviceName: string): unknown {
  if (serviceName === 'service') return body;
  return rename(body, new Map(identifiers.map((name) => [name, onWire(name, serviceName)])));
}

/** Renames the methods in a comma-separated filter to the service's names. */
export function methodsToWireNames(methods: string, serviceName: string): string {
  return methods
    .split(',')
    .map((name) => (identifiers.includes(name) ? onWire(name, serviceName) : name))
    .join(',');
}

/** Renames a field such as `sourceReq.acmepayFees` to its name in the specification. */
export const fieldFromWireName = (path: string, serviceName: string): string =>
  path
    .split('.')
    .map((name) => identifiers.find((each) => onWire(each, serviceName) === name) ?? name)
    .join('.');

function onWire(identifier: string, serviceName: string): string {
  const capital = serviceName.charAt(0).toUpperCase() + serviceName.slice(1);
  return identifier.replace('service', serviceName).replace('Service', capital);
}

/**
 * The greatest depth of nesting at which svcpay renames identifiers, because identifiers do not
 * occur deeper.
 */
const deepest = 20;

function rename(value: unknown, names: Renames, level = 0): unknown {
  if (level > deepest) return value;
  if (Array.isArray(value)) return value.map((item) => rename(item, names, level + 1));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      names.get(name) ?? name,
      name === 'method' && typeof member === 'string'
        ? (names.get(member) ?? member)
        : rename(member, names, level + 1),
    ]),
  );
}

/** Whether an object may have fields to rename, unlike a `Big`, which is a single value. */
function isPlainObject(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

/**
 * Writes JSON like `JSON.stringify`, but writes numbers and `Big` values without an exponent, such
 * as `0.00000001` instead of `1e-8`. The written JSON omits properties that are `undefined`. Throws
 * Failure `usage` for values that JSON cannot represent, such as `NaN`, instead of writing `null`.
 */
export function wireJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string')
    return JSON.stringify(value);
  if (typeof value === 'number' && Number.isFinite(value)) return fixed(fromWire(value));
  if (value instanceof Big) return fixed(value);
  if (Array.isArray(value)) return `[${value.map(wireJson).join(',')}]`;
  if (typeof value === 'object') {
    const members = Object.entries(value).flatMap(([name, member]) =>
      member === undefined ? [] : `${JSON.stringify(name)}:${wireJson(member)}`,
    );
    return `{${members.join(',')}}`;
  }
  throw invalid(
    `${typeof value === 'number' ? value : `A ${typeof value}`} cannot be written as JSON.`,
  );
}
