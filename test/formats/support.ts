// What the tests of the formats share.
import { Failure } from '../../src/formats/failure.js';

/** The message of the usage failure that the call ends in; any other end of it fails the test. */
export function refusal(call: () => unknown): string {
  try {
    const result = call();
    throw new Error(`Accepted: ${String(result)}`);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'usage') return error.message;
    throw error;
  }
}
