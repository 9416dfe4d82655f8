// The sandbox for people and for scripts: its state, its clock, and the states that were kept.
import { formatAmount, fromWire, money } from '../../formats/amount.js';
import { formatDuration } from '../../formats/duration.js';
import { factLines, type Fact } from '../cards/card.js';
import { dateTime } from '../time.js';
import type { Column, ListView, RecordView } from '../rows/view.js';

export interface SandboxClock {
  /** Epoch ms. */
  readonly now: number;
  readonly frozen: boolean;
}

interface SandboxWallet {
  readonly ccy: string;
  readonly amount: number;
  readonly availableBalance: number;
}

export interface SandboxAccount {
  readonly accountId: string;
  readonly accountDisplayName: string;
  readonly wallets: readonly SandboxWallet[];
}

export interface SandboxStatus {
  readonly baseUrl: string;
  readonly accountId: string;
  readonly clock: SandboxClock;
  /** Ms until a payment request is paid by itself. */
  readonly autoPay: number | 'off';
  readonly accounts: readonly SandboxAccount[];
  /** How many there are, by state. */
  readonly transactions: Readonly<Record<string, number>>;
  readonly faults: number;
  readonly deliveries: Readonly<Record<string, number>>;
  /** How much is to happen later. */
  readonly due: number;
}

export const sandboxStatusView = (status: SandboxStatus): RecordView<SandboxStatus> => ({
  screen: (canvas) => [
    ...factLines(
      [
        { label: 'Sandbox', value: status.baseUrl },
        { label: 'Clock', value: clockText(status.clock) },
        { label: 'Payer', value: payerText(status.autoPay) },
        { label: 'Transactions', value: countsText(status.transactions) },
        { label: 'Webhooks', value: countsText(status.deliveries) },
        { label: 'Faults', value: status.faults === 0 ? 'none waiting' : `${status.faults} waiting` },
        { label: 'To come', value: status.due === 0 ? 'nothing' : `${status.due} in its time` },
      ],
      canvas,
    ),
    ...status.accounts.flatMap((account) => ['', ...factLines(accountFacts(account), canvas)]),
  ],
  columns: [
    { name: 'baseUrl', title: 'URL', value: ({ baseUrl }) => baseUrl },
    { name: 'accountId', title: 'Account', value: ({ accountId }) => accountId },
    ...clockColumns.map(({ name, title, value }) => ({ name: `clock.${name}`, title, value: ({ clock }: SandboxStatus) => value(clock) })),
    { name: 'faults', title: 'Faults', value: ({ faults }) => faults },
    { name: 'due', title: 'Due', value: ({ due }) => due },
  ],
  quiet: ({ baseUrl }) => baseUrl,
});

function accountFacts({ accountId, accountDisplayName, wallets }: SandboxAccount): Fact[] {
  return [
    { label: 'Account', value: accountId, note: accountDisplayName },
    ...wallets.map(({ ccy, amount, availableBalance }) => {
      const [total, available] = [amount, availableBalance].map((each) => formatAmount(money(ccy, fromWire(each))));
      return { label: '', value: total ?? '', note: total === available ? undefined : `${available} available` };
    }),
  ];
}

function payerText(autoPay: number | 'off'): string {
  if (autoPay === 'off') return 'off: pay with svcpay sandbox pay';
  return `pays what is asked for, ${formatDuration(autoPay)} later`;
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const known = Object.entries(counts).filter(([, count]) => count > 0);
  return known.length === 0 ? 'none' : known.map(([name, count]) => `${count} ${name}`).join(', ');
}

const clockText = ({ now, frozen }: SandboxClock): string => `${dateTime(now)}${frozen ? ', frozen' : ''}`;

const clockColumns: readonly Column<SandboxClock>[] = [
  { name: 'now', title: 'Now', value: ({ now }) => now },
  { name: 'frozen', title: 'Frozen', value: ({ frozen }) => frozen },
];

export const clockFields: readonly string[] = clockColumns.map(({ name }) => name);

export const sandboxClockView = (clock: SandboxClock): RecordView<SandboxClock> => ({
  screen: (canvas) => factLines([{ label: 'Clock', value: clockText(clock) }], canvas),
  columns: clockColumns,
  quiet: ({ now }) => String(now),
});

export interface SandboxSnapshot {
  readonly name: string;
  /** Epoch ms of the machine. */
  readonly savedAt: number;
  readonly clock: SandboxClock;
  readonly transactions: number;
}

const snapshotColumns: readonly Column<SandboxSnapshot>[] = [
  { name: 'name', title: 'Name', value: ({ name }) => name },
  { name: 'savedAt', title: 'Saved', value: ({ savedAt }) => savedAt, text: ({ savedAt }) => dateTime(savedAt), priority: 1 },
  { name: 'clock', title: 'Clock', value: ({ clock }) => clock.now, text: ({ clock }) => clockText(clock) },
  { name: 'transactions', title: 'Transactions', value: ({ transactions }) => transactions, align: 'right', priority: 2 },
];

export const snapshotFields: readonly string[] = [
  ...snapshotColumns.map(({ name }) => name),
  ...clockFields.map((name) => `clock.${name}`),
];

export const snapshotList: ListView<SandboxSnapshot> = {
  columns: snapshotColumns,
  quiet: ({ name }) => name,
  empty: 'No state has been saved. Save one: svcpay sandbox snapshot save NAME',
};

/** `what` was done to it. */
export const snapshotView = (
  what: 'Saved as' | 'Back at', { name, clock }: SandboxSnapshot,
): RecordView<SandboxSnapshot> => ({
  screen: (canvas) => factLines([{ label: what, value: name }, { label: 'Clock', value: clockText(clock) }], canvas),
  columns: snapshotColumns,
  quiet: ({ name }) => name,
});

/** A transfer on a blockchain after blocks were found. */
export interface MinedTransfer {
  readonly id: string;
  readonly chain: string;
  readonly confirmations: number;
  readonly needed: number;
}

export const minedList: ListView<MinedTransfer> = {
  columns: [
    { name: 'id', title: 'ID', value: ({ id }) => id, below: true },
    { name: 'chain', title: 'Chain', value: ({ chain }) => chain },
    { name: 'confirmations', title: 'Confirmations', value: ({ confirmations }) => confirmations, align: 'right' },
    { name: 'needed', title: 'Needed', value: ({ needed }) => needed, align: 'right' },
  ],
  quiet: ({ id }) => id,
  empty: 'The blocks are found; no transfer was waiting for them.',
};
