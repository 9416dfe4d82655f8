// Exports the verification of webhook deliveries for programs without the client, such as functions
// at the edge. Needs no network, no database and no module of Node.
export { exitCodes, Failure } from './formats/failure.js';
export type { FailureDetails, FailureKind, NextStep } from './formats/failure.js';
export {
  parseWebhookEvent,
  readWebhook,
  readWebhookRequest,
  signWebhook,
  verifyWebhook,
  webhookSignatureHeader,
} from './library/webhook.js';
export type { RawBody, WebhookRequest } from './library/webhook.js';
export type { WebhookEvent } from './webhooks/events.js';
