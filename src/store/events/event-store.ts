// What the log of webhook events keeps and promises, and beside it the backlog: what still has to reach which consumer.

/** What came over the wire, and what its payload says (specification: Events). */
export interface ReceivedEvent {
  /** Epoch ms by this machine's clock. */
  readonly receivedAt: number;
  /** The raw body, to the byte. */
  readonly body: Uint8Array;
  /** As it stood in the header. */
  readonly signature: string;
  /** Null when the body is not the payload of the specification. */
  readonly txnId: string | null;
  readonly txnState: string | null;
  readonly updatedAt: number | null;
}

/** Where an event stands among the others of its transaction. */
export interface EventPlace {
  /** Id of the first event that said the same. */
  readonly duplicateOf: number | null;
  /** A later state had been reported before. */
  readonly outOfOrder: boolean;
  /** States that must have been passed through and of which no event came. */
  readonly missing: readonly string[];
}

export interface StoredEvent extends ReceivedEvent, EventPlace {
  /** Ascending in the order of arrival. */
  readonly id: number;
}

export interface EarlierEvent {
  readonly id: number;
  readonly txnState: string;
  readonly updatedAt: number;
}

export type Placing = (event: ReceivedEvent, earlier: readonly EarlierEvent[]) => EventPlace;

/** An event that waits for a consumer; those of one lane must arrive in this order. */
export interface WaitingEvent {
  readonly eventId: number;
  readonly lane: string;
}

export interface EventStore {
  /**
   * Writes all of them in one transaction, and into the backlog of each consumer those that say something new: kept when
   * this resolves, with them in the order given. Several may be under way; they resolve in the order of the calls.
   */
  append(events: readonly ReceivedEvent[], consumers: readonly string[], placing: Placing): Promise<StoredEvent[]>;
  read(id: number): Promise<StoredEvent | undefined>;
  ofTransaction(txnId: string): Promise<readonly StoredEvent[]>;
  /** Events received at this time (epoch ms) or later, oldest first. */
  since(receivedAt: number): AsyncIterable<StoredEvent>;
  /** Transactions whose latest event, at this time (epoch ms) or later, was none of these states; newest first. */
  unfinished(receivedAt: number, finalStates: readonly string[], limit: number): Promise<readonly EarlierTransaction[]>;
  /** How many events wait for each consumer that has a backlog. */
  backlog(): Promise<readonly Backlog[]>;
  readonly lanes: Lanes;
  /** Drops events that were received before this time and wait for nobody. */
  prune(receivedBefore: number): Promise<void>;
  close(): Promise<void>;
}

/** Shares the backlog of a consumer among workers: a lane is with one of them at a time, in the order of arrival. */
export interface Lanes {
  /** What this worker was not handed yet, of lanes that no other is at work on; they are its own for a lease. */
  take(consumer: string, worker: string, limit: number): Promise<readonly WaitingEvent[]>;
  /** Lengthens the lease of what was taken. False when it ran out and another worker has some of it. */
  renew(consumer: string, worker: string): Promise<boolean>;
  /**
   * Takes events off the backlog, and gives lanes back of which nothing is left to do; a loss of power may bring the last
   * of them back. Resolves with whether more has come for them since.
   */
  settle(consumer: string, worker: string, eventIds: readonly number[]): Promise<boolean>;
  /** Gives back all that was taken. */
  release(consumer: string, worker: string): Promise<void>;
}

/** How long a lane stays with a worker that says nothing, in ms. */
export const laneLeaseMs = 10_000;

export interface EarlierTransaction {
  readonly txnId: string;
  readonly txnState: string;
}

export interface Backlog {
  readonly consumer: string;
  readonly count: number;
}
