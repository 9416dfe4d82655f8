// Accepts or refuses a delivery by its size, the number of bytes in memory, and the number of
// recent wrong signatures.

/** The resources that unauthenticated senders may use. */
export interface ReceiverLimits {
  /** The largest number of bytes in one body. */
  readonly bodyBytes: number;
  /** The largest number of bytes in all bodies that the receiver is reading. */
  readonly heldBytes: number;
  readonly connections: number;
  /**
   * The time in which a sender must send the headers. `requestMs` is the time for the whole
   * request.
   */
  readonly headersMs: number;
  readonly requestMs: number;
  /**
   * The number of wrong signatures in a second after which the receiver reads only small bodies.
   */
  readonly wrongPerSecond: number;
}

/** The HTTP status of a refusal. Undefined if the receiver accepts the delivery. */
type Refusal = 413 | 429 | 503 | undefined;

/**
 * The largest size of a small body, in bytes. Events from the specification have a few hundred
 * bytes. While many signatures are wrong, the receiver refuses larger bodies unread, so that
 * unknown senders cannot lock out the service.
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
     * Decides on a delivery by its announced length. The length is infinite if the sender announces
     * no length.
     */
    refusal(length: number): Refusal {
      if (length > limits.bodyBytes && length !== Infinity) return 413;
      if (length > smallBytes && isCrowded()) return 429;
      return held >= limits.heldBytes ? 503 : undefined;
    },
    /** Decides on a body by the number of bytes received so far. */
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
