// Shows the account record. Specification: endpoint 3.
import { accountFields, namesWithin } from '../../api/reading.js';
import type { Account } from '../../api/types.js';
import { objectView } from '../../terminal/cards/card.js';
import { defineCommand, type Deps, record } from '../define.js';
import { text } from '../values.js';

export const account = defineCommand({
  arguments: {
    id: text('ID').optional().describe('account or subaccount id (default: the current one)'),
  },
  examples: [
    ['svcpay account', 'shows your own account'],
    ['svcpay account ne01-7f3a --json', 'prints a subaccount, for a script'],
  ],
  async run({ id }, { client }: Deps<'client'>) {
    const service = await client();
    return service.account({ accountId: id });
  },
  view: record({
    ...objectView<Account>(Object.keys(accountFields)),
    fields: namesWithin(accountFields),
  }),
  adapt: async (account, { id }, { client }) =>
    objectView(Object.keys(account), id ?? (await (await client()).accountId())),
});
