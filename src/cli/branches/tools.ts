// Help around the wallet.
import type { Branch } from '../branch.js';

export const toolBranches: readonly Branch[] = [
  {
    name: 'demo',
    summary: 'a tour of the main job on a sandbox of its own',
    load: async () => (await import('../commands/demo.js')).demo,
  },
];
