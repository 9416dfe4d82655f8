// Lets a delivery in or not, by its size, by what is held in memory already, and by how many were wrong of late.

/** What a stranger may take of this machine. */
export interface ReceiverLimits {
  /** Bytes of one body. */
  readonly bodyBytes: number;
  /** Bytes of all bodies that are being received at one time. */
  readonly heldBytes: number;
  readonly connections: number;
  /** Time to send the headers, and to send all of a request. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** Deliveries with a wrong signature per second; beyond, only small bodies are still read. */
  readonly wrongPerSecond: number;
}

/** The status to refuse with; undefined lets it in. */
type Refusal = 413 | 429 | 503 | undefined;

/**
 * Events of the specification are some hundred bytes. While many signatures are wrong, larger bodies are refused
 * unread, and yet no stranger can lock the service itself out.
 */
const smallBytes = 16 * 1024;

/** @param elapsed milliseconds that only grow, whatever is done to the clock */
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
    /** Judges a delivery by its announced length, infinite when it announces none. */
    refusal(length: number): Refusal {
      if (length > limits.bodyBytes && length !== Infinity) return 413;
      if (length > smallBytes && isCrowded()) return 429;
      return held >= limits.heldBytes ? 503 : undefined;
    },
    /** Judges a body by what came of it so far. */
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
