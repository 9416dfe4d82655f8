// Shared code of the webhook commands: defaults, and stored events as rows.
import type { Settings } from '../../store/profile/settings.js';
import { signatureHeader } from '../../webhooks/sign.js';
import type { Transaction } from '../../api/types.js';
import type { StoredEvent } from '../../store/events/event-store.js';
import type { EventRow } from '../../terminal/views/webhook-view.js';
import { readPayload, type WebhookEvent } from '../../webhooks/events.js';

export const defaultListenPort = 4712;
export const defaultListenUrl = `http://127.0.0.1:${defaultListenPort}`;

/**
 * Returns the name of the signature header: the configured name, or a name that contains the
 * service name.
 */
export const headerOf = (settings: Pick<Settings, 'signatureHeader' | 'maker'>): string =>
  settings.signatureHeader ?? signatureHeader(settings.maker);

export function eventRow(
  event: StoredEvent,
  payload: WebhookEvent | undefined = readPayload(event.body),
): EventRow {
  const received = {
    eventId: event.id,
    receivedAt: event.receivedAt,
    duplicateOf: event.duplicateOf,
    outOfOrder: event.outOfOrder,
    missing: event.missing,
  };
  // Uses Object.assign, because spreading is much slower and svcpay may receive thousands of events
  // per second.
  return Object.assign({}, payload ?? { body: Buffer.from(event.body).toString('utf8') }, received);
}

export const withTransaction = (row: EventRow, transaction: Transaction | undefined): EventRow =>
  transaction === undefined ? row : { ...row, transaction };
