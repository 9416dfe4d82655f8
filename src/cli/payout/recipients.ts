// The address book for payouts: who is in it, put somebody in from flags or by questions, take somebody out.
import { Failure } from '../../formats/failure.js';
import { changeRecipients, parseRecipientName } from '../../store/profile/profiles.js';
import { back } from '../../terminal/ask/ask.js';
import { shellWord } from '../../terminal/next-step.js';
import { recipientList, recipientFields } from '../../terminal/views/payout-lists.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { leftAtOnce } from '../exit-with.js';
import { answersOf, readDestination, withMethod } from './payout-draft.js';
import { completeDestination, openLookUp, recipientRecord, type LookUp } from './payout-flow.js';
import { destinationOptions, missingFlags, type Destination, type DestinationFlags } from './payout-options.js';
import { askRecipient } from './payout-wizard.js';
import { text, word } from '../values.js';

export const recipientsList = defineCommand({
  examples: [['svcpay recipients list -q', 'the names alone']],
  async run(_values, { config, out }) {
    const { recipients } = config.read();
    const rows = Object.entries(recipients).map(([name, kept]) => ({ name, ...kept }));
    await out.list(rows.toSorted((a, b) => a.name.localeCompare(b.name)), recipientList);
  },
});

export const recipientsAdd = defineCommand({
  fields: recipientFields,
  arguments: { name: word('NAME', parseRecipientName).describe('what you call them') },
  options: destinationOptions,
  examples: [['svcpay recipients add "Le Van A"', 'asks for the account and the person']],
  async run({ name, ...flags }, context) {
    const { config, ask, out } = context;
    const { [name]: earlier } = config.read().recipients;
    const start = earlier === undefined ? readDestination(flags) : changed(answersOf(earlier), flags);
    const missing = missingFlags(start, destinationOptions);
    if (missing.length > 0) ask.demand(missing);
    const lookUp = await openLookUp(context);
    const draft = missing.length === 0 ? start : await askForRest(start, lookUp, context);
    const kept = { ...recipientRecord(await completeDestination(draft, lookUp)), ...(earlier?.codes && { codes: earlier.codes }) };
    await changeRecipients(config, (before) => ({ ...before, [name]: kept }));
    const { columns, quiet } = recipientList;
    const screen = (): string[] => [`  ${name} is in your address book.`, `  svcpay payout --recipient ${shellWord(name)}`];
    await out.record({ name, ...kept }, { columns, quiet, screen });
  },
});

export const recipientsRemove = defineCommand({
  fields: [],
  arguments: { name: text('NAME').suggesting('recipient').describe('as svcpay recipients list shows it') },
  examples: [['svcpay recipients remove "Le Van A"', 'forgets the account and the person; asks first']],
  async run({ name }, { config, out, ask }) {
    if (!Object.hasOwn(config.read().recipients, name)) {
      throw new Failure('not-found', `There is no "${name}" in your address book.`, { hint: 'svcpay recipients list' });
    }
    await ask.agree(`Take ${name} out of your address book?`, 'Nobody was removed.');
    await changeRecipients(config, ({ [name]: _removed, ...others }) => others);
    out.say(`${name} is no longer in your address book.`);
    out.did({ name, removed: true });
  },
});

/** An entry with only the fields changed that were given; another method has other institutions and accounts. */
function changed(kept: Destination, flags: DestinationFlags): Destination {
  const given = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
  const isElsewhere = flags.method !== undefined || flags.country !== undefined;
  const wanted = isElsewhere ? readDestination(flags) : kept;
  const sameMethod = wanted.method?.code === kept.method?.code;
  const account = sameMethod ? {} : { institution: undefined, institutionName: undefined, acctNum: undefined };
  const named = flags.institution === undefined ? {} : { institutionName: undefined };
  return withMethod({ ...kept, ...account, ...named, ...given, country: wanted.country, method: wanted.method, methodOf: wanted.methodOf }, wanted.method);
}

async function askForRest(start: Destination, institutions: LookUp, context: Context): Promise<Destination> {
  const draft = await askRecipient(start, { ask: context.ask.steps, institutions });
  if (draft === back) throw leftAtOnce(context, 'Nothing was kept');
  return draft;
}
