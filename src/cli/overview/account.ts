// Shows the account record. Specification: endpoint 3.
import { accountFields } from '../../api/reading/objects.js';
import { objectView } from '../../terminal/views/object-view.js';
import { defineCommand } from '../define.js';
import { text } from '../values.js';

export const account = defineCommand({
  prints: Object.keys(accountFields),
  arguments: {
    id: text('ID').optional().describe('account or subaccount id (default: the current one)'),
  },
  examples: [
    ['svcpay account', 'shows your own account'],
    ['svcpay account ne01-7f3a --json', 'prints a subaccount, for a script'],
  ],
  async run({ id }, context) {
    const client = await context.client();
    const accountId = id ?? (await client.accountId());
    const record = await client.account(accountId);
    await context.out.record(record, objectView(record, accountId));
  },
});
