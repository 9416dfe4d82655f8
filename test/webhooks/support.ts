// Creates events with signatures like the service's, and a store in a temporary folder.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base } from 'vitest';
import type { EventStore, ReceivedEvent } from '../../src/store/events/event-store.js';
import { openEventStore } from '../../src/store/events/sqlite-events.js';
import { signBody } from '../../src/webhooks/events.js';

export const secret = 'whsec_test';

export interface Payload {
  readonly txnId: string;
  readonly txnState: string;
  readonly updatedAt: number;
}

export const payload = (txnId: string, txnState = 'completed', updatedAt = 1_000): Payload => ({
  txnId,
  txnState,
  updatedAt,
});

export function received(event: Payload, receivedAt = 0): ReceivedEvent {
  const body = Buffer.from(JSON.stringify(event));
  return { receivedAt, body, signature: signBody(body, secret), ...event };
}

export const nowhere = { duplicateOf: null, outOfOrder: false, missing: [] };

export const test = base.extend<{ readonly file: string; readonly store: EventStore }>({
  file: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'svcpay-events-'));
    await use(join(folder, 'events.db'));
    rmSync(folder, { recursive: true, force: true });
  },
  store: async ({ file }, use) => {
    const store = openEventStore(file, Date.now);
    await use(store);
    await store.close();
  },
});
