// Changes a sandbox so that it answers in the response formats of live services.
import { jsonAnswer, type Incoming, type Outgoing } from '../../../src/sandbox/routing.js';
import { createPoster, type PostRequest } from '../../../src/sandbox/post.js';
import { otherError } from '../../../src/sandbox/unspecified.js';
import { readJson, wireNamesOf, type WireNames } from '../../../src/sandbox/wire.js';
import type { Intercept, ServiceOptions } from '../../../src/sandbox/service.js';
import { applyEdit } from './edits.js';
import { readShapeNames, shapeNames, shapeOf, type LiveShapeName } from './table.js';

export interface ShapedOptions extends ServiceOptions {
  /** The names of live shapes, or `all`. */
  readonly liveShapes?: readonly string[] | undefined;
}

/** Returns the options of a sandbox that answers in the chosen live shapes. */
export function withLiveShapes({ liveShapes = [], ...options }: ShapedOptions): ServiceOptions {
  const names = new Set(readShapeNames(liveShapes));
  if (names.size === 0) return options;
  const wireNames = wireNamesOf(options.maker ?? 'service');
  return {
    ...options,
    ...(names.has('webhook-put') && { webhookMethod: 'PUT' }),
    ...(names.has('webhook-final-only') && { webhookEvents: 'final' }),
    intercept: intercepting(names, wireNames, options.now ?? Date.now),
    post: posting(names, wireNames),
  };
}

/** Posts deliveries, and reports a failed delivery as delivered if it is tried only once. */
function posting(names: ReadonlySet<LiveShapeName>, { signatureHeader }: WireNames) {
  const { post } = createPoster();
  return async (request: PostRequest) => {
    const { [signatureHeader]: signature = '', ...others } = request.headers;
    const headers = names.has('webhook-signature-header')
      ? { ...others, 'X-Signature': signature }
      : request.headers;
    const result = await post({ ...request, headers });
    return names.has('webhook-once') ? { status: 200, error: null } : result;
  };
}

const version = '/api/v2';

function intercepting(
  names: ReadonlySet<LiveShapeName>,
  wireNames: WireNames,
  machineTime: () => number,
): Intercept {
  const limiter = createLimiter();
  const rateHeaders = (left: number, resetMs: number): Record<string, string> => ({
    'x-ratelimit-limit': String(perMinute),
    'x-ratelimit-remaining': String(left),
    'x-ratelimit-reset': String(Math.ceil(resetMs / 1000)),
  });
  return (incoming, respond) => {
    if (!incoming.target.startsWith(version)) return respond(incoming);
    let headers = names.has('rate-limit-headers') ? rateHeaders(perMinute - 1, aMinute) : {};
    if (names.has('rate-limit')) {
      const { left, resetMs, isTaken } = limiter(machineTime());
      headers = rateHeaders(left, resetMs);
      if (!isTaken) return withHeaders(jsonAnswer(429, { error: otherError(429) }), headers);
    }
    const outgoing = (names.has('webhook-exists') && secondWebhook(incoming, respond)) || undefined;
    return withHeaders(shaped(names, wireNames, incoming, outgoing ?? respond(incoming)), headers);
  };
}

/** Returns the refusal with code 3002 of a webhook if the account already has a webhook. */
function secondWebhook(incoming: Incoming, respond: (incoming: Incoming) => Outgoing) {
  if (incoming.method !== 'POST' || incoming.target !== `${version}/webhook`) return undefined;
  const { status, body } = respond({ ...incoming, method: 'GET', body: new Uint8Array() });
  if (status !== 200 || body === '{"data":[]}') return undefined;
  return jsonAnswer(400, {
    resultStatus: 'error',
    code: '3002',
    error: 'a webhook already exists',
    errorMetadata: { params: '{}' },
  });
}

const withHeaders = (outgoing: Outgoing, more: Readonly<Record<string, string>>): Outgoing => ({
  ...outgoing,
  headers: { ...outgoing.headers, ...more },
});

function shaped(
  names: ReadonlySet<LiveShapeName>,
  wireNames: WireNames,
  incoming: Incoming,
  outgoing: Outgoing,
): Outgoing {
  const [path = ''] = incoming.target.slice(version.length).split('?', 1);
  const request = `${incoming.method} ${path.replace(/^(\/transaction)\/$/, '$1')}`;
  let { status } = outgoing;
  let body: unknown = readJson(outgoing.body);
  for (const name of shapeNames.filter((each) => names.has(each))) {
    const { of, from: [lowest, highest] = [200, 200], edits = [], status: other } = shapeOf(name);
    if (of?.test(request) !== true) continue;
    if (outgoing.status < lowest || outgoing.status > highest) continue;
    body = edits.reduce((edited: unknown, edit) => applyEdit(edit, edited, wireNames), body);
    status = other ?? status;
  }
  return { ...outgoing, ...jsonAnswer(status, body) };
}

const perMinute = 60;
const perSecond = 5;
const aMinute = 60_000;

function createLimiter() {
  let taken: number[] = [];
  return (now: number): { isTaken: boolean; left: number; resetMs: number } => {
    taken = taken.filter((at) => at > now - aMinute);
    const recent = taken.filter((at) => at > now - 1000);
    const isTaken = taken.length < perMinute && recent.length < perSecond;
    if (isTaken) taken.push(now);
    const crowded = recent.length >= perSecond && taken.length < perMinute;
    const [oldest = now] = crowded ? recent : taken;
    return {
      isTaken,
      left: perMinute - taken.length,
      resetMs: oldest + (crowded ? 1000 : aMinute) - now,
    };
  };
}
