// Where journal and inbox are kept, as a table; what was moved, as a record.
import type { ListView, RecordView } from '../rows/view.js';
import { counted } from '../../formats/text.js';
import type { Backlog } from '../../store/events/event-store.js';
import type { UnfinishedPayments } from '../../store/journal/figures.js';
import { fieldColumns } from '../rows/cell.js';

export interface DatabaseRow {
  readonly part: string;
  readonly place: string;
  /** 0 where there is none yet. */
  readonly version: number;
  readonly needed: number;
  /** Payments that have not ended, by status and age. */
  readonly unfinished?: readonly UnfinishedPayments[];
  /** Events that wait to be delivered. */
  readonly backlog?: readonly Backlog[];
}

const waitingText = ({ unfinished = [], backlog = [] }: DatabaseRow): string =>
  [
    ...['open', 'in-flight', 'unknown'].flatMap((word) => {
      const count = total(unfinished.filter(({ status }) => status === word));
      return count === 0 ? [] : [`${count} ${word}`];
    }),
    ...(backlog.length === 0 ? [] : [`${counted(total(backlog), 'event')} to deliver`]),
  ].join(', ');

const total = (rows: readonly { readonly count: number }[]): number => rows.reduce((sum, { count }) => sum + count, 0);

const stateText = ({ version, needed }: DatabaseRow): string => {
  if (version === 0) return 'made with the first use';
  if (version > needed) return 'of a newer svcpay';
  return version === needed ? 'in order' : 'to be upgraded';
};

export const databaseList: ListView<DatabaseRow> = {
  columns: [
    { name: 'part', title: 'What', value: ({ part }) => part },
    { name: 'place', title: 'Where', value: ({ place }) => place },
    { name: 'version', title: 'Version', value: ({ version }) => version },
    { name: 'needed', title: 'Needed', value: ({ needed }) => needed, text: stateText, priority: 1 },
    { name: 'waiting', title: 'Waiting', value: waitingText, priority: 2 },
  ],
  fields: ['unfinished', 'backlog'],
  quiet: ({ place }) => place,
  empty: '',
};

export const movedView = ({ payments, events }: { payments: number; events: number }): RecordView<object> => ({
  screen: () => [`Moved: ${payments} payments and ${events} events. The files stay where they are, and are not used any more.`],
  columns: fieldColumns(['payments', 'events']),
  quiet: () => String(payments),
});
