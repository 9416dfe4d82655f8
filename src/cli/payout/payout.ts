// Pays out fiat to a bank account or mobile wallet, from flags, from a file, or with questions.
// Lists the payout methods and the institutions of a country.
import type { Transaction } from '../../api/types.js';
import { demandAnswers, paidView } from '../payment/payment-flow.js';
import { Failure, ifAvailable, invalid } from '../../formats/failure.js';
import type { Instruction } from '../../wallet/instruction/instruction.js';
import { journalFirst, named } from '../../wallet/payment/pay.js';
import { readPayoutFile } from '../../wallet/payout/from-file.js';
import type { Context } from '../context.js';
import { defineCommand, record, list } from '../define.js';
import { payeeChoices, readPayees } from '../contacts/payees.js';
import { reference, type PaymentFlags } from '../payment/payment-options.js';
import { guide, walletChoices, type WalletChoice } from '../payment/guided.js';
import {
  payoutCountry,
  readDraft,
  type Draft,
  givenFlags,
  missingFlags,
  payoutOptions,
  type PayoutFlags,
  partyOf,
  runPayoutInstruction,
  completePayout,
  completeRecipient,
  destinationOptions,
  withInstitution,
  openLookUp,
  type LookUp,
  institutionsOf,
} from './payout-flow.js';
import { payoutChanges, payoutQuestions } from './payout-wizard.js';
import { phrase, readAll, word } from '../values.js';
import { readGivenText, leftAtOnce } from '../process.js';
import { readWorth } from '../payment/payment-screen.js';
import {
  changeContact,
  changeProfile,
  parseContactName,
  contactNamed,
} from '../../store/profile/profiles.js';
import { back } from '../../terminal/ask/questions.js';
import type { Output } from '../../terminal/output.js';
import { commandLine } from '../../terminal/next-step.js';
import { countryName, parseCountryCode } from '../../formats/country.js';
import {
  institutionList,
  noInstitutionsText,
  methodList,
} from '../../terminal/views/payout-lists.js';
import { countryAt, payoutCountries, methodsIn } from '../../wallet/payout/methods.js';

const { recipient, ...options } = payoutOptions;

export const payout = defineCommand({
  arguments: {
    recipient,
    gets: phrase('AMOUNT').describe('amount the recipient gets, same as --amount'),
  },
  options,
  changes: true,
  examples: [
    ['svcpay payout', 'asks for everything, one question at a time; Esc goes back'],
    ['svcpay payout "Le Van A" 500000vnd', 'pays out to a contact'],
    [
      'svcpay payout --from-file payout.json --yes --json',
      "pays out from a file with the JSON body of the service's create request",
    ],
    ['svcpay payout methods VN', 'lists the payout methods of one country'],
  ],
  run: ({ gets, amount = gets, ...flags }, context) => runPayout({ ...flags, amount }, context),
  view: record(paidView),
});

/** Pays out to a contact, and asks for missing answers at a terminal. */
export const payContact = (
  recipient: string,
  amount: string | undefined,
  from: string | undefined,
  flags: PaymentFlags,
  context: Context,
): Promise<Transaction> =>
  runPayout({ ...readAll(payoutOptions, {}), ...flags, recipient, amount, from }, context);

/** Runs a payout from its flags, and asks for missing answers at a terminal. */
const runPayout = (flags: PayoutFlags, context: Context): Promise<Transaction> =>
  journalFirst(named(flags.ref), context.journal, () => runPayouts(flags, context));

