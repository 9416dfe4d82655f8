// Who and where: login, profiles, wallets.
import type { Branch } from '../branch.js';

export const accountBranches: readonly Branch[] = [
  {
    name: 'login',
    summary: 'connect to the service and keep the credentials',
    load: async () => (await import('../commands/login.js')).login,
  },
  {
    name: 'logout',
    summary: 'forget the token and the secret of a profile',
    load: async () => (await import('../commands/logout.js')).logout,
  },
  {
    name: 'whoami',
    summary: 'show account, profile, service and where secrets are kept',
    load: async () => (await import('../commands/whoami.js')).whoami,
  },
  {
    name: 'wallets',
    summary: 'show what is available, reserved and in total',
    load: async () => (await import('../commands/wallets.js')).wallets,
  },
  {
    name: 'account',
    summary: 'show the account record',
    load: async () => (await import('../commands/account.js')).account,
  },
  {
    name: 'rates',
    summary: 'show exchange rates',
    load: async () => (await import('../commands/rates.js')).rates,
  },
  {
    name: 'decode',
    summary: 'read an invoice, an address or an LNURL offline',
    load: async () => (await import('../commands/decode.js')).decode,
  },
];
