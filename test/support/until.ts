// Polls for a condition without an event, and fails with a message after a timeout.
import { vi } from 'vitest';

/** Before a test runs out of time, and long enough for a busy machine. */
const deadlineMs = 40_000;

/** Looks again until it holds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitUntil(holds, { timeout: deadlineMs, interval: 10 });
}
