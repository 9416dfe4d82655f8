// Lists the commands: the file of each command, its summary and its attributes. svcpay derives
// parsing, help, completion and the manual from this list and from the declarations in the files.
import type { Rail } from '../formats/rails.js';
import type { Command } from './define.js';
import type { Branch } from './tree.js';

type Attributes = Pick<Branch, 'money' | 'aliases' | 'connections' | 'ownAccount' | 'ownerOnly'>;

interface Row extends Attributes {
  readonly path: string;
  readonly summary: string;
  readonly load?: () => Promise<Command>;
}

/** The name under which a file exports a command, such as `txList` for `tx list`. */
type NameOf<Path extends string> = Path extends `${infer First} ${infer Rest}`
  ? `${First}${Capitalize<NameOf<Rest>>}`
  : Path;

const nameOf = (path: string): string =>
  path.replaceAll(/ (\w)/g, (_, letter: string) => letter.toUpperCase());

/** Returns a function that builds the rows of the commands in a file, with the same attributes. */
const commandsWith =
  (attributes: Attributes) =>
  <Path extends string>(
    load: () => Promise<Readonly<Record<NameOf<Path>, Command>>>,
    summaries: Readonly<Record<Path, string>>,
  ): Row[] =>
    Object.entries<string>(summaries).map(([path, summary]) => ({
      path,
      summary,
      async load() {
        const found = Object.entries<Command>(await load()).find(([name]) => name === nameOf(path));
        if (found === undefined) throw new Error(`No file exports the command ${path}.`);
        return found[1];
      },
      ...attributes,
    }));

const group = (path: string, summary: string): Row[] => [{ path, summary }];

/**
 * A payment sends three requests at once: it creates the transaction, and reads the balance and
 * either the rates of a conversion or the account's own deposit address.
 */
const paying = { money: true, connections: 3, ownAccount: true } as const;
const commands = commandsWith({});
const reads = commandsWith({ connections: 1 });
const own = commandsWith({ ownAccount: true });
const asks = commandsWith({ connections: 1, ownAccount: true });
const decides = commandsWith({ connections: 1, ownAccount: true, ownerOnly: true });
const pays = commandsWith(paying);

/** The `send` commands. The compiler requires a command for every rail. */
const sends: Readonly<Record<`send ${Rail}`, string>> = {
  'send lightning': 'pay a BOLT11 invoice',
  'send lnurl': 'pay to a Lightning Address or an LNURL',
  'send onchain': 'pay to a Bitcoin address',
  'send usdt': 'pay USDT to a TRON address',
};