async function runPayouts(flags: PayoutFlags, context: Context): Promise<Transaction> {
  if (flags.fromFile !== undefined) return payFromFile(flags.fromFile, flags, context);
  const { config, globals, settings } = context;
  const given = readDraft(flags, config.read().contacts, settings.profile.sender);
  const missing = missingFlags(given);
  demandAnswers(missing, flags, context);
  const lookUp = openLookUp(context);
  if (missing.length === 0) return payAndSave(given, flags, lookUp, context);
  const worth = readWorth(context);
  const continued = await askToContinue(flags, context);
  const start = continued ?? given;
  let wallets: readonly WalletChoice[] = [];
  void walletChoices(context).then(
    (all) => (wallets = all.filter(({ isEmpty }) => !isEmpty)),
    () => undefined,
  );
  const payees = (await readPayees(context)).flatMap((each) =>
    typeof each.contact === 'string' ? [] : [{ ...each, kept: each.contact }],
  );
  const wizard = {
    ownCountry: ownCountry(payees[0]?.last, context),
    institutions: lookUp,
    known: await payeeChoices(payees, context),
    codes: settings.profile.codes ?? {},
    takesAnyCode: settings.embedded,
    wallets: () => wallets,
    worth: await worth,
    keep: globals.yes ? undefined : keepIn(context, lookUp),
    onAnswers: (soFar: Draft) => void (left = soFar),
  };
  let left: Draft | undefined;
  const flow = {
    questions: (draft: Draft) => payoutQuestions(draft, wizard),
    run: (draft: Draft) => {
      left = draft;
      return payAndSave(draft, flags, lookUp, context, () => (left = undefined));
    },
    changes: payoutChanges,
  };
  try {
    return await guide(start, flow, flags.ref, context);
  } finally {
    if (left?.amount !== undefined && countryAt(left) !== undefined) await keepLeft(left, context);
    else if (continued !== undefined) await forgetLeft(context);
  }
}

/**
 * Pays a payout. Saves its codes as soon as svcpay has submitted the payment. If the run succeeds
 * without a submission, as with `--quote-only`, saves the codes at the end.
 */
async function payAndSave(
  draft: Draft,
  flags: PaymentFlags,
  lookUp: LookUp,
  context: Context,
  onSubmitted: () => void = () => undefined,
): Promise<Transaction> {
  const instruction = await withInstitution(completePayout(draft), lookUp);
  let saved: Promise<void> | undefined;
  const save = (): void => {
    onSubmitted();
    saved ??= saveCodes(instruction, draft.chosen, context);
  };
  try {
    const txn = await runPayoutInstruction(instruction, flags, context, save);
    // Saves the codes even if this run submitted no payment, for example because an earlier run
    // submitted the payment.
    save();
    return txn;
  } finally {
    await saved;
  }
}

/** Saves the purpose, source and relationship codes in the profile and with the contact. */
async function saveCodes(
  { payout }: Instruction,
  contact: string | undefined,
  { config, settings, out }: Context,
): Promise<void> {
  const codes = payout?.sourceOfFunds;
  if (codes === undefined) return;
  const { purpose, source, relationship } = settings.profile.codes ?? {};
  const used = {
    purpose: { ...purpose, last: codes.purpose },
    source: { ...source, last: codes.source },
    relationship: { ...relationship, last: codes.relationship },
  };
  await trySaving(out, async () => {
    if (Object.hasOwn(config.read().profiles, settings.profileName))
      await changeProfile(config, settings.profileName, (before) => ({ ...before, codes: used }));
    if (contact)
      await changeContact(config, contact, (before) =>
        typeof before === 'object' ? { ...before, codes } : before,
      );
  });
}

/** Warns if the settings cannot be saved, because the payout does not depend on them. */
async function trySaving(out: Output, save: () => Promise<unknown>): Promise<void> {
  try {
    await save();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    out.warn(`Not saved: ${error.message}`);
  }
}

/** Returns the country of the sender of the last payout or, without a payout, of the locale. */
function ownCountry(last: Instruction | undefined, { env }: Context): string | undefined {
  const locale = env['LC_ALL'] ?? env['LANG'] ?? '';
  const sender = last?.payout?.sourceReq.kyc?.details;
  return sender?.countryCode ?? /^[a-z]{2,3}_([A-Z]{2})\b/.exec(locale)?.[1];
}

async function payFromFile(
  file: string,
  flags: PayoutFlags,
  context: Context,
): Promise<Transaction> {
  const others = [
    ...(flags.recipient === undefined ? [] : ['NAME']),
    ...givenFlags(flags),
    ...(flags.from === undefined ? [] : ['--from']),
  ];
  if (others.length > 0)
    throw invalid(`--from-file already contains every answer. Remove ${others.join(', ')}.`);
  const text = await readGivenText(file, context);
  const { instruction, ref } = readPayoutFile(text, context.settings.maker);
  const merged = { ...flags, ref: chooseRef(flags.ref, ref) };
  demandAnswers([], flags, context);
  await withInstitution(instruction, openLookUp(context));
  return runPayoutInstruction(instruction, merged, context);
}

