// Shows the sandbox for people and for scripts: its state, clock, snapshots, traffic and faults.
import {
  clockAnswer,
  deliveryStatuses,
  fieldNames,
  invoiceAnswer,
  paidAnswer,
  snapshotAnswer,
  statusAnswer,
  transferAnswer,
  walletAnswer,
  type ClockState,
  type OutsideInvoice,
  type Paid,
  type SandboxAccount,
  type SandboxStatus,
  type SandboxWallet,
  type Snapshot,
  type Transfer,
  deliveryAnswer,
  faultAnswer,
  requestAnswer,
  type Delivery,
  type Fault,
  type LoggedRequest,
} from '../../formats/sandbox/answers.js';
import { fixed, formatAmount, fromWire, money } from '../../formats/amount.js';
import { transactionStates } from '../../formats/states.js';
import { formatDuration } from '../../formats/calendar.js';
import { dateTime, clockTime } from '../time.js';
import { cardLines, type CardLine } from '../cards/card.js';
import { fieldColumns, type ListView, type RecordView, type RowView } from '../rows/view.js';
import { paragraph, sanitize } from '../text.js';
import { stateWord } from '../cards/steps.js';
import { counted } from '../../formats/text.js';

const clockFields = fieldNames(clockAnswer);

export const sandboxStatusView: RecordView<SandboxStatus> = {
  screen: (canvas, status) => [
    ...cardLines(
      labelled({
        Sandbox: status.baseUrl,
        Clock: clockText(status.clock),
        Payer: payerText(status.autoPay),
        Transactions: countsText(inWords(status.transactions)),
        Webhooks: countsText(status.deliveries),
        Faults: status.faults === 0 ? 'none waiting' : `${status.faults} waiting`,
        'To come': status.due === 0 ? 'nothing' : `${status.due} scheduled`,
      }),
      canvas,
    ),
    ...status.accounts.flatMap((account) => ['', ...cardLines(accountDetails(account), canvas)]),
  ],
  columns: fieldColumns([
    'baseUrl',
    'accountId',
    ...clockFields.map((name) => `clock.${name}`),
    'faults',
    'due',
  ]),
  fields: [
    ...fieldNames(statusAnswer),
    ...transactionStates.map((state) => `transactions.${state}`),
    ...deliveryStatuses.map((status) => `deliveries.${status}`),
  ],
  quiet: ({ baseUrl }) => baseUrl,
};

const labelled = (values: Readonly<Record<string, string>>): CardLine[] =>
  Object.entries(values).map(([label, value]) => ({ label, value }));

const amountText = (ccy: string, amount: number): string =>
  formatAmount(money(ccy, fromWire(amount)));

const accountDetails = ({ accountId, accountDisplayName, wallets }: SandboxAccount): CardLine[] => [
  { label: 'Account', value: accountId, note: accountDisplayName },
  ...wallets.map(({ ccy, amount, availableBalance: available }) => ({
    label: '',
    value: amountText(ccy, amount),
    note: available === amount ? undefined : `${amountText(ccy, available)} available`,
  })),
];

function payerText(autoPay: number | 'off'): string {
  if (autoPay === 'off') return 'automatic payment is off: pay with svcpay sandbox pay';
  return `pays requests after ${formatDuration(autoPay)}`;
}

/** Adds up the counts of states that lists show with the same word. */
function inWords(states: Readonly<Record<string, number>>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [txnState, count] of Object.entries(states)) {
    const word = stateWord({ txnState });
    counts[word] = (counts[word] ?? 0) + count;
  }
  return counts;
}

const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ') || 'none';

const clockText = ({ now, frozen }: ClockState): string =>
  `${dateTime(now)}${frozen ? ', frozen' : ''}`;

export const clockView: RecordView<ClockState> = {
  screen: (canvas, clock) => cardLines(labelled({ Clock: clockText(clock) }), canvas),
  columns: fieldColumns(clockFields),
  quiet: ({ now }) => String(now),
};

