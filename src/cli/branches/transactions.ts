// Looking at transactions and carrying them on.
import type { Branch } from '../branch.js';

export const transactionBranches: readonly Branch[] = [
  {
    name: 'tx',
    summary: 'look at transactions and carry them on',
    branches: [
      {
        name: 'list',
        summary: 'the history',
        load: async () => (await import('../commands/tx-list.js')).txList,
      },
      {
        name: 'get',
        summary: 'one transaction as a receipt',
        load: async () => (await import('../commands/tx-get.js')).txGet,
      },
      {
        name: 'watch',
        summary: 'follow transactions to their end',
        load: async () => (await import('../commands/tx-watch.js')).txWatch,
      },
    ],
  },
];
