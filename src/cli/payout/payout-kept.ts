// Keeps the answers of the payout wizard: the sender, the recipient, and a payout that the person
// left.
import { formatAmount } from '../../formats/amount.js';
import { Failure, ifAvailable } from '../../formats/failure.js';
import {
  changeContact,
  changeProfile,
  parseContactName,
  savedName,
} from '../../store/profile/profiles.js';
import { back } from '../../terminal/ask/ask.js';
import { commandLine } from '../../terminal/next-step.js';
import type { Context } from '../context.js';
import { leftAtOnce } from '../exit-with.js';
import { readAll } from '../values.js';
import { flagsOf, partyOf, readDraft, type Draft } from './payout-draft.js';
import { completeDestination, recipientRecord, trySaving, type LookUp } from './payout-flow.js';
import { answerOptions, givenFlags, payoutOptions, type PayoutFlags } from './payout-options.js';

/** Asks whether to continue the payout that the person left last, unless flags name a payout. */
export async function askToContinue(
  flags: PayoutFlags,
  context: Context,
): Promise<Draft | undefined> {
  const { ask, config, settings } = context;
  const { leftPayout, contacts } = config.read();
  const isNamed = flags.recipient !== undefined || givenFlags(flags, answerOptions).length > 0;
  if (leftPayout === undefined || leftPayout.baseUrl !== settings.baseUrl || isNamed)
    return undefined;
  const read = async (): Promise<Draft> =>
    readDraft(readAll(payoutOptions, leftPayout.flags), contacts, settings.profile.sender);
  const left = await ifAvailable(read());
  if (left === undefined) return undefined;
  const { chosen, acctName, country, amount } = left;
  const what = [chosen || (acctName ?? country?.name), amount && formatAmount(amount)].filter(
    Boolean,
  );
  const isContinued = await ask.steps.select({
    message: `Continue the payout to ${what.join(', ')}?`,
    flag: 'NAME',
    choices: [
      { value: true, name: 'Continue' },
      { value: false, name: 'Start a new payout', description: 'discards the earlier answers' },
    ],
  });
  if (isContinued === back) throw leftAtOnce(context);
  if (isContinued) return left;
  await forgetLeft(context);
  return undefined;
}

export const forgetLeft = ({ config, out }: Context): Promise<void> =>
  trySaving(out, () => config.update((before) => ({ ...before, leftPayout: undefined })));

/** Keeps the answers of a payout that the person left, so that the next payout can continue it. */
export async function keepLeft(
  left: Draft,
  { config, settings, globals, out }: Context,
): Promise<void> {
  const { baseUrl = '' } = settings;
  await trySaving(out, async () => {
    await config.update((before) => ({ ...before, leftPayout: { baseUrl, flags: flagsOf(left) } }));
    out.say(`  Your answers are kept. Continue: ${commandLine({ command: 'payout' }, globals)}`);
  });
}

/** Saves the answers that the wizard offers to save, in the settings of this home. */
export function keepIn(context: Context, lookUp: LookUp) {
  const { config, settings, globals, out } = context;
  return {
    sender: (draft: Draft) =>
      trySaving(out, () =>
        changeProfile(config, settings.profileName, (before) => ({
          ...before,
          sender: partyOf(draft, 'sender'),
        })),
      ),
    recipient: (name: string, draft: Draft) =>
      trySaving(out, async () => {
        const contact = recipientRecord(await completeDestination(draft, lookUp));
        await changeContact(config, name, () => contact);
        const again = commandLine({ command: 'send', argument: name }, globals);
        out.say(`  Saved in your contacts: ${again}`);
      }),
    parseName(text: string) {
      const name = parseContactName(text);
      if (savedName(config.read().contacts, name) === undefined) return name;
      throw new Failure('usage', `"${name}" is in your contacts already. Write another name.`);
    },
  };
}
