// The command tree as data: names, summaries and where each command's code is. Nothing here loads a command.
import { accountBranches } from './branches/account.js';
import { receiveBranches } from './branches/receive.js';
import { sandboxBranches } from './branches/sandbox.js';
import { sendBranches } from './branches/send.js';
import { toolBranches } from './branches/tools.js';
import { transactionBranches } from './branches/transactions.js';
import type { Branch } from './branch.js';
import { flagName, takesWord } from './flags.js';
import { globalOptions } from './globals.js';

export const tree: Branch = {
  name: 'svcpay',
  summary: 'A wallet for Lightning, on-chain Bitcoin, USDT and local fiat.',
  branches: [
    ...accountBranches,
    ...receiveBranches,
    ...sendBranches,
    ...transactionBranches,
    ...sandboxBranches,
    ...toolBranches,
  ],
};

const globalWords: ReadonlySet<string> = new Set(
  Object.entries(globalOptions).flatMap(([name, value]) =>
    takesWord(value) ? [flagName(name), ...(value.shape.short === undefined ? [] : [`-${value.shape.short}`])] : [],
  ),
);

/** The words of a command line that are not global options or their values, up to `--`. */
export function plainWords(argv: readonly string[]): readonly string[] {
  const words: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (word === '--') break;
    if (!word.startsWith('-') || word === '-') words.push(word);
    else if (globalWords.has(word)) index += 1;
  }
  return words;
}

/** The branches that a command line names, outermost first; global options may stand in between. */
export function chosenPath(root: Branch, argv: readonly string[]): readonly Branch[] {
  const path: Branch[] = [];
  for (const word of plainWords(argv)) {
    const next = (path.at(-1) ?? root).branches?.find((branch) => branch.name === word);
    if (next === undefined) break;
    path.push(next);
  }
  return path;
}
