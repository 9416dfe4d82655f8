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

/** An event that waits for a consumer. Those of one transaction must arrive in this order. */
export interface WaitingEvent {
  readonly eventId: number;
  /** Empty for an event that names no transaction. */
  readonly txnId: string;
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
  /** How many events wait for each consumer that has a backlog, and when the oldest was received (epoch ms). */
  backlog(): Promise<readonly Backlog[]>;
  readonly leases: Leases;
  /** Rejects when nothing can be stored now. */
  check(): Promise<void>;
  /**
   * Deletes events that were received before this time and wait for nobody, of the next few thousand after this id.
   * Resolves with the id to continue from; undefined when the rest is newer.
   */
  prune(receivedBefore: number, after: number): Promise<number | undefined>;
  close(): Promise<void>;
}

/** Shares the backlog of a consumer among workers: one worker at a time has the events of a transaction. */
export interface Leases {
  /** Leases waiting events to this worker: those that it was not given yet, of transactions that no other worker has. */
  take(consumer: string, worker: string, limit: number): Promise<readonly WaitingEvent[]>;
  /** Extends the leases. False when they are not what this worker was given, because one ran out or an answer was lost. */
  renew(consumer: string, worker: string): Promise<boolean>;
  /**
   * Removes delivered events from the backlog, and ends the leases of transactions that have no more; a loss of power may
   * bring the last of them back. Resolves with whether more has come for these transactions since.
   */
  settle(consumer: string, worker: string, eventIds: readonly number[]): Promise<boolean>;
  /** Ends all leases of this worker. */
  release(consumer: string, worker: string): Promise<void>;
}

/** How long a lease lasts unless it is renewed. */
export const eventLeaseMs = 10_000;

export interface EarlierTransaction {
  readonly txnId: string;
  readonly txnState: string;
}

export interface Backlog {
  readonly consumer: string;
  readonly count: number;
  readonly oldest: number;
}
