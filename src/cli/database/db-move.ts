// Moves the journal and the inbox of this home into the database. What is interrupted is run again.
import { eventsFile, journalFile } from '../../store/files/home.js';
import { movedView } from '../../terminal/views/database-view.js';
import { defineCommand } from '../define.js';
import { isAlive } from '../../store/journal/owner.js';
import { findDatabase, parts } from './db-flow.js';

export const dbMove = defineCommand({
  fields: ['payments', 'events'],
  examples: [['svcpay db move', 'from the files of this home; open payments go on from the database']],
  async run(_values, context) {
    const { home, config, out, owner } = context;
    const { postgres, source } = await findDatabase(context);
    const { prepareTables } = await import('../../store/database/postgres-schema.js');
    const { moveInto } = await import('../../store/database/move.js');
    const { journalIn } = await import('../../store/journal/sqlite-journal.js');
    const { eventsIn } = await import('../../store/events/sqlite-events.js');
    for (const part of await parts()) await prepareTables(postgres, source, part);
    const files = { journal: journalIn(journalFile(home)), inbox: eventsIn(eventsFile(home)) };
    const moved = await moveInto(postgres, files, (each) => isAlive(each, owner));
    await config.update((before) => ({ ...before, journalMovedTo: postgres.where }));
    await out.record(moved, movedView(moved));
  },
});
