// The sandbox's file as whoever opens it needs to know it. Opening files is not the sandbox's own business: it is handed in.
import type Database from 'libsql';

export interface DatabaseFile {
  readonly path: string;
  /** What it holds, in words for a message. */
  readonly name: string;
  /** Tells it from any other SQLite file. */
  readonly applicationId: number;
  /** The version that the first step makes; files of earlier ones are not read. */
  readonly firstVersion: number;
  /** The SQL from each version to the next, the first from nothing; it may depend on which tables there are. */
  readonly steps: readonly (string | ((tables: readonly string[]) => string))[];
  /** What to do about one that is damaged. */
  readonly mend: { readonly hint: string; readonly next: undefined };
}

/** Opens the file, of any version, with its tables as the last step leaves them. Throws a Failure where that cannot be. */
export type OpenFile = (file: DatabaseFile) => Database.Database;
