// Errors of PostgreSQL and of the way to it: whether they may pass by themselves, and a message that names the setting.
import * as v from 'valibot';
import { Failure, type FailureDetails, type FailureKind } from '../../formats/failure.js';
import { codeOf, messageOf } from '../../formats/unknown.js';
import { notAnAddress } from './address.js';

const networkCode = /^E(CONN|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND)/;
/** Connection exceptions; the server ends, was ended, or is not there yet; it ended an idle transaction. */
const lostState = /^(08|57P0[123]|25P03)/;
/** Words of the client library, which gives these no code. */
const lostText = /^(Connection terminated|Query read timeout|timeout e(xpired|xceeded)|Client has encountered a connection error)/;

/** The connection is gone, and with it the answer to what was sent last. */
export const isLost = (error: unknown): boolean =>
  error instanceof Error && (networkCode.test(codeOf(error)) || lostState.test(codeOf(error)) || lostText.test(error.message));

/** There is no host of this name: to wait would not help. */
export const isNowhere = (error: unknown): boolean => codeOf(error) === 'ENOTFOUND';

/** Nothing of the transaction was kept because of another one: it may be run again. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error));

/** It is there, and takes nobody now: it starts, or all its connections are taken. */
export const isBusy = (error: unknown): boolean => /^(53300|57P03)/.test(codeOf(error));

const rules: readonly (readonly [states: RegExp, kind: FailureKind, what: string, hint?: string])[] = [
  [/^28/, 'authentication', 'refuses the user or the password', 'Give the password in the address, in PGPASSWORD or in .pgpass.'],
  [/^3D000/, 'usage', 'is not there', 'Create it first: CREATE DATABASE ...'],
  [/^25006/, 'temporary', 'takes no writes now (a replica, or a failover)'],
  [/^53100/, 'temporary', 'has no room left on its disk'],
  [/^53/, 'temporary', 'has no room for another connection'],
  [/^(55P03|57014|40)/, 'temporary', 'is busy for too long'],
];

/** The statements that give a role what the refused statement needs. */
function grants(role: string, reason: string): string {
  const name = `"${role.replaceAll('"', '""')}"`;
  const [, database] = /for database (\S+)/.exec(reason) ?? [];
  if (database !== undefined) return `As the owner of the database: GRANT CREATE ON DATABASE ${database} TO ${name};`;
  if (/must be owner/.test(reason)) return 'Upgrade as the role that owns the tables.';
  return `As the owner of the tables: GRANT USAGE ON SCHEMA svcpay TO ${name}; ` +
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA svcpay TO ${name}; GRANT USAGE ON ALL SEQUENCES IN SCHEMA svcpay TO ${name};`;
}

/**
 * @param source the setting that named the database
 * @param role the user that connects
 */
export function databaseFailure(source: string, cause: unknown, role: () => string): Failure {
  if (cause instanceof Failure) return cause;
  if (codeOf(cause) === 'ERR_INVALID_URL') return notAnAddress(source, cause);
  const reason = messageOf(cause) || codeOf(cause);
  const failure = (kind: FailureKind, text: string, details: FailureDetails = {}): Failure =>
    new Failure(kind, `The database of ${source} ${text}.`, { ...details, cause });
  if (cause instanceof v.ValiError) return failure('usage', `is damaged, and is left as it is: ${reason}`);
  if (codeOf(cause) === '42501') return failure('authentication', `refuses the role ${role()}: ${reason}`, { hint: grants(role(), reason) });
  const rule = rules.find(([states]) => states.test(codeOf(cause)));
  if (rule !== undefined) return failure(rule[1], `${rule[2]}: ${reason}`, { hint: rule[3] });
  if (/password must be a string|no password/i.test(reason)) {
    return failure('authentication', 'needs a password', { hint: rules[0]?.[3] });
  }
  if (isLost(cause)) return failure('temporary', `cannot be reached: ${reason}`);
  if (/SSL|TLS|certificate/i.test(`${reason} ${codeOf(cause)}`)) {
    return failure('usage', `does not match its address: ${reason}`, { hint: 'Check sslmode in the address.' });
  }
  return failure('usage', `cannot be used: ${reason}`);
}
