// Faults of the strict service that the specification does not forbid: stale or wrong answers, and
// failures of a gateway in front of the service.
import type { Json, Received } from './strict-judge.js';
import type { Txn } from './strict-transactions.js';

/** A fault that replaces the service's answer to the next requests of one kind. */
export interface Meeting {
  readonly exchange: 'create request' | 'confirmation' | 'read' | 'list' | 'rates';
  /** Limits the fault to requests about the transaction with this reference. */
  readonly ref?: string;
  /** `broken off` closes the connection without an answer. */
  readonly status: number | 'broken off';
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** When the service executes the request: never, at once, or after this many ms. */
  readonly effect: 'none' | 'at once' | number;
  times: number;
}

/** The settings of the strict service that a test can change at any time. */
export interface Temper {
  /** The state that a read returns; undefined for a 404 answer. */
  reads: (txn: Txn) => string | undefined;
  lists: (txn: Txn) => boolean;
  takesUsedReferences: boolean;
  /**
   * The number of create requests that the service collects before it answers them; 0 collects
   * none.
   */
  createRequestsTogether: number;
  /** Changes each transaction that an answer contains in full. */
  makes: (view: Json) => Json;
  /** Changes the pagination that a list returns. */
  echoes: (pagination: Json) => Json;
  rates: Json | undefined;
  /** Changes the body of an answer before the service sends it. */
  carries: (request: Received, body: string) => string;
  /** Headers of every answer, unless a fault has its own headers. */
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
 * Returns the fault that applies to this request, or undefined, and counts the use of the fault.
 *
 * @param refOf returns the reference of the transaction that a path names
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

/** Holds create requests until `createRequestsTogether` requests have arrived. */
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
