// Defines the flags of a payout, one for each answer, collects the known answers from flags,
// address book and profile, and pays the completed payout.
import type { Institution, Kyc, Transaction } from '../../api/types.js';
import { plainLetters, clip } from '../../formats/text.js';
import { countryName, countryCodes, parseCountryCode, parsePhone } from '../../formats/country.js';
import { formatAmount, parseAmount, type Money } from '../../formats/amount.js';
import { ifAvailable, invalid } from '../../formats/failure.js';
import { seenInstitutions } from '../../store/files/seen.js';
import {
  type Party,
  type Recipient,
  findContact,
  type Contacts,
  type Profile,
} from '../../store/profile/profiles.js';
import type { CardLine } from '../../terminal/cards/card.js';
import {
  findInstitution,
  methodOf,
  payeeOf,
  type PayoutMethod,
  instructionOf,
  institutionTypes,
  parseAccountNumber,
  highestCode,
  parseLine,
  countryAt,
  findCountry,
  methodAt,
  methodsIn,
  payoutCountries,
  type PayoutCountry,
  partyTypes,
  readMethod,
} from '../../wallet/payout/methods.js';
import type { Instruction, PayoutDetails } from '../../wallet/instruction/instruction.js';
import type { Context } from '../context.js';
import { runPayment } from '../payment/payment-flow.js';
import { type PaymentFlags, paymentOptions } from '../payment/payment-options.js';
import { type ValuesOf, choice, currency, file, flagName, text, whole, word } from '../values.js';

const partyOptions = (whose: string) => ({
  type: choice(partyTypes)
    .optional()
    .describe(`${whose}: ${partyTypes.join(' or ')}`),
  name: word('NAME', parseLine).optional().describe(`${whose}: full legal or registered name`),
  country: word('CC', parseCountryCode, countryCodes)
    .optional()
    .describe(`${whose}: country, two letters`),
  phone: word('NUMBER', parsePhone).optional().describe(`${whose}: phone number with country code`),
  address: word('TEXT', parseLine).optional().describe(`${whose}: street address`),
});

const code = (what: string) =>
  whole(0, highestCode).optional().describe(`${what}, as a code that the service defines`);

const recipient = partyOptions('the recipient');
const sender = partyOptions('the sender');

export const payoutCountry = () =>
  word(
    'COUNTRY',
    (text) => findCountry(text).code,
    payoutCountries.map(({ code }) => code),
  );

export const destinationOptions = {
  country: payoutCountry()
    .offering(payoutCountries.flatMap(({ code, name }) => [code, name]))
    .optional()
    .describe('country to pay out to'),
  method: word('CODE', readMethod, [...institutionTypes, ...methodsIn().map(({ code }) => code)])
    .optional()
    .describe('payout method, or just mobile or bank (list: svcpay payout methods)'),
  institution: text('CODE')
    .suggesting('institution')
    .optional()
    .describe('bank or mobile wallet (list: svcpay payout institutions COUNTRY)'),
  institutionName: word('NAME', parseLine)
    .optional()
    .describe('name of the institution, if the service does not list it'),
  acctNum: text('NUMBER')
    .optional()
    .describe('account number; for a mobile wallet the phone number'),
  acctName: word('NAME', parseLine).optional().describe('name on the account'),
  recipientType: recipient.type,
  recipientName: recipient.name,
  recipientCountry: recipient.country,
  recipientPhone: recipient.phone,
  recipientAddress: recipient.address,
};

export const answerOptions = {
  ...destinationOptions,
  amount: text('AMOUNT').optional().describe('amount the recipient gets, e.g. 500000vnd'),
  purpose: code('purpose of the payment'),
  source: code('source of the funds'),
  relationship: code('relationship to the recipient'),
  senderType: sender.type,
  senderName: sender.name,
  senderCountry: sender.country,
  senderPhone: sender.phone,
  senderAddress: sender.address,
};

export const payoutOptions = {
  recipient: text('NAME')
    .suggesting('contact')
    .optional()
    .describe('a contact with an account, as shown by svcpay contacts list'),
  ...answerOptions,
  from: currency()
    .optional()
    .describe(
      'wallet that pays (default BTC); svcpay converts to the payout currency at the quoted rate',
    ),
  fromFile: file()
    .optional()
    .describe(
      "read the payout from FILE, as the JSON body of the service's create request; - for stdin",
    ),
  ...paymentOptions,
};

