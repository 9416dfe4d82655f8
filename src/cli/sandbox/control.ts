// Controls a sandbox, embedded or at an address on this machine, through its `/_sandbox/` endpoints.
import * as v from 'valibot';
import { parseBaseUrl } from '../../api/base-url.js';
import { NetworkError, type Transport } from '../../api/transport.js';
import { Failure } from '../../formats/failure.js';
import { embeddedUrl } from '../../store/profile/settings.js';
import type { Context } from '../context.js';

const errorSchema = v.object({ error: v.string(), message: v.optional(v.string()) });

/** A sandbox within reach: embedded, or at an address. */
export interface SandboxTarget {
  readonly url: string;
  readonly transport: Transport;
}

/** Throws Failure: `usage` when the chosen service is not on this machine, `refused` when the sandbox says no. */
export async function controlSandbox<T>(
  context: Context,
  method: string,
  path: string,
  schema: v.GenericSchema<unknown, T>,
  body?: object,
): Promise<T> {
  return controlAt(await findTarget(context), method, path, schema, body);
}

export async function controlAt<T>(
  { url, transport }: SandboxTarget,
  method: string,
  path: string,
  schema: v.GenericSchema<unknown, T>,
  body?: object,
): Promise<T> {
  const answer = await transport({
    method,
    url: `${url}/_sandbox/${path}`,
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw error instanceof NetworkError ? unreachable(url, error) : error;
  });
  const json = parseJson(answer.body);
  if (answer.status !== 200) throw refused(json, answer.status);
  const read = v.safeParse(schema, json);
  if (!read.success) throw new Failure('refused', `What answers at ${url} is not a sandbox.`);
  return read.output;
}

/** Without any service chosen the embedded sandbox is meant. */
async function findTarget(context: Context): Promise<SandboxTarget> {
  const { settings } = context;
  if (settings.embedded || settings.baseUrl === undefined) {
    return { url: embeddedUrl, transport: (await context.embedded()).transport };
  }
  const url = parseBaseUrl(settings.baseUrl);
  if (!url.startsWith('http:')) {
    throw new Failure('usage', `${url} is a real service, not a sandbox.`, { hint: 'svcpay --sandbox sandbox status' });
  }
  return { url, transport: await context.transport() };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refused(json: unknown, status: number): Failure {
  const read = v.safeParse(errorSchema, json);
  const reason = read.success ? (read.output.message ?? read.output.error).replace(/\.$/, '') : `status ${status}`;
  return new Failure(status === 404 ? 'not-found' : 'refused', `The sandbox refused: ${reason}.`, { status });
}

function unreachable(url: string, cause: NetworkError): Failure {
  return new Failure('temporary', `No sandbox answers at ${url}: ${cause.message}`, {
    hint: 'svcpay sandbox start',
    cause,
  });
}
