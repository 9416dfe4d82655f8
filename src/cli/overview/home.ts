// Home: what there is to spend, what is not over yet, and what to do next. `svcpay` alone, at a terminal.
import type { ListedTransaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { back } from '../../terminal/ask/ask.js';
import { homeView, type Home } from '../../terminal/cards/home-view.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { Ended } from '../exit-with.js';
import { askWhatNext, type Words } from './home-menu.js';
import { journalScope } from '../payment/payment-flow.js';
import { placeOf } from '../settings/whereabouts.js';

export const home = defineCommand({
  arguments: {},
  options: {},
  examples: [['svcpay', 'balances, what is pending, and what to do next']],
  async run(_values, context) {
    if (isFresh(context)) return welcome(context);
    const client = await context.client();
    const [place, wallets, open] = await Promise.all([placeOf(context), client.wallets(), readOpen(context)]);
    const overview: Home = { ...place, wallets, ...open };
    await context.out.record(overview, homeView(overview, client.serviceNow()));
    if (!context.terminal.canPrompt || !context.out.forPeople) return;
    const isPending = overview.unfinished.length > 0 || overview.pending.some(({ sourceReq }) => sourceReq.method === 'servicepay');
    const words = await askWhatNext({ ask: context.ask.steps, isPending });
    if (words !== back) await follow(words, context);
  },
});

const isFresh = ({ settings }: Context): boolean =>
  !settings.embedded && (settings.baseUrl === undefined || settings.apiKey === undefined);

async function welcome(context: Context): Promise<void> {
  if (!context.terminal.canPrompt) await context.client();
  context.out.screen(['', '  No account is connected yet.', '']);
  const chosen = await context.ask.steps.select<Words>({
    message: 'What next?',
    flag: 'COMMAND',
    choices: [
      { value: ['demo'], name: 'See a demo', description: 'ten seconds, with play money, leaves nothing behind' },
      { value: ['login', '--sandbox'], name: 'Try the sandbox', description: 'the whole service on this machine, with play money' },
      { value: ['login'], name: 'Connect to a service', description: 'needs its address, an API key and an API secret' },
    ],
    backName: 'Leave',
  });
  if (chosen !== back) await follow(chosen, context);
}

/** The same command that a person would type, with the global options of this one. */
async function follow(words: Words, { argv, runLine, out }: Context): Promise<void> {
  out.say(`  svcpay ${words.join(' ')}`);
  throw new Ended(await runLine([...argv, ...words]));
}

const openStates = ['srcintent', 'srccreated', 'destsent'];

type Open = Pick<Home, 'pending' | 'unfinished'>;

/** What the service has in progress, and what the journal holds that never came so far. */
async function readOpen(context: Context): Promise<Open> {
  const service = await ownService(context);
  if (service === undefined) return { pending: [], unfinished: [] };
  const [{ data }, intents] = await Promise.all([
    service.transactions({ time: '30d', txnStatuses: openStates }),
    context.journal().then(async (journal) => journal.open(await journalScope(context))),
  ]);
  const known = new Set(data.map(({ txnId }: ListedTransaction) => txnId));
  const unfinished = intents.filter(({ txnId }) => txnId === null || !known.has(txnId)).map(({ ref }) => ref);
  return { pending: data, unfinished };
}

/** Transactions are those of the key's own account; with `--account` there is nothing to tell of them. */
async function ownService(context: Context) {
  return context.ownClient().catch((error: unknown) => {
    if (error instanceof Failure && error.kind === 'usage') return undefined;
    throw error;
  });
}
