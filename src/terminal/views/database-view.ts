// Shows the journal and the inbox as a table: where they are stored, whether they are usable, and
// what they contain. Shows the results of `db move` and `db import` as records.
import { fieldColumns, type ListView, type RecordView } from '../rows/view.js';
import { counted, ownReference } from '../../formats/text.js';
import type { Backlog } from '../../store/events/event-store.js';
import { unfinishedStatuses, type UnfinishedPayments } from '../../store/journal/journal.js';
import { sentenceView } from '../cards/card.js';

export interface DatabaseRow {
  readonly part: string;
  readonly place: string;
  /** The version of the tables, or 0 if the tables do not exist yet. */
  readonly version: number;
  readonly needed: number;
  /**
   * The random id of a PostgreSQL database, or null before `db upgrade --new`. SQLite files have no
   * id.
   */
  readonly id?: string | null;
  /**
   * The generation number of the journal, which starts at 1. `db import` increases this
   * number after adding the missing payments to a restored database.
   */
  readonly generation?: number;
  /**
   * Whether the database was restored from a backup and lacks payments. svcpay refuses payments
   * until a reconciliation has added the missing payments to the restored database.
   */
  readonly restored?: boolean;
  /** The number of payments or events. */
  readonly rows?: number;
  /** Whether a trial write succeeded, or undefined if svcpay tried no write. */
  readonly writable?: boolean;
  /** The numbers of unfinished payments by status and age. */
  readonly unfinished?: readonly UnfinishedPayments[];
  /** The backlog of events that wait for delivery. */
  readonly backlog?: readonly Backlog[];
}

const waitingText = ({ unfinished = [], backlog = [] }: DatabaseRow): string =>
  [
    ...unfinishedStatuses.flatMap((word) => {
      const count = total(unfinished.filter(({ status }) => status === word));
      return count === 0 ? [] : [`${count} ${word}`];
    }),
    ...(backlog.length === 0 ? [] : [`${counted(total(backlog), 'event')} to deliver`]),
  ].join(', ');

const total = (rows: readonly { readonly count: number }[]): number =>
  rows.reduce((sum, { count }) => sum + count, 0);

const stateText = ({ id, version, needed, writable, restored }: DatabaseRow): string => {
  if (version === 0)
    return id === undefined ? 'created at first use' : 'created by svcpay db upgrade --new';
  if (version > needed) return 'from a newer svcpay';
  if (version < needed) return 'needs an upgrade';
  if (restored === true) return 'restored: db import';
  return writable === false ? 'cannot be written' : 'ok';
};

export const databaseList: ListView<DatabaseRow> = {
  columns: [
    { name: 'part', title: 'What' },
    { name: 'place', title: 'Where' },
    { name: 'version', title: 'Version' },
    {
      name: 'needed',
      title: 'Needed',
      text: stateText,
      priority: 1,
    },
    {
      name: 'rows',
      title: 'Holds',
      text: ({ part, rows }) =>
        rows === undefined ? '' : counted(rows, part === 'journal' ? 'payment' : 'event'),
      priority: 2,
    },
    {
      name: 'id',
      title: 'Database id',
      priority: 3,
    },
    {
      name: 'generation',
      title: 'Generation',
      priority: 3,
    },
    { name: 'waiting', title: 'Waiting', value: waitingText, priority: 2 },
  ],
  fields: ['restored', 'writable', 'unfinished', 'backlog'],
  quiet: ({ place }) => place,
  empty: '',
};

/** A payment whose trail does not lead to its stored state. */
export const verifiedList: ListView<{
  readonly ref: string;
  readonly txnId: string | null;
  readonly differs: string;
}> = {
  columns: [
    { name: 'ref', title: 'Reference', text: ({ ref }) => ownReference(ref), shrinks: true },
    {
      name: 'differs',
      title: 'What differs',
      below: true,
    },
    { name: 'txnId', title: 'Id', priority: 2, below: true },
  ],
  quiet: ({ txnId, ref }) => txnId ?? ref,
  empty: '',
};

export const movedView = sentenceView<{ readonly payments: number; readonly events: number }>(
  ['payments', 'events'],
  ({ payments, events }) =>
    `Moved ${payments} payments and ${events} events. ` +
    'svcpay keeps the files but no longer uses them.',
  ({ payments }) => String(payments),
);

/** The numbers of transactions that `db import` read and entered, and of unfinished payments. */
export interface ImportCounts {
  readonly read: number;
  readonly entered: number;
  readonly open: number;
}

export const importedView: RecordView<ImportCounts> = {
  screen: (_canvas, { read, entered, open }) => [
    `Imported ${entered} payments that the journal lacked, out of ${read} transactions.`,
    ...(open > 0
      ? [
          `Unfinished payments: ${open}. ` +
            'To finish each payment or report its state: svcpay tx resume',
        ]
      : []),
  ],
  columns: fieldColumns(['read', 'entered', 'open']),
  quiet: ({ entered }) => String(entered),
};
