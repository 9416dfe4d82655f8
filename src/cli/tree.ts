// The command tree as data: names, summaries and where each command's code is. Nothing here loads a command.
import type { Command } from './define.js';
import { flagName, takesWord } from './flags.js';
import { globalOptions } from './globals.js';

export interface Branch {
  readonly name: string;
  readonly summary: string;
  readonly hidden?: boolean;
  readonly load?: () => Promise<Command>;
  readonly branches?: readonly Branch[];
}

export const tree: Branch = {
  name: 'svcpay',
  summary: 'A wallet for Lightning, on-chain Bitcoin, USDT and local fiat.',
  branches: [
    {
      name: 'login',
      summary: 'connect to the service and keep the credentials',
      load: async () => (await import('./commands/login.js')).login,
    },
    {
      name: 'logout',
      summary: 'forget the token and the secret of a profile',
      load: async () => (await import('./commands/logout.js')).logout,
    },
    {
      name: 'whoami',
      summary: 'show account, profile, service and where secrets are kept',
      load: async () => (await import('./commands/whoami.js')).whoami,
    },
    {
      name: 'wallets',
      summary: 'show what is available, reserved and in total',
      load: async () => (await import('./commands/wallets.js')).wallets,
    },
  ],
};

const globalWords: ReadonlySet<string> = new Set(
  Object.entries(globalOptions).flatMap(([name, value]) =>
    takesWord(value) ? [flagName(name), ...(value.shape.short === undefined ? [] : [`-${value.shape.short}`])] : [],
  ),
);

/** The branches that a command line names, outermost first; global options may stand in between. */
export function chosenPath(root: Branch, argv: readonly string[]): readonly Branch[] {
  const path: Branch[] = [];
  let here = root;
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (word === '--') break;
    if (word.startsWith('-') && word !== '-') {
      if (globalWords.has(word)) index += 1;
      continue;
    }
    const next = here.branches?.find((branch) => branch.name === word);
    if (next === undefined) break;
    path.push(next);
    here = next;
  }
  return path;
}
