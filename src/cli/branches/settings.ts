// What is kept between runs: profiles and their settings.
import type { Branch } from '../branch.js';

export const settingBranches: readonly Branch[] = [
  {
    name: 'profiles',
    summary: 'the services and accounts that are set up',
    branches: [
      {
        name: 'list',
        summary: 'all of them',
        load: async () => (await import('../settings/profiles-list.js')).profilesList,
      },
      {
        name: 'use',
        summary: 'choose the one that is used',
        load: async () => (await import('../settings/profiles-use.js')).profilesUse,
      },
      {
        name: 'remove',
        summary: 'forget one with its secret',
        load: async () => (await import('../settings/profiles-remove.js')).profilesRemove,
      },
    ],
  },
  {
    name: 'config',
    summary: 'the settings of a profile',
    branches: [
      {
        name: 'list',
        summary: 'all settings and what decides them',
        load: async () => (await import('../settings/config-list.js')).configList,
      },
      {
        name: 'get',
        summary: 'print one setting',
        load: async () => (await import('../settings/config-get.js')).configGet,
      },
      {
        name: 'set',
        summary: 'change one setting',
        load: async () => (await import('../settings/config-set.js')).configSet,
      },
      {
        name: 'path',
        summary: 'print where they are kept',
        load: async () => (await import('../settings/config-path.js')).configPath,
      },
    ],
  },
];
