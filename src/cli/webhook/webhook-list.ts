// Lists the webhook of the account: none or one. Specification: endpoint 12.
import { webhookList } from '../../terminal/views/webhook-view.js';
import { defineCommand } from '../define.js';

export const listWebhooks = defineCommand({
  examples: [['svcpay webhook list --json', 'id, callback and time of creation; the secret is never shown']],
  async run(_values, { client, out, now }) {
    await out.list(await (await client()).webhooks(), webhookList(now()));
  },
});
