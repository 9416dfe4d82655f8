// Checks the address of a database, and separates its password.
import { type Failure, invalid } from '../../formats/failure.js';

/**
 * The environment variable with the id of the database from which payments are made, for homes
 * whose settings cannot store the id.
 */
export const databaseIdVariable = 'SVCPAY_DATABASE_ID';

/**
 * Throws Failure `usage` for an invalid address.
 * @param source the setting that contains the address
 */
export function checkAddress(text: string, source: string): string {
  if (/[?&]password=/i.test(text))
    throw notAnAddress(source, new Error('the password must come before the host'));
  if (/^postgres(ql)?:\/\//.test(text) && !/\s/.test(text) && isEscapedWell(text)) return text;
  throw notAnAddress(source);
}

function isEscapedWell(text: string): boolean {
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

export const databaseVariable = 'SVCPAY_DATABASE_URL';

/**
 * The refusal to use a file if the id of the database is known but not its address. An empty file
 * lacks the payments of the database, so svcpay could repeat them.
 */
export const noAddress = (id: string): Failure =>
  invalid(`The payments are in the database ${id}, but its address is missing.`, {
    hint: `Set ${databaseVariable}, or`,
    next: { do: 'run', command: 'config set database-url' },
  });

export const notAnAddress = (source: string, cause?: unknown): Failure =>
  invalid(`${source} is not the address of a PostgreSQL database.`, {
    hint:
      'Write postgres://USER@HOST:5432/DATABASE?sslmode=verify-full. In a password, write @ as ' +
      '%40, / as %2F, and so on.',
    cause,
  });

/** Separates the password from an address, even if the address is invalid. */
export function withoutPassword(text: string): { url: string; password: string | undefined } {
  const [, start = '', password, rest = ''] =
    /^([a-z]+:\/\/[^:@/?#]*):([^/?#]*)(@.*)$/i.exec(text) ?? [];
  const bare = (password === undefined ? text : start + rest).replace(
    /((?:^|[?&\s])password\s*=\s*)(?:'[^']*'?|[^&\s]*)/gi,
    '$1',
  );
  // An address may name a socket instead of a host. In an invalid address, the password may be
  // anywhere before the host.
  const isAddress = /^[a-z]+:\/\//i.test(bare) && URL.canParse(bare.replace('@/', '@host/'));
  return { url: isAddress ? bare : bare.replace(/^([a-z]+:\/\/)?.*@/is, '$1'), password };
}

export const withPassword = (url: string, password: string | undefined): string =>
  password === undefined
    ? url
    : url.replace(
        /^([a-z]+:\/\/[^:@/]*)@/i,
        (_all, start: string) => `${start}:${encodeURIComponent(password)}@`,
      );

/** Adds PGSSLROOTCERT to the address, because the client library ignores this variable. */
export function withRootCertificate(url: string, env: NodeJS.ProcessEnv): string {
  const { PGSSLROOTCERT: file, PGSSLMODE: variable = 'disable' } = env;
  const mode = /[?&]sslmode=([^&]*)/.exec(url)?.[1] ?? variable;
  if (
    file === undefined ||
    file === '' ||
    url.includes('sslrootcert=') ||
    !/^(prefer|require|verify-)/.test(mode)
  )
    return url;
  return `${url}${url.includes('?') ? '&' : '?'}sslrootcert=${encodeURIComponent(file)}`;
}

/**
 * Replaces the TLS modes that encrypt with the mode that also verifies certificates, because a
 * future version of the client library will verify less in the replaced modes. Keeps `no-verify`.
 */
export const strictTls = (url: string): string =>
  url.includes('uselibpqcompat')
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
