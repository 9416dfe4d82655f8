// Applies live shapes to the responses of the service.
import { jsonAnswer, type Incoming, type Outgoing } from '../http/routing.js';
import { readJson } from '../wire/json.js';
import type { WireNames } from '../wire/wire-names.js';
import { otherError } from '../unspecified.js';
import { applyEdit } from './edits.js';
import { shapeNames, shapeOf, type LiveShapeName } from './table.js';

const version = '/api/v2';

export function shapedEdge(
  names: ReadonlySet<LiveShapeName>,
  wireNames: WireNames,
  machineTime: () => number,
) {
  const limiter = createLimiter();
  const headers = (left: number, resetMs: number): Record<string, string> => ({
    'x-ratelimit-limit': String(perMinute),
    'x-ratelimit-remaining': String(left),
    'x-ratelimit-reset': String(Math.ceil(resetMs / 1000)),
  });
  let last: Record<string, string> = {};
  return {
    /** Returns a 429 response if the request exceeds the rate limit. */
    refuse(): Outgoing | undefined {
      last = names.has('rate-limit-headers') ? headers(perMinute - 1, aMinute) : {};
      if (!names.has('rate-limit')) return undefined;
      const { left, resetMs, isTaken } = limiter(machineTime());
      last = headers(left, resetMs);
      return isTaken ? undefined : withHeaders(jsonAnswer(429, { error: otherError(429) }), last);
    },
    shape(incoming: Incoming, outgoing: Outgoing): Outgoing {
      if (names.size === 0 || !incoming.target.startsWith(version)) return outgoing;
      return withHeaders(shaped(names, wireNames, incoming, outgoing), last);
    },
  };
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
