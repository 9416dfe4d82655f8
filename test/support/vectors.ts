// Reads the official test vectors in test/vectors. Each file of vectors names its source and
// licence.
import { readFileSync } from 'node:fs';
import * as v from 'valibot';

const origin = v.object({
  source: v.pipe(v.string(), v.nonEmpty()),
  license: v.pipe(v.string(), v.nonEmpty()),
});

/** Returns the vectors of a file, and checks them against a schema. */
export function loadVectors<Schema extends v.GenericSchema>(
  name: string,
  schema: Schema,
): v.InferOutput<Schema> {
  const content: unknown = JSON.parse(
    readFileSync(new URL(`../vectors/${name}`, import.meta.url), 'utf8'),
  );
  v.parse(origin, content);
  return v.parse(schema, content);
}
