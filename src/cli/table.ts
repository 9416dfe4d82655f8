// Defines the table of commands, from which svcpay derives parsing, help, completion and the
// manual.
import type { Rail } from '../formats/rails.js';
import type { Branch, Command } from './define.js';

type Attributes = Pick<Branch, 'money' | 'hidden' | 'aliases' | 'connections' | 'ownAccount'>;
type Row = readonly [
  path: string,
  summary: string,
  load?: () => Promise<Command>,
  attributes?: Attributes,
];

const pays: Attributes = { money: true, connections: 2, ownAccount: true };
/**
 * The attributes of a payment command that may need one more connection than usual, to read the
 * rates or the account's own deposit address.
 */
const looksUp: Attributes = { ...pays, connections: 3 };
const asks: Attributes = { connections: 1, ownAccount: true };
const reads: Attributes = { connections: 1 };

/** The `send` commands by rail. The compiler requires a command for every rail. */
const sends: Readonly<Record<Rail, Row>> = {
  lightning: [
    'send lightning',
    'pay a BOLT11 invoice',
    () => import('./payment/send-lightning.js').then((it) => it.sendLightning),
    pays,
  ],
  lnurl: [
    'send lnurl',
    'pay to a Lightning Address or an LNURL',
    () => import('./payment/send.js').then((it) => it.sendLnurl),
    pays,
  ],
  onchain: [
    'send onchain',
    'pay to a Bitcoin address',
    () => import('./payment/send.js').then((it) => it.sendOnchain),
    looksUp,
  ],
  usdt: [
    'send usdt',
    'pay USDT to a TRON address',
    () => import('./payment/send.js').then((it) => it.sendUsdt),
    looksUp,
  ],
};

