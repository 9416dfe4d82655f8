// What the tests of the formats share.
import { Failure } from '../../src/formats/failure.js';

/** The message of the usage failure of a call; any other end of the call fails the test. */
export function refusal(call: () => unknown): string {
  try {
    const result = call();
    throw new Error(`Accepted: ${String(result)}`);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'usage') return error.message;
    throw error;
  }
}