export type PayoutFlags = ValuesOf<typeof payoutOptions>;
export type PayoutFlag = keyof PayoutFlags;
export type DestinationFlags = ValuesOf<typeof destinationOptions>;
export type PayoutAnswers = Pick<PayoutFlags, 'recipient' | keyof typeof answerOptions>;

type Answers = Partial<ValuesOf<typeof answerOptions>>;
type AnswerName = keyof Answers;

/**
 * The known answers of a payout, as flags state the answers. An answer is undefined if svcpay does
 * not know it, or if the person skipped an optional question.
 */
export interface Draft extends Answers {
  /** The wallet that pays, by default BTC. */
  readonly from?: string | undefined;
  /** The recipient's name in the address book, or an empty string for a new recipient. */
  readonly chosen?: string | undefined;
  /** The codes of the last payout to the chosen recipient. */
  readonly usedCodes?: Recipient['codes'];
}

const isAnswer = (name: string): name is AnswerName => Object.hasOwn(answerOptions, name);

/** Returns those flags on the command line that `among` contains, such as `--acct-num`. */
export const givenFlags = (flags: Answers, among: object = answerOptions): string[] =>
  Object.keys(among)
    .filter((name) => isAnswer(name) && flags[name] !== undefined)
    .map(flagName);

/** Returns a flag as a person types it, such as `--acct-num NUMBER`. */
export const flagWords = (name: PayoutFlag): string =>
  `${flagName(name)} ${payoutOptions[name].shape.placeholder}`;

/** Returns the names of the missing required answers. */
export function missingAnswers(given: Answers, among: object = answerOptions): AnswerName[] {
  const optional = /^institutionName$|(?:Phone|Address)$/;
  const isPlaced = methodAt(given) !== undefined;
  return Object.keys(among)
    .filter(isAnswer)
    .filter(
      (name) =>
        given[name] === undefined &&
        !optional.test(name) &&
        !(isPlaced && ['country', 'method'].includes(name)),
    );
}

export const missingFlags = (given: Answers, among?: object): string[] =>
  missingAnswers(given, among).map(flagWords);

/**
 * Combines the answers from the flags, the address book and the profile. A flag replaces the answer
 * of the address book or of the profile. Throws Failure `usage` for contradictory answers.
 */
export function readDraft(
  flags: PayoutAnswers & { readonly from?: string | undefined },
  contacts: Contacts,
  keptSender: Profile['sender'],
): Draft {
  const [chosen, kept] =
    flags.recipient === undefined ? [] : knownRecipient(flags.recipient, contacts);
  const given = givenFlags(flags, destinationOptions);
  if (kept !== undefined && given.length > 0)
    throw invalid(`The contact already names the account. Remove ${given.join(', ')}.`);
  // The sender in the profile applies unless a flag names a different sender.
  const isOwn = [undefined, keptSender?.legalFullName].includes(flags.senderName);
  // The address book stores the purpose, source and relationship codes of a recipient's last
  // payout.
  return checkedAnswers({
    ...(isOwn && partyAnswers('sender', keptSender)),
    ...(kept && { ...answersOf(kept), ...kept.codes }),
    ...knownIn(flags),
    chosen,
  });
}

/** Returns only the known answers, which replace other answers. */
export const knownIn = (flags: Answers & Pick<Draft, 'from'>): Draft =>
  Object.fromEntries(
    Object.entries(flags).filter(
      ([name, value]) => (isAnswer(name) || name === 'from') && value !== undefined,
    ),
  );

/**
 * Checks the place, the account number and the amount, as far as svcpay knows them, and adds the
 * currency to the amount.
 */
export function checkedAnswers(draft: Draft): Draft {
  const { acctNum, amount } = draft;
  const method = methodAt(draft);
  return {
    ...draft,
    ...(acctNum !== undefined && method && { acctNum: parseAccountNumber(acctNum, method) }),
    ...(amount !== undefined && { amount: formatAmount(readAmount(amount, countryAt(draft))) }),
  };
}

/**
 * Reads the amount of a payout. The country determines the currency. If the country is unknown, the
 * amount must contain the currency.
 */
