// Adds a note to a transaction of either direction. Notes are part of its story, and never change.
import { Failure } from '../../formats/failure.js';
import { sanitize } from '../../terminal/sanitize.js';
import { sentenceView } from '../../terminal/views/object-view.js';
import { defineCommand } from '../define.js';
import { record } from '../show.js';
import { text, transaction } from '../values.js';
import { resolveId } from './resolve-id.js';

const longest = 500;

interface Noted {
  readonly txnId: string;
  readonly note: string;
}

export const txNote = defineCommand({
  arguments: {
    id: transaction().describe('id (or its first characters) or reference of a transaction'),
    note: text('TEXT').describe('at most 500 characters'),
  },
  examples: [
    ['svcpay tx note order-118 "invoice 4711"', 'lists, search and exports show the note'],
  ],
  changes: true,
  async run({ id, note: given }, context): Promise<Noted> {
    const note = given.trim();
    if (note === '') throw new Failure('usage', 'Nothing was noted: the text is empty.');
    if (note.length > longest)
      throw new Failure('usage', `Nothing was noted: the text is over ${longest} characters.`);
    const txnId = await resolveId(id, context);
    const { scope } = await context.account();
    await (await context.facts()).note(scope, txnId, note);
    return { txnId, note };
  },
  view: record(
    sentenceView<Noted>(
      ['txnId', 'note'],
      ({ txnId, note }) => `Noted for ${txnId}: ${sanitize(note)}`,
      ({ txnId }) => txnId,
    ),
  ),
});
