// Decides whether the receiver accepts a delivery, by the delivery's size, the bytes in memory, and
// the number of recent wrong signatures.

/** The resources that unauthenticated senders may use. */
export interface ReceiverLimits {
  /** The largest number of bytes in one body. */
  readonly bodyBytes: number;
  /** The largest number of bytes in all bodies that the receiver is reading. */
  readonly heldBytes: number;
  readonly connections: number;
  /**
   * The time limit for the headers of a request, in ms. The time limit for the whole request is
   * `requestMs`.
   */
  readonly headersMs: number;
  readonly requestMs: number;
  /**
   * If the wrong signatures within a second reach this number, the receiver reads only small
   * bodies.
   */
  readonly wrongPerSecond: number;
}

/** The HTTP status of a refusal, or undefined if the receiver accepts the delivery. */
type Refusal = 413 | 429 | 503 | undefined;

/**
 * The largest size of a small body, in bytes. An event from the specification has a few hundred
 * bytes. While many deliveries have wrong signatures, the receiver refuses bodies above
 * `smallBytes` without reading them, so that unknown senders cannot lock out the service.
 */
const smallBytes = 16 * 1024;

/** @param elapsed returns monotonic milliseconds */
export function createIntake(limits: ReceiverLimits, elapsed: () => number) {
  let held = 0;
  let windowStart = 0;
  let wrong = 0;

  const isCrowded = (): boolean => {
    if (elapsed() - windowStart >= 1000) {
      windowStart = elapsed();
      wrong = 0;
    }
    return wrong >= limits.wrongPerSecond;
  };

  return {
    /**
     * Decides whether to accept a delivery, by the body length in its headers. The body length is
     * infinite if the headers contain no length.
     */
    refusal(length: number): Refusal {
      if (length > limits.bodyBytes && length !== Infinity) return 413;
      if (length > smallBytes && isCrowded()) return 429;
      return held >= limits.heldBytes ? 503 : undefined;
    },
    /** Decides whether to continue to read a body, by the number of bytes received so far. */
    overflow(length: number): Refusal {
      if (length > limits.bodyBytes) return 413;
      return held > limits.heldBytes ? 503 : undefined;
    },
    hold: (bytes: number): void => void (held += bytes),
    release: (bytes: number): void => void (held -= bytes),
    noteWrong(): void {
      isCrowded();
      wrong += 1;
    },
  };
}
