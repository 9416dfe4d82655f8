// The command tree as data: names, summaries and where each command's code is. Nothing here loads a command.
import type { Command } from './define.js';
import { flagName, takesWord } from './flags.js';
import { globalOptions } from './globals.js';

export interface Branch {
  readonly name: string;
  readonly summary: string;
  readonly hidden?: boolean;
  /** It pays: a failure of it says first what became of the money. */
  readonly money?: boolean;
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
    {
      name: 'receive',
      summary: 'ask for money',
      branches: [
        {
          name: 'lightning',
          summary: 'make a Lightning invoice and wait until it is paid',
          load: async () => (await import('./commands/receive-lightning.js')).receiveLightning,
        },
      ],
    },
    {
      name: 'send',
      summary: 'pay',
      money: true,
      branches: [
        {
          name: 'lightning',
          summary: 'pay a BOLT11 invoice',
          money: true,
          load: async () => (await import('./commands/send-lightning.js')).sendLightning,
        },
      ],
    },
    {
      name: 'swap',
      summary: 'exchange between two of your own wallets',
      money: true,
      load: async () => (await import('./commands/swap.js')).swap,
    },
    {
      name: 'tx',
      summary: 'look at transactions and carry them on',
      branches: [
        {
          name: 'list',
          summary: 'the history',
          load: async () => (await import('./commands/tx-list.js')).txList,
        },
        {
          name: 'get',
          summary: 'one transaction as a receipt',
          load: async () => (await import('./commands/tx-get.js')).txGet,
        },
        {
          name: 'watch',
          summary: 'follow transactions to their end',
          load: async () => (await import('./commands/tx-watch.js')).txWatch,
        },
      ],
    },
    {
      name: 'sandbox',
      summary: 'the whole service, locally',
      branches: [
        {
          name: 'start',
          summary: 'run the sandbox as a server',
          load: async () => (await import('./commands/sandbox-start.js')).sandboxStart,
        },
        {
          name: 'fund',
          summary: 'add money to a wallet',
          load: async () => (await import('./commands/sandbox-fund.js')).sandboxFund,
        },
        {
          name: 'pay',
          summary: 'pay a request, as somebody outside would',
          load: async () => (await import('./commands/sandbox-pay.js')).sandboxPay,
        },
        {
          name: 'invoice',
          summary: 'make an invoice of somebody outside, to pay',
          load: async () => (await import('./commands/sandbox-invoice.js')).sandboxInvoice,
        },
        {
          name: 'reset',
          summary: 'back to a fresh sandbox',
          load: async () => (await import('./commands/sandbox-reset.js')).sandboxReset,
        },
      ],
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
