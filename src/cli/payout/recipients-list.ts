// Lists the address book for payouts.
import { recipientList } from '../../terminal/views/payout-lists.js';
import { defineCommand } from '../define.js';

export const recipientsList = defineCommand({
  arguments: {},
  options: {},
  examples: [['svcpay recipients list -q', 'the names alone']],
  async run(_values, { config, out }) {
    const { recipients } = config.read();
    const rows = Object.entries(recipients).map(([name, kept]) => ({ name, ...kept }));
    await out.list(rows.toSorted((a, b) => a.name.localeCompare(b.name)), recipientList);
  },
});
