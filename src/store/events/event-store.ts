// The interface of the inbox: the log of webhook events, and each consumer's backlog of undelivered
// events.

/** A delivery as received, and the fields of its payload (specification: Events). */
export interface ReceivedEvent {
  /** Epoch ms by this machine's clock. */
  readonly receivedAt: number;
  /** The raw body. */
  readonly body: Uint8Array;
  /** As sent in the header. */
  readonly signature: string;
  /** Null if the body is not a payload of the specification. */
  readonly txnId: string | null;
  readonly txnState: string | null;
  readonly updatedAt: number | null;
}

/** How an event relates to the others of its transaction. */
export interface EventPlace {
  /** Id of the first event with the same state and time. */
  readonly duplicateOf: number | null;
  /** A later state had been reported before. */
  readonly outOfOrder: boolean;
  /** States that the transaction must have passed and that no event reported. */
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

/** An event that waits for a consumer. Events of one transaction are delivered in this order. */
export interface WaitingEvent {
  readonly eventId: number;
  /** Empty for an event that names no transaction. */
  readonly txnId: string;
}

export interface EventStore {
  /**
   * Stores events in one transaction, and adds those that are not duplicates to each consumer's
   * backlog. They are durable when it resolves, in the order given. Several calls may run at once;
   * they resolve in the order of the calls.
   */
  append(
    events: readonly ReceivedEvent[],
    consumers: readonly string[],
    placing: Placing,
  ): Promise<StoredEvent[]>;
  read(id: number): Promise<StoredEvent | undefined>;
  ofTransaction(txnId: string): Promise<readonly StoredEvent[]>;
  /** Events received at this time (epoch ms) or later, oldest first. */
  since(receivedAt: number): AsyncIterable<StoredEvent>;
  /**
   * Transactions whose latest event, received at this time (epoch ms) or later, has another state
   * than these; newest first. Searches the last 50,000 events.
   */
  unfinished(
    receivedAt: number,
    finalStates: readonly string[],
    limit: number,
  ): Promise<readonly EarlierTransaction[]>;
  /** The consumers that have a backlog. */
  backlog(): Promise<readonly Backlog[]>;
  readonly consumers: Consumers;
  readonly leases: Leases;
  /** Rejects if nothing can be stored now. */
  check(): Promise<void>;
  /**
   * Deletes events received before this time without a waiting consumer, among the next few
   * thousand after this id. Resolves with the id to continue from; undefined if the rest is newer.
   */
  prune(receivedBefore: number, after: number): Promise<number | undefined>;
  close(): Promise<void>;
}

/**
 * Shares a consumer's backlog among workers: one worker at a time gets the events of a transaction.
 */
export interface Leases {
  /** Leases further waiting events to this worker, of transactions that no other worker holds. */
  take(consumer: string, worker: string, limit: number): Promise<readonly WaitingEvent[]>;
  /**
   * Extends the leases. False if they differ from what this worker got, because one expired or a
   * response was lost.
   */
  renew(consumer: string, worker: string): Promise<boolean>;
  /**
   * Removes delivered events from the backlog, and ends the leases of finished transactions; a
   * power loss may restore the last events. Resolves with whether new events of these transactions
   * have arrived.
   */
  settle(consumer: string, worker: string, eventIds: readonly number[]): Promise<boolean>;
  /** Ends all leases of this worker. */
  release(consumer: string, worker: string): Promise<void>;
}

/** Duration of a lease unless renewed. */
export const eventLeaseMs = 10_000;

export interface EarlierTransaction {
  readonly txnId: string;
  readonly txnState: string;
}

/** The names under which events wait. All times are by the clock of the inbox. */
export interface Consumers {
  /** A receiver serves these now. A consumer that was never served counts as served now, too. */
  serve(names: readonly string[]): Promise<void>;
  /** By name, also those without a backlog. */
  list(): Promise<readonly Consumer[]>;
  /**
   * Drops its backlog, and resolves with the number of events that waited. Rejects with Failure
   * `temporary` while a worker delivers to it.
   */
  remove(name: string): Promise<number>;
  /**
   * Its backlog waits under the new name. Rejects with Failure `temporary` while a worker delivers
   * to it, `usage` if the new name is taken.
   */
  rename(name: string, to: string): Promise<void>;
}

export interface Consumer {
  readonly consumer: string;
  /** Events that wait. */
  readonly count: number;
  /** When the oldest of them began to wait: epoch ms, and ago; null if none waits. */
  readonly oldest: number | null;
  readonly oldestSeconds: number | null;
  /** How long ago a receiver last served it; null for one that no receiver was seen to serve. */
  readonly servedSeconds: number | null;
}

export type Backlog = Consumer & { readonly oldest: number; readonly oldestSeconds: number };

/** No receiver has served it for a day: it was renamed or is no longer forwarded to. */
export const isFormer = ({ servedSeconds }: Pick<Consumer, 'servedSeconds'>): boolean =>
  servedSeconds !== null && servedSeconds > 86_400;
