// Reads the official vectors, which lie beside the repository; without them only the tests that need them are skipped.
import { existsSync, readFileSync } from 'node:fs';
import * as v from 'valibot';

const folder = new URL('../../../shared/vectors/', import.meta.url);

/** The file's contents in the given shape, or `undefined`, said loudly, when the vectors are not there. */
export function loadVectors<Schema extends v.GenericSchema>(name: string, schema: Schema) {
  const file = new URL(name, folder);
  if (!existsSync(file)) {
    console.warn(`OFFICIAL VECTORS NOT FOUND: ${name} is not in ${folder.pathname}, its tests are skipped.`);
    return undefined;
  }
  return v.parse(schema, JSON.parse(readFileSync(file, 'utf8')));
}
