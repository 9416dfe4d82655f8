// Reads the parts of a raw request: path, method and body.
import type { ServiceClient } from '../../api/client.js';
import { Failure } from '../../formats/failure.js';
import { messageOf, withoutMark } from '../../formats/unknown.js';
import type { Context } from '../context.js';
import { readGivenFile, readStdin } from '../stdin.js';

export const accountPlaceholder = '{accountId}';

/**
 * Reads the path of a raw request, to which svcpay adds `/api/v2/` if the path has no leading
 * slash. Throws Failure `usage` for a URL, because svcpay sends the token only to the configured
 * service.
 */
export function parsePath(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(text) || /\s/.test(text) || text === '') {
    throw new Failure('usage', `"${text}" is not a path.`, {
      hint:
        'Give the path without the host, e.g. /api/v2/transaction. To choose the service, ' +
        'use --base-url.',
    });
  }
  return text.startsWith('/') ? text : `/api/v2/${text}`;
}

export function parseMethod(text: string): string {
  if (/^[a-z]{3,7}$/i.test(text)) return text.toUpperCase();
  throw new Failure('usage', `"${text}" is not a method: use GET, POST, PUT or DELETE.`);
}

/** Replaces `{accountId}` in a path with the account's id. */
export async function fillIn(path: string, client: ServiceClient): Promise<string> {
  if (!path.includes(accountPlaceholder)) return path;
  return path.replaceAll(accountPlaceholder, encodeURIComponent(await client.accountId()));
}

/**
 * Reads the body of a raw request from the command line, from `@FILE` or from stdin (`-`). The body
 * must be JSON, which svcpay sends unchanged.
 */
export const readBody = async (given: string, context: Context): Promise<string> =>
  checkedBody(await textOf(given, context));

/** Returns the piped input, or undefined if stdin has no input. */
export async function readPipedBody(context: Context): Promise<string | undefined> {
  const text = await readStdin(context);
  return text.trim() === '' ? undefined : checkedBody(text);
}

function checkedBody(text: string): string {
  const body = withoutMark(text);
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
