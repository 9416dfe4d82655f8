// Classifies errors of PostgreSQL and its connections, and writes messages that name the setting.
import * as v from 'valibot';
import { Failure, type FailureDetails, type FailureKind } from '../../formats/failure.js';
import { codeOf, messageOf } from '../../formats/unknown.js';
import { notAnAddress } from './address.js';

const networkCode = /^E(CONN|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND)/;
/**
 * Matches the SQLSTATE codes of lost connections, for example because the server is shutting down,
 * is starting, or has ended an idle transaction.
 */
const lostState = /^(08|57P0[123]|25P03)/;
/** The messages of client library errors that have no code. */
const lostTexts = [
  'Connection terminated',
  'Query read timeout',
  'timeout expired',
  'timeout exceeded',
  'Client has encountered a connection error',
];

/**
 * The SQLSTATE code of an error, corrected for PgBouncer, which reports a wrong password as a
 * protocol violation.
 */
const stateOf = (error: unknown): string =>
  codeOf(error) === '08P01' && /authentication failed|no such user/i.test(messageOf(error))
    ? '28P01'
    : codeOf(error);

/** Whether the connection was lost, together with the response to the last statement. */
export const isLost = (error: unknown): boolean =>
  error instanceof Error &&
  (networkCode.test(codeOf(error)) ||
    lostState.test(stateOf(error)) ||
    lostTexts.some((text) => error.message.startsWith(text)));

/**
 * Whether the server rolled the transaction back because of another transaction, so a retry of the
 * transaction is safe.
 */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error));

/**
 * Whether the server refuses connections now, because it is starting or has no free connections.
 */
export const isBusy = (error: unknown): boolean => /^(53300|57P03)/.test(codeOf(error));

const rules: readonly (readonly [
  states: RegExp,
  kind: FailureKind,
  what: string,
  hint?: string,
])[] = [
  [
    /^28/,
    'authentication',
    'refuses the user or the password',
    'Set the password in the address, in PGPASSWORD or in .pgpass.',
  ],
  [/^3D000/, 'usage', 'does not exist', 'Create the database first: CREATE DATABASE ...'],
  [/^25006/, 'temporary', 'is read-only now (it may be a replica, or in a failover)'],
  [/^53100/, 'temporary', 'has no disk space left'],
  [/^53/, 'temporary', 'has no free connections'],
  [/^(55P03|57014|40)/, 'temporary', 'was busy for too long'],
];

/**
 * Returns advice after the server refused a statement: the GRANT statements that are necessary, or
 * the role that must run the upgrade.
 */
function grants(role: string, reason: string): string {
  const name = `"${role.replaceAll('"', '""')}"`;
  const [, database] = /for database (\S+)/.exec(reason) ?? [];
  if (database !== undefined)
    return `As the owner of the database: GRANT CREATE ON DATABASE ${database} TO ${name};`;
  if (/must be owner/.test(reason)) return 'Run the upgrade as the role that owns the tables.';
  return (
    `As the owner of the tables: GRANT USAGE ON SCHEMA svcpay TO ${name}; ` +
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA svcpay TO ${name}; ` +
    `GRANT USAGE ON ALL SEQUENCES IN SCHEMA svcpay TO ${name};`
  );
}

/**
 * @param source the setting that names the database
 * @param role the user that connects
 */
export function databaseFailure(source: string, cause: unknown, role: () => string): Failure {
  if (cause instanceof Failure) return cause;
  if (codeOf(cause) === 'ERR_INVALID_URL') return notAnAddress(source, cause);
  const reason = messageOf(cause) || codeOf(cause);
  const failure = (kind: FailureKind, text: string, details: FailureDetails = {}): Failure =>
    new Failure(kind, `The database of ${source} ${text}.`, { ...details, cause });
  if (cause instanceof v.ValiError)
    return failure('usage', `is damaged and was not changed: ${reason}`);
  if (codeOf(cause) === '42501')
    return failure('authentication', `refuses the role ${role()}: ${reason}`, {
      hint: grants(role(), reason),
    });
  const rule = rules.find(([states]) => states.test(stateOf(cause)));
  if (rule !== undefined) return failure(rule[1], `${rule[2]}: ${reason}`, { hint: rule[3] });
  if (/password must be a string|no password/i.test(reason)) {
    return failure('authentication', 'needs a password', { hint: rules[0]?.[3] });
  }
  if (isLost(cause)) return failure('temporary', `cannot be reached: ${reason}`);
  if (/SSL|TLS|certificate/i.test(`${reason} ${codeOf(cause)}`)) {
    return failure('usage', `does not match the TLS settings in its address: ${reason}`, {
      hint: 'Check sslmode in the address.',
    });
  }
  return failure('usage', `cannot be used: ${reason}`);
}