/** The commands, grouped under the headings that help shows. */
const sections: Readonly<Record<string, readonly (readonly Row[])[]>> = {
  'Money in': [
    own(() => import('./receive/receive.js'), { receive: 'request a payment' }),
    asks(() => import('./receive/receive.js'), {
      'receive lightning': 'create a Lightning invoice and wait until it is paid',
      'receive onchain': 'create a Bitcoin address and wait until it is paid',
      'receive address': 'show a permanent deposit address',
    }),
  ],
  'Money out': [
    commandsWith({ ...paying, aliases: ['pay'] })(() => import('./send/send.js'), {
      send: 'pay an invoice, an address, an LNURL or a Lightning Address',
    }),
    pays(() => import('./send/send.js'), sends),
    pays(() => import('./swap/swap.js'), {
      swap: 'exchange between two of your own wallets',
    }),
    pays(() => import('./payout/payout.js'), {
      payout: 'pay out to a bank account or a mobile wallet',
    }),
    commands(() => import('./payout/payout.js'), {
      'payout methods': 'list payout countries and methods',
      'payout institutions': 'list the banks and mobile wallets of a country',
    }),
    pays(() => import('./again/again.js'), {
      again: 'pay a contact or an earlier payee again',
    }),
    pays(() => import('./batch/batch.js'), { batch: 'pay each row of a CSV file once' }),
    asks(() => import('./batch/status.js'), {
      'batch status':
        'compare each row of a batch with journal and service, and show its next command',
    }),
    asks(() => import('./batch/receipts.js'), {
      'batch receipts': 'write a remittance advice for each payee of a batch',
    }),
    group('propose', 'propose a payment that the owner of the wallet pays or refuses'),
    commands(() => import('./propose/propose.js'), {
      'propose send': 'propose a payment, offline and without a secret',
      'propose swap': 'propose an exchange between two wallets',
      'propose payout': 'propose a payout to a bank account or a mobile wallet',
      'propose batch': 'propose each row of a CSV file, as one proposal',
      'propose status': 'show what the owner did with a proposal',
    }),
    asks(() => import('./proposals/proposals.js'), {
      proposals: 'list the proposals that wait for you',
      'proposals show': 'show a proposal and what is unusual about it',
    }),
    commandsWith({ ...paying, ownerOnly: true })(() => import('./proposals/proposals.js'), {
      'proposals pay': 'pay proposals, each once and within its highest total',
    }),
    decides(() => import('./proposals/proposals.js'), {
      'proposals refuse': 'refuse a proposal for good',
    }),
    asks(() => import('./proposals/proposals.js'), {
      'proposals watch': 'wait for new proposals',
    }),
    group('budget', 'let agents and jobs spend, within limits of their own'),
    decides(() => import('./budget/budget.js'), {
      'budget add': 'add a budget, or change its rules',
      'budget stop': 'refuse every payment that charges a budget',
      'budget start': 'allow payments of a stopped budget again',
      'budget remove': 'remove a budget',
    }),
    asks(() => import('./budget/budget.js'), {
      'budget list': 'list the budgets and how much is used',
      'budget show': 'show the rules of a budget, how much is used, and its changes',
    }),
    commands(() => import('./budget/recipe.js'), {
      'budget recipe': 'print how an agent or a job spends without reaching the secret',
    }),
    decides(async () => ({ 'stop-all': (await import('./budget/budget.js')).stopAll }), {
      'stop-all': 'stop all budgets at once',
    }),
    group('contacts', 'manage the address book'),
    commands(() => import('./contacts/contacts.js'), {
      'contacts list': 'list the contacts',
      'contacts show': 'show every detail of a contact',
      'contacts add': 'save a destination or an account under a name',
      'contacts remove': 'remove a contact',
    }),
    commands(async () => ({ limits: (await import('./limits/limits.js')).limitsList }), {
      limits: 'limit spending per payment, per day and by destination',
    }),
    commands(() => import('./limits/limits.js'), {
      'limits list': 'show the limits and how much is used',
    }),
    commandsWith({ ownerOnly: true })(() => import('./limits/limits.js'), {
      'limits set': 'limit the total of one payment, or of all payments in 24 hours',
      'limits allow': 'add a destination to the allow-list',
      'limits disallow': 'remove a destination from the allow-list',
      'limits clear': 'remove all limits, or the limits in one currency',
    }),
  ],
  'Look back': [
    commandsWith({ connections: 1, aliases: ['balance'] })(() => import('./wallets/wallets.js'), {
      wallets: 'show available, reserved and total balances',
    }),
    reads(() => import('./watch/watch.js'), { watch: 'show balances and open payments, live' }),
    group('tx', 'show, watch, confirm and resume transactions'),
    asks(() => import('./tx/list.js'), { 'tx list': 'show the history, newest last' }),
    asks(() => import('./tx/get.js'), { 'tx get': 'show one transaction as a receipt' }),
    asks(() => import('./tx/watch.js'), {
      'tx watch': 'follow transactions until they are final',
    }),
    pays(() => import('./tx/tx.js'), { 'tx confirm': 'confirm a quote and pay it' }),
    asks(() => import('./tx/tx.js'), {
      'tx cancel': 'cancel a quote before it is confirmed',
    }),
    commandsWith({ connections: 1, ownAccount: true })(() => import('./tx/pending.js'), {
      'tx pending': 'list unfinished payments',
    }),
    pays(() => import('./tx/resume.js'), {
      'tx resume': 'resume unfinished payments, and report their outcomes',
    }),
    commands(() => import('./tx/tx.js'), {
      'tx explain': 'tell what happened to a payment, step by step, and where the money is',
    }),
    asks(() => import('./tx/tx.js'), {
      'tx note': 'add a note to a transaction, which never changes',
    }),
    decides(() => import('./tx/tx.js'), {
      'tx resolve': 'record whether the money moved, after an error or an unknown outcome',
    }),
    asks(() => import('./tx/export.js'), {
      'tx export': 'export transactions for a spreadsheet or for bookkeeping',
    }),
    asks(() => import('./statement/statement.js'), {
      statement: 'show opening balance, movements and closing balance, and check that they add up',
    }),
    asks(() => import('./statement/statement.js'), {
      'statement totals': 'sum what was received, sent, swapped and paid in fees',
    }),
    asks(() => import('./statement/adjust.js'), {
      'statement adjust': 'record money that no transaction explains',
    }),
    group('statement accounts', 'map rows to the accounts of your bookkeeping'),
    asks(() => import('./statement/accounts.js'), {
      'statement accounts init': 'write a mapping file with the payees of the history',
    }),
    asks(() => import('./statement/close.js'), {
      'statement close':
        "seal a month's statement; for a closed month, show what has changed since",
    }),
    asks(() => import('./fees/fees.js'), { fees: 'sum the fees of a month' }),
    asks(() => import('./reconcile/reconcile.js'), {
      reconcile: 'compare service, journal and webhook inbox',
    }),
    asks(() => import('./reconcile/reconcile.js'), {
      'reconcile accept': 'accept the differences of a transaction with a note',
    }),
    reads(() => import('./rates/rates.js'), { rates: 'show exchange rates' }),
    reads(() => import('./account/account.js'), { account: 'show the account record' }),
  ],
  'Set up': [
    commands(() => import('./login/login.js'), {
      login: 'connect to a service and save the credentials',
    }),
    commands(() => import('./logout/logout.js'), {
      logout: 'delete the token and secret of a profile',
    }),
    commands(() => import('./whoami/whoami.js'), {
      whoami: 'show the account, profile and service, and where the secrets are stored',
    }),
    group('profiles', 'manage profiles: services and accounts'),
    commands(() => import('./profiles/profiles.js'), {
      'profiles list': 'list profiles',
      'profiles use': 'set the default profile',
      'profiles remove': 'remove a profile and its secret',
    }),
    group('config', 'read and change the settings of a profile'),
    commands(() => import('./config/config.js'), {
      'config list': 'list settings and where each comes from',
      'config get': 'print one setting',
      'config set': 'change one setting',
      'config unset': 'remove one setting',
      'config path': 'print the path of the settings file',
    }),
    group('db', 'manage the storage of the journal and the inbox'),
    commands(() => import('./db/db.js'), {
      'db status': 'show the location and version of the journal and the inbox',
    }),
    commandsWith({ ownerOnly: true })(() => import('./db/db.js'), {
      'db upgrade': 'upgrade the database tables',
      'db move': 'move the journal and the inbox of this home into the database',
    }),
    commands(() => import('./db/db.js'), {
      'db verify': 'replay the trail of each payment, and compare the end with the journal',
    }),
    decides(() => import('./db/db.js'), {
      'db import': 'import the payments that a restored journal lacks, from the service',
    }),
    commands(() => import('./doctor/doctor.js'), {
      doctor: 'check the installation, its files, the service and the clock',
    }),
    commands(() => import('./completion/completion.js'), {
      completion: 'print the completion script for a shell',
    }),
    commands(async () => ({ help: (await import('./help/help.js')).help(tree) }), {
      help: 'show help on a command or topic',
    }),
    commands(async () => ({ schema: (await import('./schema/schema.js')).schema(tree) }), {
      schema: 'print the inputs and outputs of commands, as JSON',
    }),
  ],
  Build: [
    commands(() => import('./decode/decode.js'), {
      decode: 'read an invoice, an address or an LNURL offline',
    }),
    commandsWith({ money: 'depends' })(() => import('./api/api.js'), {
      api: 'send any authenticated request and print the response',
    }),
    group('webhook', 'receive, check, forward and replay events'),
    own(() => import('./webhook/webhook.js'), {
      'webhook list': 'show the webhook of the account',
      'webhook set': 'set the webhook of the account, replacing any other',
      'webhook update': 'change the callback or the secret of a webhook',
      'webhook remove': 'remove a webhook',
    }),
    commands(() => import('./webhook/listen.js'), {
      'webhook listen': 'receive events on this machine',
    }),
    group('webhook consumers', 'manage consumers, the targets to which svcpay forwards events'),
    commands(() => import('./webhook/consumers.js'), {
      'webhook consumers list':
        'list each consumer, its waiting events, and when a receiver last ran for it',
      'webhook consumers rename': 'rename a consumer, which keeps its waiting events',
      'webhook consumers remove': 'remove a consumer and drop its waiting events',
    }),
    commands(() => import('./webhook/webhook.js'), {
      'webhook verify': 'verify a signature, or name the likely cause if it is wrong',
    }),
    commands(() => import('./webhook/webhook.js'), {
      'webhook sign': 'sign a body as the service does',
    }),
    commands(() => import('./webhook/replay.js'), {
      'webhook replay': 'send stored events again',
    }),
    commands(() => import('./webhook/trigger.js'), {
      'webhook trigger': 'trigger an event in the sandbox, or send an event to a URL',
    }),
    group('sandbox', 'run the whole service locally'),
    commands(() => import('./sandbox/start.js'), {
      'sandbox start': 'run the sandbox as a server',
    }),
    commands(() => import('./sandbox/run.js'), {
      'sandbox run': 'run a command with a fresh sandbox',
    }),
    commands(() => import('./sandbox/sandbox.js'), {
      'sandbox status': 'show the contents of the sandbox',
      'sandbox fund': 'add money to a wallet',
      'sandbox pay': 'pay an invoice or address as an external payer',
      'sandbox invoice': 'create an invoice of an external recipient, which you can pay',
      'sandbox mine': 'mine blocks to confirm on-chain payments',
      'sandbox log': 'list requests and responses',
      'sandbox deliveries': 'list past and pending webhook deliveries',
      'sandbox reset': 'reset to a fresh sandbox',
    }),
    group('sandbox clock', 'show, advance and stop the sandbox clock'),
    commands(() => import('./sandbox/sandbox.js'), {
      'sandbox clock show': 'show the sandbox time',
      'sandbox clock advance': 'advance the sandbox clock and run everything due',
      'sandbox clock freeze': 'stop the sandbox clock',
      'sandbox clock thaw': 'let the stopped sandbox clock run again',
    }),
    group('sandbox fault', 'inject faults'),
    commands(() => import('./sandbox/sandbox.js'), {
      'sandbox fault add': 'add a fault',
      'sandbox fault list': 'list faults',
      'sandbox fault clear': 'remove one fault, or all faults',
    }),
    group('sandbox snapshot', 'save and restore sandbox states'),
    commands(() => import('./sandbox/sandbox.js'), {
      'sandbox snapshot save': 'save the current state under a name',
      'sandbox snapshot load': 'restore a saved state',
      'sandbox snapshot list': 'list saved states',
      'sandbox snapshot remove': 'remove a saved state',
    }),
    commandsWith({ ownAccount: true, money: 'depends' })(
      async () => ({ mcp: (await import('./mcp/mcp.js')).mcp(tree) }),
      {
        mcp: 'serve the wallet to agents over the Model Context Protocol',
      },
    ),
    commands(() => import('./demo/demo.js'), {
      demo: 'show the main features in a separate sandbox',
    }),
  ],
};

