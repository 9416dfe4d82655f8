// Manages the contacts: destinations of `send`, and accounts for payouts.
import { detectDestination } from '../../formats/destination.js';
import { Failure, orFailure, invalid } from '../../formats/failure.js';
import {
  changeContact,
  findContact,
  parseContactName,
  type Contact,
  type Recipient,
} from '../../store/profile/profiles.js';
import { back, type Step, stepFor, walk } from '../../terminal/ask/questions.js';
import { commandLine } from '../../terminal/next-step.js';
import {
  contactList,
  contactRecord,
  type ListedContact,
} from '../../terminal/views/payout-lists.js';
import { readSend } from '../../wallet/instruction/send.js';
import { methodAt } from '../../wallet/payout/methods.js';
import type { Context } from '../context.js';
import { defineCommand, type Deps, done, list, record } from '../define.js';
import { leftAtOnce } from '../process.js';
import {
  answersOf,
  checkedAnswers,
  destinationOptions,
  givenFlags,
  knownIn,
  missingFlags,
  type DestinationFlags,
  type Draft,
  completeRecipient,
  openLookUp,
} from '../payout/payout-flow.js';
import { recipientQuestions } from '../payout/payout-wizard.js';
import { text, word } from '../values.js';

export const contactsList = defineCommand({
  examples: [['svcpay contacts list -q', 'prints only the names']],
  async run(_inputs, { config }: Deps<'config'>) {
    return Object.entries(config.read().contacts)
      .map(([name, contact]) => listed(name, contact))
      .toSorted((a, b) => a.name.localeCompare(b.name));
  },
  view: list(contactList),
});

const listed = (name: string, contact: Contact): ListedContact =>
  typeof contact === 'string' ? { name, destination: contact } : { name, ...contact };

const name = () => text('NAME').suggesting('contact');

export const contactsShow = defineCommand({
  arguments: { name: name().describe('name, as shown by svcpay contacts list') },
  examples: [['svcpay contacts show "Le Van A"', 'shows account, identity and codes']],
  async run({ name }, { config }: Deps<'config'>) {
    return listed(...findContact(config.read().contacts, name));
  },
  view: record(contactRecord),
});

export const contactsAdd = defineCommand({
  arguments: {
    name: word('NAME', parseContactName).optional().describe('name of the contact'),
    destination: text('DESTINATION')
      .optional()
      .describe('a Lightning Address, an LNURL or a reusable address'),
  },
  options: destinationOptions,
  examples: [
    [
      'svcpay contacts add ada ada@example.com',
      'saves a destination, so that svcpay send ada 10usd works',
    ],
    ['svcpay contacts add "Le Van A"', 'asks for the details of the account to which payouts go'],
  ],
  changes: true,
  async run({ name: given, destination: named, ...flags }, context): Promise<ListedContact> {
    const { config, ask } = context;
    const earlierOf = (name = ''): Recipient | undefined => {
      const { [name]: before } = config.read().contacts;
      return typeof before === 'string' ? undefined : before;
    };
    const isOpen = context.terminal.canPrompt && givenFlags(flags, destinationOptions).length === 0;
    const asked = await walk<Answers>(
      ask.pose,
      { name: given, to: named },
      questions((soFar) => isOpen && earlierOf(soFar.name) === undefined),
    );
    if (asked === back) throw leftAtOnce(context, 'Nothing was saved');
    const { name = '', to: destination } = asked;
    const earlier = earlierOf(name);
    if (destination !== undefined) return addDestination(name, destination, flags, context);
    const start =
      earlier === undefined ? checkedAnswers(flags) : changed(answersOf(earlier), flags);
    const missing = missingFlags(start, destinationOptions);
    if (missing.length > 0) ask.demand(missing);
    await context.client();
    const lookUp = openLookUp(context);
    const { steps, onStep } = recipientQuestions(start, { institutions: lookUp });
    const draft = missing.length === 0 ? start : await walk(ask.pose, start, steps, { onStep });
    if (draft === back) throw leftAtOnce(context, 'Nothing was saved');
    const kept = {
      ...(await completeRecipient(draft, lookUp)),
      ...(earlier?.codes && { codes: earlier.codes }),
    };
    await changeContact(config, name, () => kept);
    return { name, ...kept };
  },
  view: record({ ...contactList, screen: () => [] }),
  adapt: ({ name }, _inputs, { globals }) => ({
    screen: () => [
      `  ${name} is in your contacts.`,
      `  ${commandLine({ command: 'send', argument: name }, globals)}`,
    ],
  }),
});

