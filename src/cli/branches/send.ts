// Paying out of a wallet.
import type { Branch } from '../branch.js';

export const sendBranches: readonly Branch[] = [
  {
    name: 'send',
    summary: 'pay',
    money: true,
    branches: [
      {
        name: 'lightning',
        summary: 'pay a BOLT11 invoice',
        money: true,
        load: async () => (await import('../commands/send-lightning.js')).sendLightning,
      },
    ],
  },
  {
    name: 'swap',
    summary: 'exchange between two of your own wallets',
    money: true,
    load: async () => (await import('../commands/swap.js')).swap,
  },
];
