// Accepts or refuses a delivery by its size, by the bytes in memory, and by the number of recent
// wrong signatures.

/** Resources that unauthenticated senders may use. */
export interface ReceiverLimits {
  /** Bytes of one body. */
  readonly bodyBytes: number;
  /** Bytes of all bodies being received at one time. */
  readonly heldBytes: number;
  readonly connections: number;
  /** Time to send the headers, and to send the whole request. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** Wrong signatures in a second after which only small bodies are read. */
  readonly wrongPerSecond: number;
}

/** The status to refuse with; undefined to accept. */
type Refusal = 413 | 429 | 503 | undefined;

/**
 * Specified events have a few hundred bytes. While many signatures are wrong, larger bodies are
 * refused unread, so that strangers cannot lock out the service.
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
    /** Judges a delivery by its announced length; infinite if it announces none. */
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