export function readAmount(text: string, country: PayoutCountry | undefined): Money {
  if (country !== undefined) return parseAmount(text, country.ccy);
  const bare = /^\d+(\.\d+)?$/.test(text);
  const amount = bare ? undefined : parseAmount(text);
  if (amount !== undefined && payoutCountries.some(({ ccy }) => ccy === amount.ccy)) return amount;
  const currencies = [...new Set(payoutCountries.map(({ ccy }) => ccy))].join(', ');
  const problem = bare ? 'has no currency' : 'is not in a payout currency';
  throw invalid(
    `"${clip(text)}" ${problem}. Payouts are in ${currencies}. ` +
      `Write an amount such as 500000vnd.`,
  );
}

function knownRecipient(name: string, contacts: Contacts): [string, Recipient] {
  const [saved, contact] = findContact(contacts, name, 'usage');
  if (typeof contact !== 'string') return [saved, contact];
  throw invalid(`"${saved}" is a contact for svcpay send, not for payouts.`, {
    next: { do: 'run', command: 'send', argument: saved },
  });
}

/** Converts a recipient of the address book to answers. */
export const answersOf = ({
  party,
  codes: _codes,
  institutionCode,
  ...account
}: Recipient): Draft => ({
  acctName: party.legalFullName,
  ...account,
  institution: institutionCode,
  ...partyAnswers('recipient', party),
});

const partyAnswers = (who: 'recipient' | 'sender', party: Profile['sender'] = {}): Draft => ({
  [`${who}Type`]: party.type,
  [`${who}Name`]: party.legalFullName,
  [`${who}Country`]: party.countryCode,
  [`${who}Phone`]: party.contactNumber,
  [`${who}Address`]: party.address1,
});

/** Returns a party of the payout, or undefined if a required answer about the party is missing. */
export function partyOf(draft: Draft, who: 'recipient' | 'sender'): Party | undefined {
  const [type, legalFullName, countryCode] = [
    draft[`${who}Type`],
    draft[`${who}Name`],
    draft[`${who}Country`],
  ];
  return type && legalFullName && countryCode
    ? {
        type,
        legalFullName,
        countryCode,
        contactNumber: draft[`${who}Phone`],
        address1: draft[`${who}Address`],
      }
    : undefined;
}

export type LookUp = (countryCode: string) => Promise<readonly Institution[]>;

/** Reads the institutions of a country, and caches them for completion. */
export async function institutionsOf(
  countryCode: string,
  { client, home }: Context,
): Promise<readonly Institution[]> {
  const found = await (await client()).institutions(countryCode);
  const names = found.map(({ institutionCode, institutionName }): [string, string] => [
    institutionCode,
    institutionName ?? '',
  ]);
  await seenInstitutions(home, countryCode).update(() => Object.fromEntries(names));
  return found;
}

/**
 * Returns a function that looks up the institutions of each country only once. If the lookup of a
 * country's institutions fails, svcpay does not check the institution codes of the country.
 */
export function openLookUp(context: Context): LookUp {
  const { live, out } = context;
  const byCountry = new Map<string, Promise<readonly Institution[]>>();
  const ask = async (countryCode: string): Promise<readonly Institution[]> => {
    await context.client();
    const found = live.during(
      () => 'Looking up institutions',
      () => institutionsOf(countryCode, context),
    );
    return (
      (await ifAvailable(found, (why) => out.say(`The institution was not checked. ${why}`))) ?? []
    );
  };
  return (countryCode) => {
    const answer = byCountry.get(countryCode) ?? ask(countryCode);
    byCountry.set(countryCode, answer);
    return answer;
  };
}

/** Returns the instruction of a payout. Its institution is not yet checked. */
export function completePayout(draft: Draft, note?: string): Instruction {
  const { from = 'BTC', purpose, source, relationship } = draft;
  const { method, country: _country, party, ...reqDetails } = recipientIn(draft);
  const sender = partyOf(draft, 'sender');
  if (
    !sender ||
    draft.amount === undefined ||
    purpose === undefined ||
    source === undefined ||
    relationship === undefined
  )
    throw incomplete();
  const amount = readAmount(draft.amount, countryAt(draft));
  const details = {
    sourceReq: { ccy: from, method: 'servicepay', reqDetails: {}, kyc: kycOf(sender) },
    destReq: { ccy: amount.ccy, method, reqDetails, kyc: kycOf(party) },
    sourceOfFunds: { purpose, source, relationship },
  };
  return instructionOf(details, amount, note);
}

const kycOf = ({ type, ...details }: Party): Kyc => ({ type, details });

