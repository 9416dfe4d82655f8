// What `db status` counts in each part: unfinished payments, and events that wait to be delivered.
import { ifTold } from '../../formats/failure.js';
import type { DatabaseRow } from '../../terminal/views/database-view.js';
import type { Context } from '../context.js';

/** Tables of another version are not read, and missing ones not created. */
export const withFigures = (rows: readonly DatabaseRow[], { journal, events }: Context): Promise<DatabaseRow[]> =>
  Promise.all(
    rows.map(async (row) => {
      if (row.version !== row.needed) return row;
      const read = async () => (row.part === 'journal' ? { unfinished: await (await journal()).unfinished() } : { backlog: await (await events()).backlog() });
      return { ...row, ...(await ifTold(read())) };
    }),
  );
