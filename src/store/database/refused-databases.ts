// The databases that svcpay refuses, with the reasons. svcpay neither writes to a refused database
// nor pays from it.
import { Failure } from '../../formats/failure.js';
import { databaseIdVariable } from './address.js';
import { schemaName } from './postgres-transaction.js';

interface Part {
  readonly name: string;
  readonly steps: readonly string[];
}

export const newer = (source: string, { name }: Part): Failure =>
  new Failure(
    'usage',
    `The ${name} in the database of ${source} was written by a newer svcpay and was not changed.`,
    {
      hint: 'Use the newer version of svcpay, or another database.',
    },
  );

export const foreign = (source: string): Failure =>
  new Failure(
    'usage',
    `The schema ${schemaName} in the database of ${source} was written by a development build ` +
      'or another program and was not changed.',
    { hint: 'Use a new database', next: { do: 'upgrade-database' } },
  );

export const older = (version: number, source: string, { name, steps }: Part): Failure =>
  new Failure(
    'usage',
    `The ${name} in the database of ${source} has version ${version}, but ` +
      `this program requires version ${steps.length}.`,
    {
      hint: 'Upgrade the database when older programs no longer use it',
      next: { do: 'upgrade-database' },
    },
  );

export const empty = (source: string): Failure =>
  new Failure(
    'usage',
    `The database of ${source} has no tables, so it is either new or the wrong database.`,
    {
      hint: 'If the database is new, create its tables',
      next: { do: 'create-tables' },
    },
  );

/**
 * @param id the id of the database
 * @param known the id of the database that this home has used until now
 */
export const anotherDatabase = (source: string, id: string, known: string): Failure =>
  new Failure(
    'usage',
    `The database of ${source} has the id ${id}, but this home recorded its payments ` +
      `in the database ${known}. With the database ${id}, svcpay could make those payments again.`,
    {
      hint:
        'Set the earlier database again. If all its payments are also in the new database, ' +
        'accept the new database',
      next: { do: 'accept-database', id },
    },
  );

/** @param expected the database id that the environment variable or the program specifies */
export const unexpectedDatabase = (source: string, id: string, expected: string): Failure =>
  new Failure(
    'usage',
    `The database of ${source} is not used: its id is ${id}, but the expected id is ` +
      `${expected}.`,
    {
      hint:
        'If this database has all payments of the expected database, set ' +
        `${databaseIdVariable}=${id}`,
    },
  );

/**
 * The failure if no id is set for the database and the settings cannot store an id. If svcpay did
 * not know the id of the right database, it could pay from an empty or older database, and repeat
 * payments that the wrong database lacks.
 */
export const unidentifiedDatabase = (source: string, id: string): Failure =>
  new Failure(
    'usage',
    `No id is set for the database of ${source}, and the settings cannot store an id.`,
    { hint: `If this is the right database, set ${databaseIdVariable}=${id}` },
  );

export const restoredDatabase = (source: string, generation: number): Failure =>
  new Failure(
    'usage',
    `The database of ${source} was restored from a backup (generation ${generation}) ` +
      'and may lack payments made since the backup.',
    {
      hint: 'Import the missing payments of each account from the service',
      next: { do: 'import-payments' },
    },
  );
