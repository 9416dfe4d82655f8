// What PostgreSQL, or the way to it, said: whether it may pass by itself, and in words that name the setting.
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

/** Nothing of the transaction was kept because of another one: it may be run again. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error));

/** It is there, and takes nobody now: it starts, or all its connections are taken. */
export const isBusy = (error: unknown): boolean => /^(53300|57P03)/.test(codeOf(error));

const rules: readonly (readonly [states: RegExp, kind: FailureKind, what: string, hint?: string])[] = [
  [/^28/, 'authentication', 'refuses the user or the password', 'Give the password in the address, in PGPASSWORD or in .pgpass.'],
  [/^3D000/, 'usage', 'is not there', 'Create it first: CREATE DATABASE ...'],
  [/^(42501|25006)/, 'authentication', 'does not let this user write', 'Use a role that may create and write tables.'],
  [/^53100/, 'temporary', 'has no room left on its disk'],
  [/^53/, 'temporary', 'has no room for another connection'],
  [/^(55P03|57014|40)/, 'temporary', 'is busy for too long'],
];

/** @param source the setting that named the database */
export function databaseFailure(source: string, cause: unknown): Failure {
  if (cause instanceof Failure) return cause;
  if (codeOf(cause) === 'ERR_INVALID_URL') return notAnAddress(source, cause);
  const reason = messageOf(cause) || codeOf(cause);
  const failure = (kind: FailureKind, text: string, details: FailureDetails = {}): Failure =>
    new Failure(kind, `The database of ${source} ${text}.`, { ...details, cause });
  if (cause instanceof v.ValiError) return failure('usage', `is damaged, and is left as it is: ${reason}`);
  const rule = rules.find(([states]) => states.test(codeOf(cause)));
  if (rule !== undefined) return failure(rule[1], `${rule[2]}: ${reason}`, { hint: rule[3] });
  if (/password must be a string|no password/i.test(reason)) {
    return failure('authentication', 'asks for a password, and there is none', { hint: rules[0]?.[3] });
  }
  if (isLost(cause)) return failure('temporary', `cannot be reached: ${reason}`);
  if (/SSL|TLS|certificate/i.test(`${reason} ${codeOf(cause)}`)) {
    return failure('usage', `does not answer as its address says: ${reason}`, { hint: 'Look at sslmode in the address.' });
  }
  return failure('usage', `cannot be used: ${reason}`);
}
