// Helpers for the tests of the formats.
import { Failure } from '../../src/formats/failure.js';

/**
 * Returns the message of the usage failure that `call` throws. The test fails if `call` returns, or
 * if it throws an error other than a usage failure.
 */
export function refusal(call: () => unknown): string {
  try {
    const result = call();
    throw new Error(`Accepted: ${String(result)}`);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'usage') return error.message;
    throw error;
  }
}
