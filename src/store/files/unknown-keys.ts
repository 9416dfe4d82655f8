// Keys that a newer program wrote: kept where this one changes what is beside them.
import { isFields, type Fields } from '../../formats/unknown.js';

/**
 * What is to be written in place of `raw`, once what was read of it (`before`) is to be `after`. A key of `raw` that
 * `before` lacks was not understood, and stays; one that `after` lacks was taken away.
 */
export function withUnknownKept(raw: Fields, before: Fields, after: Fields): Fields {
  const unknown = Object.entries(raw).filter(([name]) => !Object.hasOwn(before, name));
  const known = Object.entries(after).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(unknown), ...Object.fromEntries(known.map(([name, value]) => [name, merged(name, value)])) };

  function merged(name: string, value: unknown): unknown {
    const [old, read] = [raw[name], before[name]];
    return isFields(old) && isFields(read) && isFields(value) ? withUnknownKept(old, read, value) : value;
  }
}
