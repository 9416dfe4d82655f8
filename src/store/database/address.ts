// The address of a database: checked, and taken apart so that the password can be kept elsewhere.
import { Failure } from '../../formats/failure.js';

/** @param source the setting that names it. Throws Failure `usage` for what is none. */
export function checkAddress(text: string, source: string): string {
  if (/[?&]password=/i.test(text)) throw notAnAddress(source, new Error('a password belongs before the host'));
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

export const notAnAddress = (source: string, cause?: unknown): Failure =>
  new Failure('usage', `${source} is not the address of a PostgreSQL database.`, {
    hint: 'It looks like postgres://USER@HOST:5432/DATABASE?sslmode=verify-full; in a password @ is %40, / is %2F, and so on.',
    cause,
  });

/** Takes the password out of an address, checked or not, wherever it stands in it. */
export function withoutPassword(text: string): { url: string; password: string | undefined } {
  const [, start = '', password, rest = ''] = /^([a-z]+:\/\/[^:@/?#]*):([^/?#]*)(@.*)$/i.exec(text) ?? [];
  const bare = (password === undefined ? text : start + rest).replace(/((?:^|[?&\s])password\s*=\s*)(?:'[^']*'?|[^&\s]*)/gi, '$1');
  // With a socket for a host it is an address all the same. In a text that is not an address the password may be anywhere before the host.
  const isAddress = /^[a-z]+:\/\//i.test(bare) && URL.canParse(bare.replace('@/', '@host/'));
  return { url: isAddress ? bare : bare.replace(/^([a-z]+:\/\/)?.*@/is, '$1'), password };
}

export const withPassword = (url: string, password: string | undefined): string =>
  password === undefined ? url : url.replace(/^([a-z]+:\/\/[^:@/]*)@/i, (_all, start: string) => `${start}:${encodeURIComponent(password)}@`);

/** The one variable of a PostgreSQL client that the library does not know: whose certificates are believed. */
export function withRootCertificate(url: string, env: NodeJS.ProcessEnv): string {
  const { PGSSLROOTCERT: file, PGSSLMODE: mode = 'disable' } = env;
  const asked = /[?&]sslmode=([^&]*)/.exec(url)?.[1] ?? mode;
  if (file === undefined || file === '' || url.includes('sslrootcert=') || !/^(prefer|require|verify-)/.test(asked)) return url;
  return `${url}${url.includes('?') ? '&' : '?'}sslrootcert=${encodeURIComponent(file)}`;
}

/**
 * Of the modes that encrypt, those of which the client library says that it will come to verify less are written as the
 * one that verifies; `no-verify` asks for less.
 */
export const strictTls = (url: string): string =>
  url.includes('uselibpqcompat') ? url : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
