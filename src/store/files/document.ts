// A JSON document on disk, such as the settings or a cache of the service's data. Only its owner
// can read a document, and only one process at a time changes it. The conf library writes the
// document atomically, and each read validates the content. Changing a document keeps fields of
// newer versions, which this version does not recognize.
import { chmodSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { Failure, invalid } from '../../formats/failure.js';
import { isFields, messageOf, withoutMark, type Fields } from '../../formats/text.js';
import { isThere, openFolder } from './home.js';

export interface Document<T> {
  readonly path: string;
  read(): T;
  /** Reads, changes and writes the document under a lock, and resolves with its new content. */
  update(change: (before: T) => T): Promise<T>;
}

type DocumentSchema = v.GenericSchema<unknown, Fields>;

export interface DocumentOptions {
  /** Throws Failure for unknown fields that svcpay must not ignore. */
  readonly check?: (raw: Fields) => void;
  /**
   * Called for an unreadable file, which then counts as empty. Only documents whose data svcpay can
   * fetch again set `onUnreadable`.
   */
  readonly onUnreadable?: (words: string) => void;
}

export function openDocument<S extends DocumentSchema>(
  folder: string,
  name: string,
  schema: S,
  { check, onUnreadable }: DocumentOptions = {},
): Document<v.InferOutput<S>> {
  const path = join(folder, `${name}.json`);
  const parse = (raw: Fields): v.InferOutput<S> => {
    const parsed = v.safeParse(schema, raw);
    if (!parsed.success) throw damaged(path, parsed.issues[0]?.message);
    check?.(raw);
    return parsed.output;
  };
  const load = (): { raw: Fields; before: v.InferOutput<S> } => {
    try {
      return guard(path, () => {
        const raw = rawOf(path);
        return { raw, before: parse(raw) };
      });
    } catch (error) {
      if (onUnreadable === undefined) throw error;
      onUnreadable(messageOf(error));
      return { raw: {}, before: parse({}) };
    }
  };
  return {
    path,
    read: () => load().before,
    async update(change) {
      const [{ default: Conf }, { locked }] = await Promise.all([
        import('conf'),
        import('./sqlite-file.js'),
      ]);
      return guard(path, () => {
        openFolder(folder);
        return locked(join(folder, 'settings.lock'), () => {
          const { raw, before } = load();
          const after = change(before);
          // Removes the files of processes that died while writing, because these files may contain
          // secrets.
          for (const left of readdirSync(folder))
            if (left.startsWith(`${name}.json.tmp-`)) rmSync(join(folder, left));
          const file = new Conf({
            cwd: folder,
            configName: name,
            configFileMode: 0o600,
            accessPropertiesByDotNotation: false,
            deserialize: () => raw,
          });
          file.store = withUnknownKept(raw, before, after);
          // Sets the permissions explicitly, because the umask may have removed even the owner's
          // permissions.
          chmodSync(path, 0o600);
          return after;
        });
      });
    },
  };
}

function rawOf(path: string): Fields {
  if (!isThere(path)) return {};
  // Reads only regular files, because reading a pipe or device may never end.
  if (!statSync(path).isFile()) throw damaged(path, 'the path is not a file');
  const raw: unknown = JSON.parse(withoutMark(readFileSync(path, 'utf8')));
  if (!isFields(raw)) throw damaged(path, 'the file does not contain a JSON object');
  return raw;
}

function guard<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof Failure) throw error;
    // Removes the text after the comma in the error message, because this text quotes the file and
    // may contain a secret.
    if (error instanceof SyntaxError)
      throw damaged(path, error.message.replace(/, (?:\.{3})?".*/s, ''));
    throw invalid(`The file ${path} cannot be used: ${messageOf(error)}.`, {
      hint:
        'Make the file and its folder readable and writable, free disk space, ' +
        'or set SVCPAY_HOME to another folder.',
      cause: error,
    });
  }
}

function damaged(path: string, reason: string | undefined): Failure {
  return invalid(`The file ${path} is damaged: ${reason ?? 'its content is not valid'}.`, {
    hint: 'Fix the file, or move it to a different folder and sign in again.',
  });
}

/**
 * Merges the changed document `after` into the stored document `raw`, from which svcpay parsed
 * `before`. Keeps the keys of `raw` that are missing in `before`, because this version of svcpay
 * does not recognize them. Removes from `raw` the keys of `before` that are missing in `after`.
 */
function withUnknownKept(raw: Fields, before: Fields, after: Fields): Fields {
  const unknown = Object.entries(raw).filter(([name]) => !Object.hasOwn(before, name));
  const present = Object.entries(after).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(unknown),
    ...Object.fromEntries(present.map(([name, value]) => [name, merged(name, value)])),
  };

  function merged(name: string, value: unknown): unknown {
    const [old, read] = [raw[name], before[name]];
    return isFields(old) && isFields(read) && isFields(value)
      ? withUnknownKept(old, read, value)
      : value;
  }
}
