// `--fields a,b.c`: some fields of an object, under the names that were asked for.

/** What stands at a path such as `sourceReq.ccy`; undefined where the path leads nowhere. */
export function fieldAt(object: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, key)?.value : undefined,
      object,
    );
}

/** The paths as keys, in the order asked for; a field that is not there is null, so that every row has all of them. */
export function pickFields(object: object, paths: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(paths.map((path) => [path, fieldAt(object, path) ?? null]));
}