/** The commands, grouped under the headings that help shows. */
const sections: readonly (readonly [heading: string, rows: readonly Row[]])[] = [
  [
    'Money in',
    [
      [
        'receive',
        'request a payment',
        () => import('./receive/receive.js').then((it) => it.receive),
        { ownAccount: true },
      ],
      [
        'receive lightning',
        'create a Lightning invoice and wait until it is paid',
        () => import('./receive/receive.js').then((it) => it.receiveLightning),
        asks,
      ],
      [
        'receive onchain',
        'create a Bitcoin address and wait until it is paid',
        () => import('./receive/receive.js').then((it) => it.receiveOnchain),
        asks,
      ],
      [
        'receive address',
        'show a permanent deposit address',
        () => import('./receive/receive-address.js').then((it) => it.receiveAddress),
        asks,
      ],
    ],
  ],
  [
    'Money out',
    [
      [
        'send',
        'pay an invoice, an address, an LNURL or a Lightning Address',
        () => import('./payment/send.js').then((it) => it.send),
        { ...looksUp, aliases: ['pay'] },
      ],
      ...Object.values(sends),
      [
        'swap',
        'exchange between two of your own wallets',
        () => import('./payment/swap.js').then((it) => it.swap),
        looksUp,
      ],
      [
        'payout',
        'pay out to a bank account or a mobile wallet',
        () => import('./payout/payout.js').then((it) => it.payout),
        looksUp,
      ],
      [
        'payout methods',
        'list payout countries and methods',
        () => import('./payout/methods.js').then((it) => it.payoutMethods),
      ],
      [
        'payout institutions',
        'list the banks and mobile wallets of a country',
        () => import('./payout/methods.js').then((it) => it.payoutInstitutions),
      ],
      [
        'batch',
        'pay each row of a CSV file once',
        () => import('./batch/batch.js').then((it) => it.batch),
        pays,
      ],
      [
        'batch status',
        'show the outcome of each row of a batch, and the next command for the row',
        () => import('./batch/batch-status.js').then((it) => it.batchStatus),
        asks,
      ],
      [
        'batch receipts',
        'write a remittance advice for each payee of a batch',
        () => import('./batch/batch-receipts.js').then((it) => it.batchReceipts),
        asks,
      ],
      ['recipients', 'manage the address book for payouts'],
      [
        'recipients list',
        'list saved recipients',
        () => import('./recipients/recipients.js').then((it) => it.recipientsList),
      ],
      [
        'recipients add',
        'save a recipient',
        () => import('./recipients/recipients.js').then((it) => it.recipientsAdd),
      ],
      [
        'recipients remove',
        'remove a saved recipient',
        () => import('./recipients/recipients.js').then((it) => it.recipientsRemove),
      ],
      [
        'limits',
        'limit spending per payment, per day and by destination',
        () => import('./limits/limits.js').then((it) => it.limitsList),
      ],
      [
        'limits list',
        'show the limits and how much is used',
        () => import('./limits/limits.js').then((it) => it.limitsList),
      ],
      [
        'limits set',
        'limit the total of one payment, or of all payments in 24 hours',
        () => import('./limits/limits.js').then((it) => it.limitsSet),
      ],
      [
        'limits allow',
        'add a destination to the allow-list',
        () => import('./limits/limits.js').then((it) => it.limitsAllow),
      ],
      [
        'limits disallow',
        'remove a destination from the allow-list',
        () => import('./limits/limits.js').then((it) => it.limitsDisallow),
      ],
      [
        'limits clear',
        'remove all limits, or the limits in one currency',
        () => import('./limits/limits.js').then((it) => it.limitsClear),
      ],
    ],
  ],
  [
    'Look back',
    [
      [
        'wallets',
        'show available, reserved and total balances',
        () => import('./wallets/wallets.js').then((it) => it.wallets),
        { ...reads, aliases: ['balance'] },
      ],
      [
        'watch',
        'show balances and open payments, live',
        () => import('./watch/watch.js').then((it) => it.watch),
        reads,
      ],
      ['tx', 'show, watch, confirm and resume transactions'],
      [
        'tx list',
        'show the history, newest last',
        () => import('./tx/list.js').then((it) => it.txList),
        asks,
      ],
      [
        'tx get',
        'show one transaction as a receipt',
        () => import('./tx/get.js').then((it) => it.txGet),
        asks,
      ],
      [
        'tx watch',
        'follow transactions until they are final',
        () => import('./tx/watch.js').then((it) => it.txWatch),
        asks,
      ],
      [
        'tx confirm',
        'confirm a quote and pay it',
        () => import('./tx/confirm.js').then((it) => it.txConfirm),
        pays,
      ],
      [
        'tx cancel',
        'cancel a quote before it is confirmed',
        () => import('./tx/cancel.js').then((it) => it.txCancel),
        asks,
      ],
      [
        'tx pending',
        'list unfinished payments',
        () => import('./tx/pending.js').then((it) => it.txPending),
        { connections: 4, ownAccount: true },
      ],
      [
        'tx resume',
        'resume unfinished payments, and report their outcomes',
        () => import('./tx/resume.js').then((it) => it.txResume),
        pays,
      ],
      [
        'tx resolve',
        'record whether the money moved, after an error or an unknown outcome',
        () => import('./tx/resolve.js').then((it) => it.txResolve),
        asks,
      ],
      [
        'tx export',
        'export transactions for a spreadsheet or for bookkeeping',
        () => import('./tx/export.js').then((it) => it.txExport),
        asks,
      ],
      [
        'statement',
        'show opening balance, movements and closing balance, and check that they add up',
        () => import('./statement/statement.js').then((it) => it.statement),
        asks,
      ],
      [
        'statement open',
        'record what the wallets held before their first transaction',
        () => import('./statement/open.js').then((it) => it.statementOpen),
        asks,
      ],
      [
        'statement adjust',
        'record money that no transaction explains',
        () => import('./statement/adjust.js').then((it) => it.statementAdjust),
        asks,
      ],
      [
        'statement close',
        "write a month's statement and its hash; for a closed month, write the changes",
        () => import('./statement/close.js').then((it) => it.statementClose),
        asks,
      ],
      [
        'reconcile',
        'compare service, journal, webhook inbox and batch results',
        () => import('./reconcile/reconcile.js').then((it) => it.reconcile),
        asks,
      ],
      [
        'rates',
        'show exchange rates',
        () => import('./rates/rates.js').then((it) => it.rates),
        reads,
      ],
      [
        'account',
        'show the account record',
        () => import('./account/account.js').then((it) => it.account),
        reads,
      ],
      [
        'history',
        'same as tx list',
        () => import('./tx/list.js').then((it) => it.txList),
        { ...asks, hidden: true },
      ],
    ],
  ],
  [
    'Set up',
    [
      [
        'login',
        'connect to a service and save the credentials',
        () => import('./login/login.js').then((it) => it.login),
      ],
      [
        'logout',
        'delete the token and secret of a profile',
        () => import('./login/login.js').then((it) => it.logout),
      ],
      [
        'whoami',
        'show the account, profile and service, and where the secrets are stored',
        () => import('./login/login.js').then((it) => it.whoami),
      ],
      ['profiles', 'manage profiles: services and accounts'],
      [
        'profiles list',
        'list profiles',
        () => import('./profiles/profiles.js').then((it) => it.profilesList),
      ],
      [
        'profiles use',
        'set the default profile',
        () => import('./profiles/profiles.js').then((it) => it.profilesUse),
      ],
      [
        'profiles remove',
        'remove a profile and its secret',
        () => import('./profiles/profiles.js').then((it) => it.profilesRemove),
      ],
      ['config', 'read and change the settings of a profile'],
      [
        'config list',
        'list settings and where each comes from',
        () => import('./config/config.js').then((it) => it.configList),
      ],
      [
        'config get',
        'print one setting',
        () => import('./config/config.js').then((it) => it.configGet),
      ],
      [
        'config set',
        'change one setting',
        () => import('./config/config.js').then((it) => it.configSet),
      ],
      [
        'config unset',
        'remove one setting',
        () => import('./config/config.js').then((it) => it.configUnset),
      ],
      [
        'config path',
        'print the path of the settings file',
        () => import('./config/config.js').then((it) => it.configPath),
      ],
      ['db', 'manage the storage of the journal and the inbox'],
      [
        'db status',
        'show the location and version of the journal and the inbox',
        () => import('./db/db.js').then((it) => it.dbStatus),
      ],
      [
        'db upgrade',
        'upgrade the database tables',
        () => import('./db/db.js').then((it) => it.dbUpgrade),
      ],
      [
        'db move',
        'move the journal and the inbox of this home into the database',
        () => import('./db/db.js').then((it) => it.dbMove),
      ],
      [
        'doctor',
        'check the installation, its files, the service and the clock',
        () => import('./doctor/doctor.js').then((it) => it.doctor),
      ],
      [
        'completion',
        'print the completion script for a shell',
        () => import('./completion/completion.js').then((it) => it.completion),
      ],
      [
        'help',
        'show help on a command or topic',
        () => import('./help/help.js').then((it) => it.help(tree)),
      ],
      [
        'schema',
        'print the inputs and outputs of commands, as JSON',
        () => import('./schema/schema.js').then((it) => it.schema(tree)),
      ],
    ],
  ],
  [
    'Build',
    [
      [
        'decode',
        'read an invoice, an address or an LNURL offline',
        () => import('./decode/decode.js').then((it) => it.decode),
      ],
      [
        'api',
        'send any authenticated request and print the response',
        () => import('./api/api.js').then((it) => it.api),
        { money: 'depends' },
      ],
      ['webhook', 'receive, check, forward and replay events'],
      [
        'webhook list',
        'show the webhook of the account',
        () => import('./webhook/webhook.js').then((it) => it.webhookList),
        { ownAccount: true },
      ],
      [
        'webhook set',
        'set the webhook of the account, replacing any other',
        () => import('./webhook/webhook.js').then((it) => it.webhookSet),
        { ownAccount: true },
      ],
      [
        'webhook update',
        'change the callback or the secret of a webhook',
        () => import('./webhook/webhook.js').then((it) => it.webhookUpdate),
        { ownAccount: true },
      ],
      [
        'webhook remove',
        'remove a webhook',
        () => import('./webhook/webhook.js').then((it) => it.webhookRemove),
        { ownAccount: true },
      ],
      [
        'webhook listen',
        'receive events on this machine',
        () => import('./webhook/listen.js').then((it) => it.webhookListen),
      ],
      ['webhook consumers', 'manage consumers, the targets to which svcpay forwards events'],
      [
        'webhook consumers list',
        'list each consumer, its waiting events, and when a receiver last ran for it',
        () => import('./webhook/consumers.js').then((it) => it.webhookConsumersList),
      ],
      [
        'webhook consumers rename',
        'rename a consumer, which keeps its waiting events',
        () => import('./webhook/consumers.js').then((it) => it.webhookConsumersRename),
      ],
      [
        'webhook consumers remove',
        'remove a consumer and drop its waiting events',
        () => import('./webhook/consumers.js').then((it) => it.webhookConsumersRemove),
      ],
      [
        'webhook verify',
        'verify a signature, or explain why it is wrong',
        () => import('./webhook/verify.js').then((it) => it.webhookVerify),
      ],
      [
        'webhook sign',
        'sign a body as the service does',
        () => import('./webhook/verify.js').then((it) => it.webhookSign),
      ],
      [
        'webhook replay',
        'send stored events again',
        () => import('./webhook/replay.js').then((it) => it.webhookReplay),
      ],
      [
        'webhook trigger',
        'trigger an event in the sandbox, or send an event to a URL',
        () => import('./webhook/trigger.js').then((it) => it.webhookTrigger),
      ],
      ['sandbox', 'run the whole service locally'],
      [
        'sandbox start',
        'run the sandbox as a server',
        () => import('./sandbox/start.js').then((it) => it.sandboxStart),
      ],
      [
        'sandbox run',
        'run a command with a fresh sandbox',
        () => import('./sandbox/run.js').then((it) => it.sandboxRun),
      ],
      [
        'sandbox status',
        'show the contents of the sandbox',
        () => import('./sandbox/snapshot.js').then((it) => it.sandboxStatus),
      ],
      [
        'sandbox fund',
        'add money to a wallet',
        () => import('./sandbox/sandbox.js').then((it) => it.sandboxFund),
      ],
      [
        'sandbox pay',
        'pay an invoice or address as an external payer',
        () => import('./sandbox/sandbox.js').then((it) => it.sandboxPay),
      ],
      [
        'sandbox invoice',
        'create an invoice of an external recipient, which you can pay',
        () => import('./sandbox/sandbox.js').then((it) => it.sandboxInvoice),
      ],
      [
        'sandbox mine',
        'mine blocks to confirm on-chain payments',
        () => import('./sandbox/sandbox.js').then((it) => it.sandboxMine),
      ],
      ['sandbox clock', 'show, advance and stop the sandbox clock'],
      [
        'sandbox clock show',
        'show the sandbox time',
        () => import('./sandbox/clock.js').then((it) => it.sandboxClockShow),
      ],
      [
        'sandbox clock advance',
        'advance the sandbox clock and run everything due',
        () => import('./sandbox/clock.js').then((it) => it.sandboxClockAdvance),
      ],
      [
        'sandbox clock freeze',
        'stop the sandbox clock',
        () => import('./sandbox/clock.js').then((it) => it.sandboxClockFreeze),
      ],
      [
        'sandbox clock thaw',
        'let the stopped sandbox clock run again',
        () => import('./sandbox/clock.js').then((it) => it.sandboxClockThaw),
      ],
      ['sandbox fault', 'inject faults'],
      [
        'sandbox fault add',
        'add a fault',
        () => import('./sandbox/fault.js').then((it) => it.sandboxFaultAdd),
      ],
      [
        'sandbox fault list',
        'list faults',
        () => import('./sandbox/fault.js').then((it) => it.sandboxFaultList),
      ],
      [
        'sandbox fault clear',
        'remove one fault, or all faults',
        () => import('./sandbox/fault.js').then((it) => it.sandboxFaultClear),
      ],
      [
        'sandbox log',
        'list requests and responses',
        () => import('./sandbox/log.js').then((it) => it.sandboxLog),
      ],
      [
        'sandbox deliveries',
        'list past and pending webhook deliveries',
        () => import('./sandbox/log.js').then((it) => it.sandboxDeliveries),
      ],
      ['sandbox snapshot', 'save and restore sandbox states'],
      [
        'sandbox snapshot save',
        'save the current state under a name',
        () => import('./sandbox/snapshot.js').then((it) => it.sandboxSnapshotSave),
      ],
      [
        'sandbox snapshot load',
        'restore a saved state',
        () => import('./sandbox/snapshot.js').then((it) => it.sandboxSnapshotLoad),
      ],
      [
        'sandbox snapshot list',
        'list saved states',
        () => import('./sandbox/snapshot.js').then((it) => it.sandboxSnapshotList),
      ],
      [
        'sandbox snapshot remove',
        'remove a saved state',
        () => import('./sandbox/snapshot.js').then((it) => it.sandboxSnapshotRemove),
      ],
      [
        'sandbox reset',
        'reset to a fresh sandbox',
        () => import('./sandbox/snapshot.js').then((it) => it.sandboxReset),
      ],
      [
        'mcp',
        'serve the wallet to agents over the Model Context Protocol',
        () => import('./mcp/mcp.js').then((it) => it.mcp(tree)),
        { ownAccount: true, money: 'depends' },
      ],
      [
        'demo',
        'show the main features in a separate sandbox',
        () => import('./demo/demo.js').then((it) => it.demo),
      ],
    ],
  ],
];

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
  load: () => import('./watch/home.js').then((it) => it.home),
  connections: 4,
  branches: sections.flatMap(([section, rows]) =>
    below('', rows).map((branch) => ({ ...branch, section })),
  ),
};

function below(parent: string, rows: readonly Row[]): readonly Branch[] {
  return rows
    .filter(([path]) => path.startsWith(parent) && !path.slice(parent.length).includes(' '))
    .map(([path, summary, load, attributes]) => {
      const branches = below(`${path} `, rows);
      return {
        name: path.slice(parent.length),
        summary,
        load,
        ...attributes,
        ...(branches.length > 0 && { branches }),
      };
    });
}
