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
        load: async () => (await import('../sandbox/sandbox-start.js')).sandboxStart,
      },
      {
        name: 'run',
        summary: 'run a command with a sandbox of its own',
        load: async () => (await import('../sandbox/sandbox-run.js')).sandboxRun,
      },
      {
        name: 'status',
        summary: 'show what it holds',
        load: async () => (await import('../sandbox/sandbox-status.js')).sandboxStatus,
      },
      {
        name: 'fund',
        summary: 'add money to a wallet',
        load: async () => (await import('../sandbox/sandbox-fund.js')).sandboxFund,
      },
      {
        name: 'pay',
        summary: 'pay a request, as somebody outside would',
        load: async () => (await import('../sandbox/sandbox-pay.js')).sandboxPay,
      },
      {
        name: 'invoice',
        summary: 'make an invoice of somebody outside, to pay',
        load: async () => (await import('../sandbox/sandbox-invoice.js')).sandboxInvoice,
      },
      {
        name: 'mine',
        summary: 'find blocks, so that on-chain payments are confirmed',
        load: async () => (await import('../sandbox/sandbox-mine.js')).sandboxMine,
      },
      {
        name: 'clock',
        summary: 'look at its clock and move it',
        branches: [
          {
            name: 'show',
            summary: 'what time it has',
            load: async () => (await import('../sandbox/sandbox-clock.js')).sandboxClockShow,
          },
          {
            name: 'advance',
            summary: 'move it forward, and do all that becomes due',
            load: async () => (await import('../sandbox/sandbox-clock.js')).sandboxClockAdvance,
          },
          {
            name: 'freeze',
            summary: 'let it stand still',
            load: async () => (await import('../sandbox/sandbox-clock.js')).sandboxClockFreeze,
          },
          {
            name: 'thaw',
            summary: 'let it run on',
            load: async () => (await import('../sandbox/sandbox-clock.js')).sandboxClockThaw,
          },
        ],
      },
      {
        name: 'fault',
        summary: 'let things go wrong on demand',
        branches: [
          {
            name: 'add',
            summary: 'let something go wrong',
            load: async () => (await import('../sandbox/sandbox-fault.js')).sandboxFaultAdd,
          },
          {
            name: 'list',
            summary: 'what is set to go wrong',
            load: async () => (await import('../sandbox/sandbox-fault.js')).sandboxFaultList,
          },
          {
            name: 'clear',
            summary: 'let everything go well again',
            load: async () => (await import('../sandbox/sandbox-fault.js')).sandboxFaultClear,
          },
        ],
      },
      {
        name: 'log',
        summary: 'the requests that it has answered',
        load: async () => (await import('../sandbox/sandbox-log.js')).sandboxLog,
      },
      {
        name: 'deliveries',
        summary: 'what went to webhooks, or will',
        load: async () => (await import('../sandbox/sandbox-deliveries.js')).sandboxDeliveries,
      },
      {
        name: 'snapshot',
        summary: 'keep whole states and come back to them',
        branches: [
          {
            name: 'save',
            summary: 'keep the present state under a name',
            load: async () => (await import('../sandbox/sandbox-snapshot.js')).sandboxSnapshotSave,
          },
          {
            name: 'load',
            summary: 'go back to a kept state',
            load: async () => (await import('../sandbox/sandbox-snapshot.js')).sandboxSnapshotLoad,
          },
          {
            name: 'list',
            summary: 'the kept states',
            load: async () => (await import('../sandbox/sandbox-snapshot.js')).sandboxSnapshotList,
          },
          {
            name: 'remove',
            summary: 'forget a kept state',
            load: async () => (await import('../sandbox/sandbox-snapshot.js')).sandboxSnapshotRemove,
          },
        ],
      },
      {
        name: 'reset',
        summary: 'back to a fresh sandbox',
        load: async () => (await import('../sandbox/sandbox-reset.js')).sandboxReset,
      },
    ],
  },
];