const snapshotRows: RowView<Snapshot> = {
  columns: [
    { name: 'name', title: 'Name' },
    { name: 'savedAt', title: 'Saved', text: ({ savedAt }) => dateTime(savedAt), priority: 1 },
    {
      name: 'clock',
      title: 'Clock',
      value: ({ clock }) => clock.now,
      text: ({ clock }) => clockText(clock),
    },
    { name: 'transactions', title: 'Transactions', align: 'right', priority: 2 },
  ],
  fields: fieldNames(snapshotAnswer),
  quiet: ({ name }) => name,
};

export const snapshotList: ListView<Snapshot> = {
  ...snapshotRows,
  empty: 'No snapshots yet. Save the current state',
  next: { command: 'sandbox snapshot save NAME' },
};

/** Returns the view of a snapshot. `what` describes what svcpay did with the snapshot. */
export const snapshotView = (what: 'Saved as' | 'Back at'): RecordView<Snapshot> => ({
  ...snapshotRows,
  screen: (canvas, { name, clock }) =>
    cardLines(labelled({ [what]: name, Clock: clockText(clock) }), canvas),
});

export const minedList: ListView<Transfer> = {
  columns: [
    { name: 'id', title: 'ID', priority: 9, below: true },
    { name: 'chain', title: 'Chain' },
    { name: 'confirmations', title: 'Confirmations', align: 'right' },
    { name: 'needed', title: 'Needed', align: 'right' },
  ],
  fields: fieldNames(transferAnswer),
  quiet: ({ id }) => id,
  empty: 'Mined. No transfer was waiting for confirmations.',
};

export const walletText = ({ ccy, amount }: SandboxWallet): string => amountText(ccy, amount);

export const fundedView: RecordView<SandboxWallet> = {
  screen: (_canvas, wallet) => [`  The wallet now holds ${walletText(wallet)}.`],
  columns: fieldColumns(['ccy', 'amount']),
  fields: fieldNames(walletAnswer),
  quiet: ({ amount }) => fixed(fromWire(amount)),
};

export const invoiceView: RecordView<OutsideInvoice> = {
  screen: (_canvas, { invoice }) => [invoice],
  columns: fieldColumns(['invoice']),
  fields: fieldNames(invoiceAnswer),
  quiet: ({ invoice }) => invoice,
};

const paidId = (paid: Paid): string => ('txnId' in paid ? paid.txnId : paid.depositId);

export const paidView: RecordView<Paid> = {
  screen: (_canvas, paid) => [`  ${paidText(paid)}`],
  columns: [
    { name: 'id', title: 'Id', value: paidId },
    {
      name: 'state',
      title: 'State',
      value: (paid) => ('txnState' in paid ? paid.txnState : 'unconfirmed'),
    },
  ],
  fields: paidAnswer.options.flatMap(fieldNames),
  quiet: paidId,
};

function paidText(paid: Paid): string {
  if ('txnId' in paid) return `Paid transaction ${paid.txnId}; it is now ${paid.txnState}.`;
  const deposited = amountText(paid.ccy, paid.amount);
  const confirmations = paid.needed === 1 ? 'one confirmation' : `${paid.needed} confirmations`;
  return `Deposited ${deposited}; the deposit reaches the wallet after ${confirmations}.`;
}

/** Matches a complete id in a path, which a narrow column would cut. */
const wholeIds = /([\da-f]{8})(?:-[\da-f]{4}){3}-[\da-f]{12}/g;

export const requestList: ListView<LoggedRequest> = {
  columns: [
    { name: 'at', title: 'Time', text: ({ at }) => clockTime(at) },
    { name: 'method', title: 'Method' },
    {
      name: 'path',
      title: 'Path',
      text: ({ path }) => path.replaceAll(wholeIds, '$1…'),
      shrinks: true,
    },
    {
      name: 'status',
      title: 'Status',
      text: ({ status }) => (status === 0 ? '–' : String(status)),
      style: (cell, style, { status }) => (status >= 400 ? style.red(cell) : cell),
    },
    {
      name: 'fault',
      title: 'Fault',
      priority: 1,
      style: (cell, style) => style.yellow(cell),
    },
  ],
  fields: fieldNames(requestAnswer),
  quiet: ({ method, path, status }) => `${method} ${path} ${status}`,
  empty: 'No requests yet. Every command that uses the sandbox adds requests.',
};

