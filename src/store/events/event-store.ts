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
  /** The transaction id in the payload, or null if the body does not match the specification. */
  readonly txnId: string | null;
  readonly txnState: string | null;
  readonly updatedAt: number | null;
}

/** The relation of an event to the other events of its transaction. */
export interface EventPlace {
  /** The id of the first event of the transaction with the same state and time, or null. */
  readonly duplicateOf: number | null;
  /** Whether an earlier event of the transaction reported a later state. */
  readonly outOfOrder: boolean;
  /** States that the transaction must have passed although no event reported them. */
  readonly missing: readonly string[];
}

export interface StoredEvent extends ReceivedEvent, EventPlace {
  /** The id of a stored event, which is higher for later events. */
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
   * Resolves once the events are on disk in the given order. Concurrent calls of `append` resolve
   * in the order of the calls.
   */
  append(
    events: readonly ReceivedEvent[],
    consumers: readonly string[],
    placing: PlaceEvent,
  ): Promise<StoredEvent[]>;
  read(id: number): Promise<StoredEvent | undefined>;
  ofTransaction(txnId: string): Promise<readonly StoredEvent[]>;
  /** Yields the events received at or after `receivedAt` (epoch ms), oldest first. */
  since(receivedAt: number): AsyncIterable<StoredEvent>;
  /**
   * Finds transactions whose latest event reports a state other than `finalStates`, newest first.
   * Ignores events received before `receivedAt` (epoch ms), and all but the last 50,000 events.
   */
  unfinished(
    receivedAt: number,
    finalStates: readonly string[],
    limit: number,
  ): Promise<readonly EarlierTransaction[]>;
  /** The consumers that have a backlog. */
  backlog(): Promise<readonly Backlog[]>;
  readonly consumers: Consumers;
  /**
   * Returns the lease of a worker on the backlog of a consumer. The worker's name is unique among
   * all workers on the backlog, including workers on other machines.
   */
  lease(consumer: string, worker: string): Lease;
  /**
   * Writes an event with a body of the given size, and deletes it in the same transaction. Rejects
   * if the inbox cannot store such an event now.
   */
  check(bytes?: number): Promise<void>;
  /**
   * Deletes events that were received before `receivedBefore`, except undelivered events. Each call
   * examines only the next few thousand events after the id `after`. Resolves with the id after
   * which the next call continues, or with undefined if the remaining events are newer than
   * `receivedBefore`.
   */
  prune(receivedBefore: number, after: number): Promise<number | undefined>;
  close(): Promise<void>;
}

/**
 * The share of a worker in a consumer's backlog. Only one worker at a time gets the events of a
 * transaction.
 */
export interface Lease {
  /**
   * Leases more waiting events to a worker. Until the lease ends, no other worker gets events of
   * the leased transactions.
   */
  take(limit: number): Promise<readonly WaitingEvent[]>;
  /**
   * Extends the leases of a worker. Resolves with false if the worker no longer has all its leases,
   * because a lease expired or a response of the database was lost.
   */
  extend(): Promise<boolean>;
  /**
   * Removes delivered events from the backlog, and ends the lease of each transaction whose leased
   * events are all delivered. After a power loss, the backlog may contain the last removed events
   * again. Resolves with true if more events have arrived for the transactions of the delivered
   * events.
   */
  settle(eventIds: readonly number[]): Promise<boolean>;
  /** Ends all leases that the worker has for the consumer. */
  release(): Promise<void>;
}

/** The duration of a lease in ms, unless the worker extends the lease. */
export const eventLeaseMs = 10_000;

export interface EarlierTransaction {
  readonly txnId: string;
  readonly txnState: string;
}

/** The consumers of the inbox. svcpay measures all times of consumers with the inbox's clock. */
export interface Consumers {
  /**
   * Records the current time as the latest time at which a receiver served the named consumers. If
   * no time is recorded yet for another consumer that has a backlog, `serve` records the current
   * time for that consumer too.
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
   * delivers to the consumer, and with `usage` if a consumer with the new name exists.
   */
  rename(name: string, to: string): Promise<void>;
}

export interface Consumer {
  readonly consumer: string;
  /** The number of waiting events. */
  readonly count: number;
  /**
   * The time at which the oldest waiting event began to wait, in epoch ms, or null if no event
   * waits. `oldestSeconds` is the age of the oldest waiting event.
   */
  readonly oldest: number | null;
  readonly oldestSeconds: number | null;
  /**
   * The time since a receiver last served the consumer, or null if no receiver has ever served the
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
