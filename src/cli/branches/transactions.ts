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
        load: async () => (await import('../history/tx-list.js')).txList,
      },
      {
        name: 'get',
        summary: 'one transaction as a receipt',
        load: async () => (await import('../history/tx-get.js')).txGet,
      },
      {
        name: 'watch',
        summary: 'follow transactions to their end',
        load: async () => (await import('../history/tx-watch.js')).txWatch,
      },
      {
        name: 'confirm',
        summary: 'let a quote become a payment',
        money: true,
        load: async () => (await import('../payment/tx-confirm.js')).txConfirm,
      },
      {
        name: 'cancel',
        summary: 'take a quote back before it is confirmed',
        load: async () => (await import('../history/tx-cancel.js')).txCancel,
      },
      {
        name: 'pending',
        summary: 'payments that were begun here and are not over',
        load: async () => (await import('../history/tx-pending.js')).txPending,
      },
      {
        name: 'resume',
        summary: 'finish or report what is pending',
        money: true,
        load: async () => (await import('../history/tx-resume.js')).txResume,
      },
      {
        name: 'export',
        summary: 'write the history for a spreadsheet or for book-keeping',
        load: async () => (await import('../history/tx-export.js')).txExport,
      },
    ],
  },
];
