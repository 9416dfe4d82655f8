// Where journal and inbox are kept, as a table; what was moved, as a record.
import type { ListView, RecordView } from '../rows/view.js';
import { fieldColumns } from '../rows/cell.js';

export interface DatabaseRow {
  readonly part: string;
  readonly place: string;
  /** 0 where there is none yet. */
  readonly version: number;
  readonly needed: number;
}

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
  ],
  quiet: ({ place }) => place,
  empty: '',
};

export const reconciledView = (counts: { read: number; entered: number; open: number }): RecordView<object> => ({
  screen: () => [
    `Entered ${counts.entered} payments that the journal did not have, of ${counts.read} transactions.`,
    ...(counts.open > 0 ? [`Open: ${counts.open}. svcpay tx resume finishes or reports each of them.`] : []),
  ],
  columns: fieldColumns(['read', 'entered', 'open']),
  quiet: () => String(counts.entered),
});

export const movedView = ({ payments, events }: { payments: number; events: number }): RecordView<object> => ({
  screen: () => [`Moved: ${payments} payments and ${events} events. The files stay where they are, and are not used any more.`],
  columns: fieldColumns(['payments', 'events']),
  quiet: () => String(payments),
});