export const firstExamples: Command['examples'] = [
  ['svcpay login --sandbox', 'try everything with play money; svcpay login connects to a service'],
  [
    'svcpay receive lightning 50000sat',
    'shows an invoice with its QR code, and waits for the payment',
  ],
  [
    'svcpay send DESTINATION 50000sat --max-fee 1%',
    'pays any invoice or address; shows the cost and asks first',
  ],
  ['svcpay tx list', 'past transactions'],
  ['svcpay help scripting', 'further pages: amounts, environment, exit-codes, fields, scripting'],
];

/** The tree of commands, built without loading the code of a command. */
export const tree: Branch = {
  name: 'svcpay',
  summary: 'A wallet for Lightning, on-chain Bitcoin, USDT and local fiat.',
  load: () => import('./watch/home.js').then(({ home }) => home),
  connections: 5,
  branches: Object.entries(sections).flatMap(([section, rows]) =>
    below('', rows.flat()).map((branch) => ({ ...branch, section })),
  ),
};

function below(parent: string, rows: readonly Row[]): readonly Branch[] {
  return rows
    .filter(({ path }) => path.startsWith(parent) && !path.slice(parent.length).includes(' '))
    .map(({ path, ...row }) => {
      const branches = below(`${path} `, rows);
      return {
        name: path.slice(parent.length),
        ...row,
        ...(branches.length > 0 && { branches }),
      };
    });
}
