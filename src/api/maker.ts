// The maker's name: identifiers that carry it on the wire are those of the specification everywhere else.

/** Every identifier of the interface that carries the maker's name, as field name or as value of `method`. */
const identifiers = ['servicepay', 'servicepayFees', 'deductServicepayFees'];

type Renames = ReadonlyMap<string, string>;

/** An answer of the service, with `acmepay` and `acmepayFees` under the names of the specification. */
export function fromMaker(answer: unknown, maker: string): unknown {
  if (maker === 'service') return answer;
  return rename(answer, new Map(identifiers.map((name) => [onWire(name, maker), name])));
}

/** A request body under the names that the service knows. */
export function toMaker(body: unknown, maker: string): unknown {
  if (maker === 'service') return body;
  return rename(body, new Map(identifiers.map((name) => [name, onWire(name, maker)])));
}

/** The value of a method filter, which may name several methods with commas between them. */
export function methodsToMaker(methods: string, maker: string): string {
  return methods.split(',').map((name) => (identifiers.includes(name) ? onWire(name, maker) : name)).join(',');
}

/** A field such as `sourceReq.acmepayFees` under the name of the specification. */
export const fieldFromMaker = (path: string, maker: string): string =>
  path.split('.').map((name) => identifiers.find((each) => onWire(each, maker) === name) ?? name).join('.');

function onWire(identifier: string, maker: string): string {
  const capital = maker.charAt(0).toUpperCase() + maker.slice(1);
  return identifier.replace('service', maker).replace('Service', capital);
}

/** No identifier of the interface lies deeper; what does, however deep it goes, is unchanged. */
const deepest = 20;

function rename(value: unknown, names: Renames, level = 0): unknown {
  if (level > deepest) return value;
  if (Array.isArray(value)) return value.map((item) => rename(item, names, level + 1));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      names.get(name) ?? name,
      name === 'method' && typeof member === 'string' ? (names.get(member) ?? member) : rename(member, names, level + 1),
    ]),
  );
}

/** Decimals are objects too, but values here. */
function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
