// Paying out of a wallet.
import type { Branch } from '../branch.js';

export const sendBranches: readonly Branch[] = [
  {
    name: 'send',
    summary: 'pay an invoice, an address, an LNURL or a Lightning Address',
    money: true,
    load: async () => (await import('../payment/send.js')).send,
    branches: [
      {
        name: 'lightning',
        summary: 'pay a BOLT11 invoice',
        money: true,
        load: async () => (await import('../payment/send-lightning.js')).sendLightning,
      },
      {
        name: 'lnurl',
        summary: 'pay to a Lightning Address or an LNURL',
        money: true,
        load: async () => (await import('../payment/send-lnurl.js')).sendLnurl,
      },
      {
        name: 'onchain',
        summary: 'pay to a Bitcoin address',
        money: true,
        load: async () => (await import('../payment/send-onchain.js')).sendOnchain,
      },
      {
        name: 'usdt',
        summary: 'pay USDT to a TRON address',
        money: true,
        load: async () => (await import('../payment/send-usdt.js')).sendUsdt,
      },
    ],
  },
  {
    name: 'swap',
    summary: 'exchange between two of your own wallets',
    money: true,
    load: async () => (await import('../payment/swap.js')).swap,
  },
  {
    name: 'batch',
    summary: 'pay the rows of a CSV file, each once',
    money: true,
    load: async () => (await import('../batch/batch.js')).batch,
  },
];
