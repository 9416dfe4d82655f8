// Shows the sandbox for people and for scripts: its state, its clock, and its snapshots.
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
} from '../../formats/sandbox/answers.js';
import { fixed, formatAmount, fromWire, money } from '../../formats/amount.js';
import { transactionStates } from '../../formats/states.js';
import { formatDuration } from '../../formats/calendar.js';
import { detailLines, type CardDetail } from '../cards/card.js';
import { type Column, fieldColumns, type ListView, type RecordView } from '../rows/view.js';
import { dateTime } from '../time.js';
import { stateWord } from './state-words.js';

const clockFields = fieldNames(clockAnswer);

export const sandboxStatusView: RecordView<SandboxStatus> = {
  screen: (canvas, status) => [
    ...detailLines(
      [
        { label: 'Sandbox', value: status.baseUrl },
        { label: 'Clock', value: clockText(status.clock) },
        { label: 'Payer', value: payerText(status.autoPay) },
        { label: 'Transactions', value: countsText(inWords(status.transactions)) },
        { label: 'Webhooks', value: countsText(status.deliveries) },
        {
          label: 'Faults',
          value: status.faults === 0 ? 'none waiting' : `${status.faults} waiting`,
        },
        { label: 'To come', value: status.due === 0 ? 'nothing' : `${status.due} scheduled` },
      ],
      canvas,
    ),
    ...status.accounts.flatMap((account) => ['', ...detailLines(accountDetails(account), canvas)]),
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

function accountDetails({ accountId, accountDisplayName, wallets }: SandboxAccount): CardDetail[] {
  return [
    { label: 'Account', value: accountId, note: accountDisplayName },
    ...wallets.map(({ ccy, amount, availableBalance }) => {
      const [total, available] = [amount, availableBalance].map((each) =>
        formatAmount(money(ccy, fromWire(each))),
      );
      return {
        label: '',
        value: total ?? '',
        note: total === available ? undefined : `${available} available`,
      };
    }),
  ];
}

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

function countsText(counts: Readonly<Record<string, number>>): string {
  const present = Object.entries(counts).filter(([, count]) => count > 0);
  return present.length === 0
    ? 'none'
    : present.map(([name, count]) => `${count} ${name}`).join(', ');
}

const clockText = ({ now, frozen }: ClockState): string =>
  `${dateTime(now)}${frozen ? ', frozen' : ''}`;

export const clockView: RecordView<ClockState> = {
  screen: (canvas, clock) => detailLines([{ label: 'Clock', value: clockText(clock) }], canvas),
  columns: fieldColumns(clockFields),
  quiet: ({ now }) => String(now),
};

const snapshotColumns: readonly Column<Snapshot>[] = [
  { name: 'name', title: 'Name' },
  {
    name: 'savedAt',
    title: 'Saved',
    text: ({ savedAt }) => dateTime(savedAt),
    priority: 1,
  },
  {
    name: 'clock',
    title: 'Clock',
    value: ({ clock }) => clock.now,
    text: ({ clock }) => clockText(clock),
  },
  {
    name: 'transactions',
    title: 'Transactions',
    align: 'right',
    priority: 2,
  },
];

export const snapshotList: ListView<Snapshot> = {
  columns: snapshotColumns,
  fields: fieldNames(snapshotAnswer),
  quiet: ({ name }) => name,
  empty: 'No snapshots yet. Save the current state',
  next: { command: 'sandbox snapshot save NAME' },
};

/** Returns the view of a snapshot. `what` describes what svcpay did with the snapshot. */
export const snapshotView = (what: 'Saved as' | 'Back at'): RecordView<Snapshot> => ({
  screen: (canvas, { name, clock }) =>
    detailLines(
      [
        { label: what, value: name },
        { label: 'Clock', value: clockText(clock) },
      ],
      canvas,
    ),
  columns: snapshotColumns,
  fields: fieldNames(snapshotAnswer),
  quiet: ({ name }) => name,
});

export const minedList: ListView<Transfer> = {
  columns: [
    { name: 'id', title: 'ID', priority: 9, below: true },
    { name: 'chain', title: 'Chain' },
    {
      name: 'confirmations',
      title: 'Confirmations',
      align: 'right',
    },
    { name: 'needed', title: 'Needed', align: 'right' },
  ],
  fields: fieldNames(transferAnswer),
  quiet: ({ id }) => id,
  empty: 'Mined. No transfer was waiting for confirmations.',
};

export const walletText = ({ ccy, amount }: SandboxWallet): string =>
  formatAmount(money(ccy, fromWire(amount)));

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
  const deposited = formatAmount(money(paid.ccy, fromWire(paid.amount)));
  const confirmations = paid.needed === 1 ? 'one confirmation' : `${paid.needed} confirmations`;
  return `Deposited ${deposited}; the deposit reaches the wallet after ${confirmations}.`;
}
