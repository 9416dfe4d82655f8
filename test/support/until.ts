// Polls for conditions that no event announces, and fails with a message after a timeout.
import { vi } from 'vitest';

/**
 * The longest wait for a condition, in ms: shorter than the timeout of a test, and long enough for
 * a busy machine.
 */
const deadlineMs = 40_000;

/** Polls until the condition holds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitUntil(holds, { timeout: deadlineMs, interval: 10 });
}
