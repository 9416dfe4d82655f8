// A raw request as typed: path, body, and the approval it needs.
import type { ServiceClient } from '../../api/client.js';
import { Failure } from '../../formats/failure.js';
import { messageOf, withoutMark } from '../../formats/unknown.js';
import type { Context } from '../context.js';
import { readGivenFile, readStdin } from '../stdin.js';

export const accountPlaceholder = '{accountId}';

/**
 * A path as in the specification. Without a slash in front it stands below `/api/v2/`. Throws Failure `usage` for a
 * whole URL, where the token must not go.
 */
export function parsePath(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(text) || /\s/.test(text) || text === '') {
    throw new Failure('usage', `"${text}" is not a path.`, {
      hint: 'Give it without the host, e.g. /api/v2/transaction; --base-url chooses the service.',
    });
  }
  return text.startsWith('/') ? text : `/api/v2/${text}`;
}

export function parseMethod(text: string): string {
  if (/^[a-z]{3,7}$/i.test(text)) return text.toUpperCase();
  throw new Failure('usage', `"${text}" is not a method: use GET, POST, PUT or DELETE.`);
}

/** The account that is acted on, where the path has `{accountId}`. */
export async function fillIn(path: string, client: ServiceClient): Promise<string> {
  if (!path.includes(accountPlaceholder)) return path;
  return path.replaceAll(accountPlaceholder, encodeURIComponent(await client.accountId()));
}

/** The body from the command line, `@FILE` or `-`: checked to be JSON, and sent to the letter. */
export async function readBody(given: string, context: Context): Promise<string> {
  const body = withoutMark(await textOf(given, context));
  try {
    JSON.parse(body);
  } catch (cause) {
    throw new Failure('usage', `The body is not JSON: ${messageOf(cause)}.`, { cause });
  }
  return body;
}

async function textOf(given: string, context: Context): Promise<string> {
  if (given === '-') return readStdin(context);
  return given.startsWith('@') ? (await readGivenFile(given.slice(1))).toString('utf8') : given;
}
