// The local spending policy.
import type { Branch } from '../branch.js';

export const limitBranches: readonly Branch[] = [
  {
    name: 'limits',
    summary: 'what may be spent from here: per payment, per day, and where to',
    load: async () => (await import('../settings/limits-list.js')).limitsList,
    branches: [
      {
        name: 'list',
        summary: 'show the limits and what of them is used',
        load: async () => (await import('../settings/limits-list.js')).limitsList,
      },
      {
        name: 'set',
        summary: 'limit a payment, or all payments of a day',
        load: async () => (await import('../settings/limits-set.js')).limitsSet,
      },
      {
        name: 'allow',
        summary: 'allow a destination, and no other that is not allowed',
        load: async () => (await import('../settings/limits-allow.js')).limitsAllow,
      },
      {
        name: 'disallow',
        summary: 'take a destination from those allowed',
        load: async () => (await import('../settings/limits-disallow.js')).limitsDisallow,
      },
      {
        name: 'clear',
        summary: 'remove all limits, or those in one currency',
        load: async () => (await import('../settings/limits-clear.js')).limitsClear,
      },
    ],
  },
];