function recipientIn(draft: Draft): Recipient & { readonly acctName: string } {
  const { institution, institutionName, acctNum, acctName } = draft;
  const method = methodAt(draft);
  const party = partyOf(draft, 'recipient');
  if (!method || institution === undefined || acctNum === undefined || !acctName || !party)
    throw incomplete();
  return {
    method: method.code,
    country: method.country.code,
    institutionCode: institution,
    institutionName,
    acctNum: parseAccountNumber(acctNum, method),
    acctName,
    party,
  };
}

const incomplete = (): Error => new Error('The payout lacks a required answer.');

/** Returns the recipient as the address book stores it, with the institution checked. */
export async function completeRecipient(draft: Draft, lookUp: LookUp): Promise<Recipient> {
  const recipient = recipientIn(draft);
  return { ...recipient, ...(await institutionIn(methodAt(draft), recipient, lookUp)) };
}

/**
 * Replaces the name of the institution by the name in the service's list, so that an instruction of
 * somebody else cannot name a false institution, or lack the name. Throws Failure `usage` for an
 * institution that cannot receive the payout.
 */
export async function withInstitution(
  instruction: Instruction,
  lookUp: LookUp,
): Promise<Instruction> {
  const { payout } = instruction;
  if (payout === undefined) return instruction;
  const { destReq } = payout;
  const named = await institutionIn(methodOf(destReq), payeeOf(payout), lookUp);
  const reqDetails = { ...destReq.reqDetails, ...named };
  return { ...instruction, payout: { ...payout, destReq: { ...destReq, reqDetails } } };
}

type Institute = Pick<Recipient, 'institutionCode' | 'institutionName'>;

async function institutionIn(
  method: PayoutMethod | undefined,
  { institutionCode, institutionName }: Institute,
  lookUp: LookUp,
): Promise<Institute | undefined> {
  if (method === undefined || institutionCode === '') return undefined;
  const found = findInstitution(institutionCode, method, await lookUp(method.country.code));
  return { institutionCode: found.code, institutionName: found.name ?? institutionName };
}

/** Runs the payment of a payout. By default, svcpay does not wait for a method that takes days. */
export async function runPayoutInstruction(
  instruction: Instruction,
  flags: PaymentFlags,
  context: Context,
  onSubmitted?: () => void,
): Promise<Transaction> {
  const { payout, note } = instruction;
  const method = payout && methodOf(payout.destReq);
  if (payout === undefined || method === undefined)
    throw invalid('unknown payout method.', { money: 'Not sent' });
  const wait =
    flags.wait ?? (method.takesDays && flags.waitTimeout === undefined ? false : undefined);
  const { name } = payeeOf(payout);
  return runPayment(
    instruction,
    { ...flags, wait },
    {
      about: about(payout, method, flags.note ?? note),
      ended: (gets) => `${name} gets ${formatAmount(gets)}`,
      onSubmitted,
    },
    context,
  );
}

function about(details: PayoutDetails, method: PayoutMethod, note: string | undefined): CardLine[] {
  const { sourceReq, destReq, sourceOfFunds } = details;
  const { name, account, institutionCode, institutionName } = payeeOf(details);
  const [sender, recipient] = [sourceReq, destReq].map(({ kyc }) => kyc?.details);
  const legalName = recipient?.legalFullName;
  const notes = (...parts: readonly (string | undefined)[]): string =>
    parts.filter((part) => part !== undefined).join(' · ');
  const institution =
    institutionName === undefined ? institutionCode : `${institutionName} (${institutionCode})`;
  const codes =
    sourceOfFunds &&
    `purpose ${sourceOfFunds.purpose}, source ${sourceOfFunds.source}, ` +
      `relationship ${sourceOfFunds.relationship}`;
  return [
    {
      label: 'To',
      value: name,
      note: notes(
        recipient && countryName(recipient.countryCode),
        legalName === undefined || plainLetters(legalName) === plainLetters(name)
          ? undefined
          : `legal name ${legalName}`,
      ),
    },
    { label: 'Account', value: `${institution} · ${account}` },
    { label: 'Arrives', value: method.arrives ?? 'not stated by the service', note: method.code },
    {
      label: 'From',
      value: sender?.legalFullName,
      note: notes(sender && countryName(sender.countryCode), `${sourceReq.ccy} wallet`),
    },
    { label: 'Codes', value: codes },
    { label: 'Note', value: note },
  ];
}
