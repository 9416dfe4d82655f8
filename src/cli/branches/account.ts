// Who and where: login, profiles, wallets.
import type { Branch } from '../branch.js';

export const accountBranches: readonly Branch[] = [
  {
    name: 'login',
    summary: 'connect to the service and keep the credentials',
    load: async () => (await import('../settings/login.js')).login,
  },
  {
    name: 'logout',
    summary: 'forget the token and the secret of a profile',
    load: async () => (await import('../settings/logout.js')).logout,
  },
  {
    name: 'whoami',
    summary: 'show account, profile, service and where secrets are kept',
    load: async () => (await import('../settings/whoami.js')).whoami,
  },
  {
    name: 'wallets',
    summary: 'show what is available, reserved and in total',
    load: async () => (await import('../overview/wallets.js')).wallets,
  },
  {
    name: 'account',
    summary: 'show the account record',
    load: async () => (await import('../overview/account.js')).account,
  },
  {
    name: 'rates',
    summary: 'show exchange rates',
    load: async () => (await import('../overview/rates.js')).rates,
  },
  {
    name: 'decode',
    summary: 'read an invoice, an address or an LNURL offline',
    load: async () => (await import('../overview/decode.js')).decode,
  },
];
