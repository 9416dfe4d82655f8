// The interface of the inbox: the log of webhook events, and each consumer's backlog of undelivered
// events.

/** A delivery as received, with the fields of its payload (see "Events" in the specification). */
export interface ReceivedEvent {
  /** The time of receipt in epoch ms, by this machine's clock. */
  readonly receivedAt: number;
  /** The raw body. */
  readonly body: Uint8Array;
  /** The signature from the header, unchanged. */
  readonly signature: string;
  /** The payload, or null if the body does not match the specification. */
  readonly txnId: string | null;
  readonly txnState: string | null;
  readonly updatedAt: number | null;
}

/** The relation of an event to the other events of its transaction. */
export interface EventPlace {
  /** The id of the first event with the same state and time. */
  readonly duplicateOf: number | null;
  /** Whether an earlier event reported a later state. */
  readonly outOfOrder: boolean;
  /** States that the transaction must have passed although no event reported them. */
  readonly missing: readonly string[];
}

export interface StoredEvent extends ReceivedEvent, EventPlace {
  /** A stored event. A later event has a higher id. */
  readonly id: number;
}

export interface EarlierEvent {
  readonly id: number;
  readonly txnState: string;
  readonly updatedAt: number;
}

export type PlaceEvent = (event: ReceivedEvent, earlier: readonly EarlierEvent[]) => EventPlace;

/**
 * An undelivered event of a consumer. svcpay delivers the events of one transaction in the order of
 * their ids.
 */
export interface WaitingEvent {
  readonly eventId: number;
  /** The transaction id, or empty if the event names no transaction. */
  readonly txnId: string;
}

export interface EventStore {
  /**
   * Stores events in one transaction, and adds all except duplicates to each consumer's backlog.
   * Resolves once the events are on disk in the given order. Concurrent calls resolve in the order
   * of the calls.
   */
  append(
    events: readonly ReceivedEvent[],
    consumers: readonly string[],
    placing: PlaceEvent,
  ): Promise<StoredEvent[]>;
  read(id: number): Promise<StoredEvent | undefined>;
  ofTransaction(txnId: string): Promise<readonly StoredEvent[]>;
  /** Yields the events received at this time (epoch ms) or later, oldest first. */
  since(receivedAt: number): AsyncIterable<StoredEvent>;
  /**
   * Finds transactions whose latest event has a state that is not among the given states, newest
   * first. Ignores events received before this time (epoch ms). Searches the last 50,000 events.
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
  /** Rejects if the inbox cannot store events now. */
  check(): Promise<void>;
  /**
   * Deletes events that were received before this time, except undelivered events. Examines only
   * the next few thousand events after this id. Resolves with the id to continue from, or with
   * undefined if the remaining events are newer.
   */
  prune(receivedBefore: number, after: number): Promise<number | undefined>;
  close(): Promise<void>;
}

/**
 * Shares a consumer's backlog among workers. Only one worker at a time gets the events of a
 * transaction.
 */
export interface Leases {
  /**
   * Leases more waiting events to this worker. Until the lease ends, no other worker gets events of
   * the same transactions.
   */
  take(consumer: string, worker: string, limit: number): Promise<readonly WaitingEvent[]>;
  /**
   * Extends the leases. Resolves with false if this worker no longer has its leases, because a
   * lease expired or a response was lost.
   */
  extend(consumer: string, worker: string): Promise<boolean>;
  /**
   * Removes delivered events from the backlog, and ends the leases of finished transactions. After
   * a power loss, the backlog may contain the last removed events again. Resolves with true if new
   * events of these transactions have arrived.
   */
  settle(consumer: string, worker: string, eventIds: readonly number[]): Promise<boolean>;
  /** Ends all leases that this worker has for the consumer. */
  release(consumer: string, worker: string): Promise<void>;
}

/** The duration of a lease in ms, unless the worker extends the lease. */
export const eventLeaseMs = 10_000;

export interface EarlierTransaction {
  readonly txnId: string;
  readonly txnState: string;
}

/** The consumers of the inbox. All times are by the clock of the inbox. */
export interface Consumers {
  /**
   * Records that a receiver serves these consumers now. Also records the current time for each
   * consumer that has a backlog but no record.
   */
  serve(names: readonly string[]): Promise<void>;
  /** All consumers by name, including those whose backlog is empty. */
  list(): Promise<readonly Consumer[]>;
  /**
   * Drops the backlog of a consumer, and resolves with the number of dropped events. Rejects with
   * Failure `temporary` while a worker delivers to the consumer.
   */
  remove(name: string): Promise<number>;
  /**
   * Moves the backlog of a consumer to a new name. Rejects with Failure `temporary` while a worker
   * delivers to the consumer, and with `usage` if the new name exists.
   */
  rename(name: string, to: string): Promise<void>;
}

export interface Consumer {
  readonly consumer: string;
  /** The number of waiting events. */
  readonly count: number;
  /**
   * When the oldest event began to wait, in epoch ms. `oldestSeconds` is the age of this event.
   * Null if no event waits.
   */
  readonly oldest: number | null;
  readonly oldestSeconds: number | null;
  /**
   * The time since a receiver last served the consumer. Null if no receiver has ever served the
   * consumer.
   */
  readonly servedSeconds: number | null;
}

export type Backlog = Consumer & { readonly oldest: number; readonly oldestSeconds: number };

/**
 * Whether a receiver last served the consumer more than a day ago, for example because the consumer
 * was renamed.
 */
export const isFormer = ({ servedSeconds }: Pick<Consumer, 'servedSeconds'>): boolean =>
  servedSeconds !== null && servedSeconds > 86_400;
