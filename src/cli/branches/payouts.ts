// Paying out local fiat, and the address book for it.
import type { Branch } from '../branch.js';

export const payoutBranches: readonly Branch[] = [
  {
    name: 'payout',
    summary: 'pay out to a bank account or a mobile wallet',
    money: true,
    load: async () => (await import('../payout/payout.js')).payout,
    branches: [
      {
        name: 'methods',
        summary: 'the countries and methods of payouts',
        load: async () => (await import('../payout/payout-methods.js')).payoutMethods,
      },
      {
        name: 'institutions',
        summary: 'the banks and mobile wallets of a country',
        load: async () => (await import('../payout/payout-institutions.js')).payoutInstitutions,
      },
    ],
  },
  {
    name: 'recipients',
    summary: 'the address book for payouts',
    branches: [
      {
        name: 'list',
        summary: 'everybody in it',
        load: async () => (await import('../payout/recipients-list.js')).recipientsList,
      },
      {
        name: 'add',
        summary: 'put somebody in, or change an entry',
        load: async () => (await import('../payout/recipients-add.js')).recipientsAdd,
      },
      {
        name: 'remove',
        summary: 'take somebody out',
        load: async () => (await import('../payout/recipients-remove.js')).recipientsRemove,
      },
    ],
  },
];
