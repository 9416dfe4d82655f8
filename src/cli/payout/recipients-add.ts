// Puts somebody into the address book for payouts: from flags, asking for what is missing.
import { Failure } from '../../formats/failure.js';
import { changeRecipients, parseRecipientName } from '../../store/profile/profiles.js';
import { back } from '../../terminal/ask/ask.js';
import { recipientList } from '../../terminal/views/payout-lists.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { destinationOnly, readDestination } from './payout-draft.js';
import { completeDestination, openLookUp, recipientRecord, type LookUp } from './payout-flow.js';
import { destinationOptions, missingFlags, type DestinationFlags } from './payout-options.js';
import { askRecipient } from './payout-wizard.js';
import { word } from '../values.js';

export const recipientsAdd = defineCommand({
  arguments: { name: word('NAME', parseRecipientName).describe('what you call them') },
  options: destinationOptions,
  examples: [['svcpay recipients add "Le Van A"', 'asks for the account and the person']],
  async run({ name, ...flags }, context) {
    const { config, ask, out } = context;
    const start = readDestination(flags);
    const missing = missingFlags(start, destinationOptions);
    if (missing.length > 0) ask.demand(missing);
    const lookUp = await openLookUp(context);
    const draft = missing.length === 0 ? start : await askForRest(start, lookUp, context);
    const kept = recipientRecord(await completeDestination(draft, lookUp));
    await changeRecipients(config, (before) => ({ ...before, [name]: kept }));
    const { columns, quiet } = recipientList;
    const screen = (): string[] => [`  ${name} is in your address book.`, `  svcpay payout --recipient ${JSON.stringify(name)}`];
    await out.record({ name, ...kept }, { columns, quiet, screen });
  },
});

async function askForRest(start: DestinationFlags, institutions: LookUp, { ask }: Context): Promise<DestinationFlags> {
  const draft = await askRecipient(destinationOnly(start), { ask: ask.steps, institutions });
  if (draft === back) throw new Failure('declined', 'Nothing was kept: you went back from the first question.');
  return draft;
}
