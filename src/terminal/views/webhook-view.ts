// Shows the webhooks of an account and their signatures, for people and for scripts.
import { webhookFields } from '../../api/reading/objects.js';
import type { Webhook } from '../../api/types.js';
import { detailLines } from '../cards/card.js';
import { fieldColumns } from '../rows/cell.js';
import type { ListView, RecordView } from '../rows/view.js';
import { sentenceView } from './object-view.js';
import { relativeTime } from '../time.js';

export function webhookRows(now: number): ListView<Webhook> {
  return {
    columns: [
      { name: 'id', title: 'ID', priority: 9, below: true },
      { name: 'callback', title: 'Callback' },
      {
        name: 'createdAt',
        title: 'Created',
        text: ({ createdAt }) => createdText(createdAt, now),
      },
    ],
    quiet: ({ id }) => id,
    empty: 'No webhook is set. Set a webhook',
    next: { command: 'webhook set https://…' },
  };
}

const createdText = (at: Webhook['createdAt'], now: number): string =>
  at == null ? '–' : relativeTime(at, now);

export interface WebhookChange extends Webhook {
  /** A new secret, which svcpay shows only once. */
  readonly secret?: string;
  /** Where the new secret is stored, in words, or undefined if the webhook keeps its old secret. */
  readonly secretIn?: string;
}

export const webhookCard: RecordView<WebhookChange> = {
  columns: fieldColumns(['id', 'callback', 'createdAt', 'secret']),
  fields: [...Object.keys(webhookFields), 'secretIn'],
  quiet: ({ id, secret }) => secret ?? id,
  screen: (canvas, change) =>
    detailLines(
      [
        { label: 'Callback', value: change.callback, whole: true },
        { label: 'ID', value: change.id, whole: true },
        ...(change.secret === undefined
          ? []
          : [{ label: 'Secret', value: change.secret, whole: true, note: 'shown only once' }]),
        ...(change.secretIn === undefined
          ? []
          : [{ label: 'Kept', value: `in ${change.secretIn}` }]),
      ],
      canvas,
    ),
};

export const removedView: RecordView<{ readonly id: string }> = {
  ...sentenceView(
    ['id'],
    ({ id }) => `Removed the webhook ${id}. Events already on their way may still arrive.`,
    ({ id }) => id,
  ),
  fields: ['removed'],
};

export interface Signature {
  readonly signature: string;
  /** The name of the signature header. */
  readonly header: string;
}

export const signatureView: RecordView<Signature> = {
  screen: (_canvas, { signature }) => [signature],
  columns: fieldColumns(['signature']),
  fields: ['header'],
  quiet: ({ signature }) => signature,
};

export interface Verified {
  readonly valid: true;
  readonly bytes: number;
}

export const verifiedView: RecordView<Verified> = {
  ...sentenceView(
    ['valid'],
    ({ bytes }) => `The signature matches these ${bytes} bytes.`,
    () => 'valid',
  ),
  fields: ['bytes'],
};