function chooseRef(flag: string | undefined, inFile: string | undefined): string | undefined {
  if (inFile === undefined) return flag;
  const ref = reference().read(inFile);
  if (flag === undefined || flag === ref) return ref;
  throw invalid(`The file has the reference ${ref}, but --ref is ${flag}. Use only one reference.`);
}

/** Asks whether to continue the payout that the person left last, unless flags name a payout. */
async function askToContinue(flags: PayoutFlags, context: Context): Promise<Draft | undefined> {
  const { ask, config, settings } = context;
  const { leftPayout, contacts } = config.read();
  const isNamed = flags.recipient !== undefined || givenFlags(flags).length > 0;
  if (leftPayout === undefined || leftPayout.baseUrl !== settings.baseUrl || isNamed)
    return undefined;
  const read = async (): Promise<Draft> =>
    readDraft(readAll(payoutOptions, leftPayout.flags), contacts, settings.profile.sender);
  const left = await ifAvailable(read());
  if (left === undefined) return undefined;
  const { chosen, acctName, amount } = left;
  const what = [chosen || (acctName ?? countryAt(left)?.name), amount].filter(Boolean);
  const isContinued = await ask.pose({
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

const forgetLeft = ({ config, out }: Context): Promise<void> =>
  trySaving(out, () => config.update((before) => ({ ...before, leftPayout: undefined })));

/** Keeps the answers of a payout that the person left, so that the next payout can continue it. */
async function keepLeft(left: Draft, { config, settings, globals, out }: Context): Promise<void> {
  const { baseUrl = '' } = settings;
  await trySaving(out, async () => {
    await config.update((before) => ({ ...before, leftPayout: { baseUrl, flags: flagsOf(left) } }));
    out.say(`  Your answers are kept. Continue: ${commandLine({ command: 'payout' }, globals)}`);
  });
}

/**
 * Returns the answers as flags, from which {@link readDraft} reads the same answers. The flags of a
 * contact contain only the contact's name.
 */
const flagsOf = ({ chosen, usedCodes: _used, ...answers }: Draft): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ ...answers, recipient: chosen || undefined }).flatMap(([name, value]) =>
      value === undefined || (chosen && Object.hasOwn(destinationOptions, name))
        ? []
        : [[name, String(value)]],
    ),
  );

/** Saves the answers that the wizard offers to save, in the settings of this home. */
function keepIn(context: Context, lookUp: LookUp) {
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
        const contact = await completeRecipient(draft, lookUp);
        await changeContact(config, name, () => contact);
        const again = commandLine({ command: 'send', argument: name }, globals);
        out.say(`  Saved in your contacts: ${again}`);
      }),
    parseName(text: string) {
      const name = parseContactName(text);
      if (contactNamed(config.read().contacts, name) === undefined) return name;
      throw invalid(`"${name}" is in your contacts already. Write another name.`);
    },
  };
}

const countries = payoutCountries.map(({ code }) => code);

export const payoutInstitutions = defineCommand({
  arguments: {
    country: word('COUNTRY', parseCountryCode, countries).describe('two-letter code, e.g. VN'),
  },
  examples: [
    ['svcpay payout institutions VN', 'lists banks and mobile wallets'],
    [
      'svcpay payout institutions VN --json --fields institutionCode',
      'prints the codes, for a script',
    ],
  ],
  run: ({ country }, context) => institutionsOf(country, context),
  view: list(institutionList),
  adapt: (_institutions, { country }) => ({
    empty: noInstitutionsText(countryName(country), countries.includes(country)),
  }),
});

export const payoutMethods = defineCommand({
  arguments: {
    country: payoutCountry().optional().describe('only this country, e.g. VN'),
  },
  examples: [
    ['svcpay payout methods', 'lists all countries'],
    ['svcpay payout methods NG -q', 'prints the codes of one country, for a script'],
  ],
  async run({ country }) {
    return methodsIn({ country }).map(
      ({ code, country: { code: cc, name, ccy }, institutionType, arrives }) => ({
        country: cc,
        countryName: name,
        ccy,
        method: code,
        institutionType,
        arrives: arrives ?? null,
      }),
    );
  },
  view: list(methodList),
});
