// The whole service, locally.
import type { Branch } from '../branch.js';

export const sandboxBranches: readonly Branch[] = [
  {
    name: 'sandbox',
    summary: 'the whole service, locally',
    branches: [
      {
        name: 'start',
        summary: 'run the sandbox as a server',
        load: async () => (await import('../commands/sandbox-start.js')).sandboxStart,
      },
      {
        name: 'fund',
        summary: 'add money to a wallet',
        load: async () => (await import('../commands/sandbox-fund.js')).sandboxFund,
      },
      {
        name: 'pay',
        summary: 'pay a request, as somebody outside would',
        load: async () => (await import('../commands/sandbox-pay.js')).sandboxPay,
      },
      {
        name: 'invoice',
        summary: 'make an invoice of somebody outside, to pay',
        load: async () => (await import('../commands/sandbox-invoice.js')).sandboxInvoice,
      },
      {
        name: 'reset',
        summary: 'back to a fresh sandbox',
        load: async () => (await import('../commands/sandbox-reset.js')).sandboxReset,
      },
    ],
  },
];
