// Controls a sandbox through its `/_sandbox/` endpoints: the embedded sandbox, or a sandbox server
// on this machine.
import * as v from 'valibot';
import { parseBaseUrl } from '../../api/check-options.js';
import { NetworkError, type Transport } from '../../api/errors.js';
import { Failure, ifAvailable } from '../../formats/failure.js';
import { jsonIn } from '../../formats/text.js';
import { embeddedUrl, type Settings } from '../../store/profile/settings.js';
import type { Deps } from '../define.js';

const errorSchema = v.object({ error: v.string(), message: v.optional(v.string()) });

interface SandboxTarget {
  readonly url: string;
  readonly transport: Transport;
}

/** The parts of the context through which a command controls the sandbox. */
export type SandboxDeps = Deps<'settings' | 'embedded' | 'transport'>;

/**
 * Sends a request such as `GET clock` to the sandbox. Throws Failure `refused` if the sandbox
 * refuses the request.
 */
export async function controlSandbox<T>(
  deps: SandboxDeps,
  request: string,
  schema: v.GenericSchema<unknown, T>,
  body?: object,
): Promise<T> {
  const { url, transport } = await findTarget(deps);
  const [method = '', path = ''] = request.split(' ');
  const answer = await transport({
    method,
    url: `${url}/_sandbox/${path}`,
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw error instanceof NetworkError ? unreachable(url, error) : error;
  });
  const json = jsonIn(answer.body);
  if (answer.status !== 200) throw refused(json, answer.status);
  const read = v.safeParse(schema, json);
  if (!read.success) throw new Failure('refused', `The server at ${url} is not a sandbox.`);
  return read.output;
}

/** Requests a list of the sandbox. */
export const listSandbox = async <T>(
  deps: SandboxDeps,
  request: string,
  item: v.GenericSchema<unknown, T>,
  body?: object,
): Promise<T[]> =>
  (await controlSandbox(deps, request, v.object({ data: v.array(item) }), body)).data;

/**
 * Returns the chosen sandbox server on this machine, or the embedded sandbox if no sandbox server
 * is chosen.
 */
async function findTarget({ settings, embedded, transport }: SandboxDeps): Promise<SandboxTarget> {
  const { baseUrl } = settings;
  if (settings.embedded || baseUrl === undefined || isRealService(settings))
    return { url: embeddedUrl, transport: (await embedded()).transport };
  return { url: parseBaseUrl(baseUrl), transport: await transport() };
}

/**
 * Whether the base URL belongs to a real service. svcpay accepts a base URL with http only for a
 * sandbox on this machine.
 */
export const isRealService = ({ baseUrl }: Pick<Settings, 'baseUrl'>): boolean =>
  baseUrl !== undefined && parseBaseUrl(baseUrl).startsWith('https:');

/** Whether the base URL belongs to a sandbox, with which svcpay may change the webhook. */
export const isSandbox = (settings: Pick<Settings, 'baseUrl'>): boolean =>
  settings.baseUrl !== undefined && !isRealService(settings);

/**
 * Returns the chosen account of the sandbox, or undefined if the chosen account belongs to a real
 * service.
 */
export const accountOf = ({ settings }: Deps<'settings'>): string | undefined =>
  isRealService(settings) ? undefined : settings.accountId;

/**
 * Deletes the recorded books, because the records of the replaced balances would not agree with the
 * new balances.
 */
export async function forgetBooks({ account, books }: Deps<'account' | 'books'>): Promise<void> {
  const own = await ifAvailable(account());
  if (own !== undefined) await (await books()).forget(own.scope);
}

/** Builds the query of a URL, which starts with `?` and omits undefined fields. */
export function queryOf(fields: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? '' : `?${query}`;
}

function refused(json: unknown, status: number): Failure {
  const read = v.safeParse(errorSchema, json);
  const reason = read.success
    ? (read.output.message ?? read.output.error).replace(/\.$/, '')
    : `status ${status}`;
  return new Failure(status === 404 ? 'not-found' : 'refused', `The sandbox refused: ${reason}.`, {
    status,
  });
}

function unreachable(url: string, cause: NetworkError): Failure {
  return new Failure('temporary', `No sandbox answers at ${url}: ${cause.message}`, {
    next: { do: 'run', command: 'sandbox start' },
    cause,
  });
}
