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
    `The ${name} in the database of ${source} was written by a newer svcpay: it was not changed.`,
    {
      hint: 'Use that version, or another database.',
    },
  );

export const foreign = (source: string): Failure =>
  new Failure(
    'usage',
    `The schema ${schemaName} in the database of ${source} was written by a development build ` +
      'or another program: it was not changed.',
    { hint: 'Use a new database', next: { do: 'upgrade-database' } },
  );

export const older = (version: number, source: string, { name, steps }: Part): Failure =>
  new Failure(
    'usage',
    `The ${name} in the database of ${source} has version ${version}; ` +
      `this program needs version ${steps.length}.`,
    {
      hint: 'Upgrade it once no older program uses it',
      next: { do: 'upgrade-database' },
    },
  );

export const empty = (source: string): Failure =>
  new Failure(
    'usage',
    `The database of ${source} has no tables: it is empty, or not the one that you mean.`,
    {
      hint: 'If it is meant to be new, create its tables once',
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
    `The database of ${source} has the id ${id}, but this home paid from the database ` +
      `${known}: it could pay again what it paid there.`,
    {
      hint: 'Set the earlier database again, or, if all its payments are in this one, accept it',
      next: { do: 'accept-database', id },
    },
  );

/** @param expected the id that the variable or the program gives */
export const unexpectedDatabase = (source: string, id: string, expected: string): Failure =>
  new Failure(
    'usage',
    `The database of ${source} has the id ${id}, and ${expected} is expected: nothing was paid.`,
    {
      hint:
        'If all payments of the expected database are in this one, expect this one: ' +
        `${databaseIdVariable}=${id}`,
    },
  );

/**
 * The refusal of a database while no id is stored, because svcpay would repeat payments that an
 * empty or older database lacks.
 */
export const unidentifiedDatabase = (source: string, id: string): Failure =>
  new Failure(
    'usage',
    `Nothing was sent: the id of the database of ${source} is not given and cannot be ` +
      'stored in the settings.',
    { hint: `If it is the right database: ${databaseIdVariable}=${id}` },
  );

export const restoredDatabase = (source: string, generation: number): Failure =>
  new Failure(
    'usage',
    `Nothing was sent: the database of ${source} was restored from a backup (generation ` +
      `${generation}) and lacks payments that were made since.`,
    { hint: 'Enter them from the service, for each account', next: { do: 'import-payments' } },
  );

/**
 * The SQLSTATE code with which a trigger refuses payments of an account that is being moved or was
 * moved.
 */
export const movedState = 'SV001';

/** @param other the id of the database that has the payments of the account */
export const movedAway = (source: string, account: string, other: string): Failure =>
  new Failure(
    'usage',
    `The payments of the account ${account} were moved from the database of ${source} into the ` +
      `database ${other}.`,
    {
      hint: 'Set the address of that database, and accept it',
      next: { do: 'accept-database', id: other },
    },
  );

/** @param other the id of the database that the payments of the account come from */
export const arriving = (source: string, account: string, other: string): Failure =>
  new Failure(
    'usage',
    `The payments of the account ${account} have not all been moved from the database ${other} ` +
      `into the database of ${source}.`,
    { hint: 'Complete the move from that database', next: { do: 'complete-move' } },
  );
