// Help around the wallet.
import type { Branch } from '../branch.js';

/** Completion is made from the whole tree. */
export const toolBranches = (tree: () => Branch): readonly Branch[] => [
  {
    name: 'demo',
    summary: 'a tour of the main job on a sandbox of its own',
    load: async () => (await import('../sandbox/demo.js')).demo,
  },
  {
    name: 'api',
    summary: 'send any request, signed in, and print the answer as it came',
    load: async () => (await import('../raw/api.js')).api,
  },
  {
    name: 'mcp',
    summary: 'serve the wallet to an assistant over the Model Context Protocol',
    load: async () => (await import('../agent/mcp.js')).mcp,
  },
  {
    name: 'doctor',
    summary: 'check the installation, its files, the service and the clock',
    load: async () => (await import('../settings/doctor.js')).doctor,
  },
  {
    name: 'completion',
    summary: 'print the completion script of a shell',
    load: async () => (await import('../help/completion.js')).completion(tree()),
  },
  {
    name: 'help',
    summary: 'help on a command, or on exit-codes',
    load: async () => (await import('../help/help.js')).help,
  },
];
