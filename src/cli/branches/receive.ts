// Asking for money.
import type { Branch } from '../branch.js';

export const receiveBranches: readonly Branch[] = [
  {
    name: 'receive',
    summary: 'ask for money',
    load: async () => (await import('../receive/receive.js')).receive,
    branches: [
      {
        name: 'lightning',
        summary: 'make a Lightning invoice and wait until it is paid',
        load: async () => (await import('../receive/receive-lightning.js')).receiveLightning,
      },
      {
        name: 'onchain',
        summary: 'make a Bitcoin address and wait until it is paid',
        load: async () => (await import('../receive/receive-onchain.js')).receiveOnchain,
      },
      {
        name: 'address',
        summary: 'show a permanent deposit address',
        load: async () => (await import('../receive/receive-address.js')).receiveAddress,
      },
    ],
  },
];