export const contactsRemove = defineCommand({
  arguments: { name: name().describe('name, as shown by svcpay contacts list') },
  examples: [
    ['svcpay contacts remove "Le Van A"', 'asks for confirmation, then deletes the contact'],
  ],
  changes: true,
  async run({ name: given }, { config, out, ask }: Deps<'config' | 'out' | 'ask'>) {
    const [name] = findContact(config.read().contacts, given);
    await ask.agree(`Remove ${name} from your contacts?`, 'Nothing was removed');
    await changeContact(config, name, () => undefined);
    out.say(`${name} is no longer in your contacts.`);
    return { name, removed: true };
  },
  view: done,
});

interface Answers {
  readonly name: string | undefined;
  readonly isSend?: boolean | undefined;
  /** The destination of `send`, or undefined for a recipient of payouts. */
  readonly to: string | undefined;
}

/** @param isOpen whether the command line leaves open how to pay the contact */
function questions(isOpen: (soFar: Answers) => boolean): Step<Answers>[] {
  const step = stepFor<Answers>();
  const choices = [
    {
      value: false,
      name: 'To a bank account or a mobile wallet',
      description: 'for svcpay payout',
    },
    {
      value: true,
      name: 'To a Lightning Address, an LNURL, or a Bitcoin or USDT address',
      description: 'for svcpay send',
    },
  ];
  return [
    step('name', () => ({
      message: 'Name of the contact',
      flag: 'NAME',
      parse: parseContactName,
    })),
    step(
      'isSend',
      () => ({ message: 'How do you pay this contact?', flag: 'DESTINATION', choices }),
      (soFar) => soFar.to === undefined && isOpen(soFar),
    ),
    step(
      'to',
      () => ({
        message: 'Pay to',
        example: 'e.g. ada@example.com',
        flag: 'DESTINATION',
        parse: (text) => detectDestination(text).text,
      }),
      ({ isSend }) => isSend === true,
    ),
  ];
}

/**
 * Adds a destination of `send` to the address book. Refuses a destination that accepts only one
 * payment.
 */
async function addDestination(
  name: string,
  destination: string,
  flags: DestinationFlags,
  { config, settings, now }: Context,
): Promise<ListedContact> {
  const given = givenFlags(flags, destinationOptions);
  if (given.length > 0)
    throw invalid(`${destination} is a destination of svcpay send. Remove ${given.join(', ')}.`);
  if (/[.:@]/.test(name) || !(orFailure(() => detectDestination(name)) instanceof Failure))
    throw invalid(`"${name}" cannot be a contact's name: it looks like a destination.`);
  const found = detectDestination(destination);
  if (found.kind === 'bolt11' || found.kind === 'bip21') {
    throw invalid(
      'This destination can be paid only once. ' +
        'Save a Lightning Address, an LNURL or a reusable address.',
    );
  }
  readSend({ to: destination }, { network: settings.network, now: now() });
  await changeContact(config, name, () => found.text);
  return { name, destination: found.text };
}

/**
 * Changes the given fields of an address book entry. A change of the payout method removes the
 * institution and the account.
 */
function changed(kept: Draft, flags: DestinationFlags): Draft {
  const { country, method } = flags;
  const isElsewhere = country !== undefined || method !== undefined;
  const place = isElsewhere ? { country, method } : kept;
  const isSame = methodAt(place) === methodAt(kept);
  return checkedAnswers({
    ...kept,
    country: place.country,
    method: place.method,
    ...(!isSame && { institution: undefined, acctNum: undefined }),
    ...((!isSame || flags.institution !== undefined) && { institutionName: undefined }),
    ...knownIn(flags),
  });
}
