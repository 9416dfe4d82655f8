// Accepts or refuses a delivery, by its size, the bytes in memory, and the number of recent wrong
// signatures.

/** Resources that unauthenticated senders may use. */
export interface ReceiverLimits {
  /** Bytes of one body. */
  readonly bodyBytes: number;
  /** The bytes of all bodies that are being received. */
  readonly heldBytes: number;
  readonly connections: number;
  /** The time to send the headers, and the time to send the whole request. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** After this many wrong signatures in a second, only small bodies are read. */
  readonly wrongPerSecond: number;
}

/** The status of a refusal, or undefined to accept. */
type Refusal = 413 | 429 | 503 | undefined;

/**
 * The size of a small body. Specified events have a few hundred bytes. While many signatures are
 * wrong, larger bodies are refused unread, so that unknown senders cannot lock out the service.
 */
const smallBytes = 16 * 1024;

/** @param elapsed monotonic milliseconds */
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
     * Judges a delivery by its announced length. Without an announced length, the length is
     * infinite.
     */
    refusal(length: number): Refusal {
      if (length > limits.bodyBytes && length !== Infinity) return 413;
      if (length > smallBytes && isCrowded()) return 429;
      return held >= limits.heldBytes ? 503 : undefined;
    },
    /** Judges a body by the bytes received so far. */
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