const deliveryText = ({ status, nextAttemptAt }: Delivery): string =>
  status === 'scheduled' && nextAttemptAt !== null ? `next at ${clockTime(nextAttemptAt)}` : status;

export const deliveryList: ListView<Delivery> = {
  columns: [
    { name: 'id', title: 'ID', align: 'right' },
    { name: 'createdAt', title: 'Time', text: ({ createdAt }) => clockTime(createdAt) },
    { name: 'txnState', title: 'Event' },
    {
      name: 'status',
      title: 'Delivery',
      text: deliveryText,
      style: (cell, style, { status }) =>
        status === 'delivered'
          ? style.green(cell)
          : status === 'failed'
            ? style.red(cell)
            : style.yellow(cell),
    },
    {
      name: 'attempts',
      title: 'Attempts',
      value: ({ attempts }) => attempts.length,
      align: 'right',
      priority: 1,
    },
    { name: 'lastAnswer', title: 'Last answer', value: lastAnswer, priority: 2 },
    { name: 'txnId', title: 'Transaction', priority: 9, below: true },
  ],
  fields: fieldNames(deliveryAnswer),
  quiet: ({ id }) => String(id),
  empty: 'No deliveries yet. To receive events, set a webhook',
  next: { command: 'webhook set URL' },
};

function lastAnswer({ attempts }: Delivery): string | number | null {
  const last = attempts.at(-1);
  return last === undefined ? null : (last.status ?? sanitize(last.error ?? ''));
}

export const faultList: ListView<Fault> = {
  columns: [
    { name: 'id', title: 'ID', align: 'right' },
    { name: 'kind', title: 'Fault' },
    { name: 'how', title: 'How', value: howText, priority: 1 },
    { name: 'strikes', title: 'Applies to', value: whereText },
    {
      name: 'applied',
      title: 'Struck',
      text: ({ applied, times }) =>
        times === 'always' ? `${applied} times` : `${applied} of ${times}`,
      align: 'right',
      style: (cell, style, { spent }) => (spent ? style.dim(cell) : cell),
    },
  ],
  fields: fieldNames(faultAnswer),
  quiet: ({ id }) => String(id),
  empty: 'No faults. Add a fault',
  next: { command: 'sandbox fault add KIND' },
};

export const faultView: RecordView<Fault> = {
  ...faultList,
  screen: (canvas, fault) => {
    const what = [fault.kind, howText(fault)].filter(Boolean).join(' ');
    const text = `Fault ${fault.id}: ${what} applies to ${whereText(fault)}, ${oftenText(fault)}.`;
    return paragraph(text, canvas);
  },
};

function howText(fault: Fault): string {
  return [
    fault.status,
    fault.outcome,
    fault.side,
    fault.factor !== undefined && `times ${fault.factor}`,
    (fault.kind === 'false-state' || fault.kind === 'returned') && fault.state,
    fault.ago && `${delayText(fault.ago)} ago`,
    fault.steps && `${counted(fault.steps, 'state')} ago`,
    fault.commitAfter !== undefined && `carried out ${delayText(fault.commitAfter)} later`,
    fault.delay !== undefined && delayText(fault.delay),
    fault.retryAfter !== undefined && `retry after ${fault.retryAfter} s`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** Formats a duration, in ms for a duration below one second. */
const delayText = (ms: number): string => (ms < 1000 ? `${ms} ms` : formatDuration(ms));

function whereText({ kind, method, path, destination, state }: Fault): string {
  if (kind === 'reference-reuse') return 'create requests';
  if (destination !== undefined)
    return destination === '**' ? 'payments' : `payments to ${destination}`;
  if (kind.startsWith('webhook-')) return state === undefined ? 'events' : `events of ${state}`;
  return [method, path].filter(Boolean).join(' ') || 'requests';
}

function oftenText({ nth, times }: Fault): string {
  const often = times === 'always' ? 'every time' : times === 1 ? 'once' : `${times} times`;
  return nth === 1 ? often : `${often}, from match ${nth} on`;
}
