// One JSON document on disk, owner-readable and written atomically by conf, validated each time it is read.
import Conf from 'conf';
import * as v from 'valibot';
import { join } from 'node:path';
import { Failure } from '../../formats/failure.js';
import { openFolder } from './home.js';

export interface Document<T> {
  readonly path: string;
  read(): T;
  write(value: T): void;
}

export function openDocument<S extends v.GenericSchema<unknown, Record<string, unknown>>>(
  folder: string,
  name: string,
  schema: S,
): Document<v.InferOutput<S>> {
  const path = join(folder, `${name}.json`);
  const open = (): Conf =>
    guard(path, () => {
      openFolder(folder);
      return new Conf({ cwd: folder, configName: name, configFileMode: 0o600, accessPropertiesByDotNotation: false });
    });
  let conf: Conf | undefined;
  return {
    path,
    read() {
      conf ??= open();
      const parsed = v.safeParse(schema, guard(path, () => conf?.store));
      if (!parsed.success) throw damaged(path, parsed.issues[0]?.message);
      return parsed.output;
    },
    write(value) {
      conf ??= open();
      const target = conf;
      guard(path, () => (target.store = value));
    },
  };
}

function guard<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (error instanceof SyntaxError) throw damaged(path, error.message);
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure('usage', `The file ${path} cannot be used: ${reason}.`, { cause: error });
  }
}

function damaged(path: string, reason: string | undefined): Failure {
  return new Failure('usage', `The file ${path} is damaged: ${reason ?? 'it has another form'}.`, {
    hint: 'Mend it or move it away, then sign in again',
    next: { do: 'sign-in' },
  });
}
