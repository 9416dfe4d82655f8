// Translates wire identifiers that contain the service name to those of the specification.

/** Identifiers that contain the service name, as field names or as values of `method`. */
const identifiers = ['servicepay', 'servicepayFees', 'deductServicepayFees'];

type Renames = ReadonlyMap<string, string>;

/** Renames `acmepay` and `acmepayFees` of a response to the names of the specification. */
export function fromMaker(answer: unknown, maker: string): unknown {
  if (maker === 'service') return answer;
  return rename(answer, new Map(identifiers.map((name) => [onWire(name, maker), name])));
}

/** Renames a request body to the service's names. */
export function toMaker(body: unknown, maker: string): unknown {
  if (maker === 'service') return body;
  return rename(body, new Map(identifiers.map((name) => [name, onWire(name, maker)])));
}

/** Renames the methods of a comma-separated filter. */
export function methodsToMaker(methods: string, maker: string): string {
  return methods
    .split(',')
    .map((name) => (identifiers.includes(name) ? onWire(name, maker) : name))
    .join(',');
}

/** Renames a field such as `sourceReq.acmepayFees`. */
export const fieldFromMaker = (path: string, maker: string): string =>
  path
    .split('.')
    .map((name) => identifiers.find((each) => onWire(each, maker) === name) ?? name)
    .join('.');

function onWire(identifier: string, maker: string): string {
  const capital = maker.charAt(0).toUpperCase() + maker.slice(1);
  return identifier.replace('service', maker).replace('Service', capital);
}

/** Deeper values stay unchanged, because identifiers do not occur there. */
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

/** Excludes decimals, because a decimal is a value. */
function isPlainObject(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}
