// What the strict service does that the specification does not forbid: lagging, lying, and what
// stands before it.
import type { Json, Received } from './strict-judge.js';
import type { Txn } from './strict-transactions.js';

/** What the next requests of a kind meet with in place of the service's answer. */
export interface Meeting {
  readonly exchange: 'create request' | 'confirmation' | 'read' | 'list' | 'rates';
  /** Those about this reference alone. */
  readonly ref?: string;
  /** The connection is broken off without an answer. */
  readonly status: number | 'broken off';
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the service carries the request out: not, at once, or so many ms later. */
  readonly effect: 'none' | 'at once' | number;
  times: number;
}

/** Changed by a test at any time. */
export interface Temper {
  /** The state that a read tells; undefined for 404. */
  reads: (txn: Txn) => string | undefined;
  lists: (txn: Txn) => boolean;
  takesUsedReferences: boolean;
  /** The next create requests wait until so many of them are there. */
  createRequestsTogether: number;
  /** What the service makes of an order, in every answer that shows it in full. */
  makes: (view: Json) => Json;
  /** What the list says of its pages. */
  echoes: (pagination: Json) => Json;
  rates: Json | undefined;
  /** What becomes of the body of an answer on its way. */
  carries: (request: Received, body: string) => string;
  /** Sent with every answer that is the service's own. */
  headers: () => Readonly<Record<string, string>>;
  meetings: Meeting[];
}

export const evenTemper = (): Temper => ({
  reads: ({ state }) => state,
  lists: () => true,
  takesUsedReferences: false,
  createRequestsTogether: 0,
  makes: (view) => view,
  echoes: (pagination) => pagination,
  rates: undefined,
  carries: (_request, body) => body,
  headers: () => ({}),
  meetings: [],
});

const exchanges: readonly (readonly [Meeting['exchange'], method: string, path: RegExp])[] = [
  ['create request', 'POST', /\/transaction\/?$/],
  ['confirmation', 'PUT', /\/confirm$/],
  ['read', 'GET', /\/transaction\/[^/]+$/],
  ['list', 'GET', /\/transaction$/],
  ['rates', 'GET', /\/rate$/],
];

/**
 * Takes the next meeting of this request, if there is one.
 *
 * @param refOf the reference of the transaction that a path names
 */
export function meet(
  { meetings }: Temper,
  { method, path }: Received,
  refOf: (path: string) => unknown,
): Meeting | undefined {
  const [exchange] = exchanges.find((each) => each[1] === method && each[2].test(path)) ?? [];
  const isFor = ({ ref }: Meeting): boolean => ref === undefined || ref === refOf(path);
  const meeting = meetings.find(
    (each) => each.exchange === exchange && each.times > 0 && isFor(each),
  );
  if (meeting !== undefined) meeting.times -= 1;
  return meeting;
}

/** Holds create requests until the last of those that are awaited together is there. */
export function createGathering(temper: Temper): (request: Received) => Promise<void> {
  let waiting: (() => void)[] = [];
  return ({ method, path }) =>
    new Promise((goOn) => {
      const [, createMethod, createPath] = exchanges[0] ?? [];
      if (
        temper.createRequestsTogether === 0 ||
        method !== createMethod ||
        createPath?.test(path) !== true
      )
        return goOn();
      waiting.push(goOn);
      if (waiting.length < temper.createRequestsTogether) return;
      temper.createRequestsTogether = 0;
      for (const each of waiting) each();
      waiting = [];
    });
}
