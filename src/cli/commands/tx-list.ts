// Lists transactions. Specification: endpoint 10.
import { transactionList } from '../../terminal/transaction-view.js';
import { defineCommand } from '../define.js';
import { whole } from '../values.js';

export const txList = defineCommand({
  arguments: {},
  options: { limit: whole(1, 1000).optional().describe('how many (default 20)') },
  examples: [['svcpay tx list --json --fields txnId,txnState', 'two fields of each, for a script']],
  async run({ limit }, { client, out }) {
    const service = await client();
    const { data } = await service.transactions({ limit });
    await out.list(data, transactionList(service.serviceNow()));
  },
});
