// The questions of a payout, in order, each of which may be taken back. What is known already is not asked.
import type { Institution } from '../../api/types.js';
import { parseAmount } from '../../formats/amount.js';
import { countryCodes, countryName } from '../../formats/country.js';
import { parsePhone } from '../../formats/phone.js';
import type { Recipient } from '../../store/profile/profiles.js';
import { back, type Ask, type Back, type Choice } from '../../terminal/ask/ask.js';
import { taking, walk, type Step } from '../../terminal/ask/wizard.js';
import { institutionsFor } from '../../wallet/payout/institutions.js';
import { highestCode, parseAccountNumber, parseLine } from '../../wallet/payout/order.js';
import { methodsIn, payoutCountries, type PayoutMethod } from '../../wallet/payout/methods.js';
import { answersOf, recipientOf, senderOf, withCountry, withMethod, type Draft } from './payout-draft.js';
import { destinationOptions, givenFlags } from './payout-options.js';
import { whole } from '../values.js';

export interface WizardDeps {
  readonly ask: Ask['steps'];
  /** The service's look-up; asked once per country. */
  readonly institutions: (countryCode: string) => Promise<readonly Institution[]>;
  readonly recipients: Readonly<Record<string, Recipient>>;
  /** Reads a name for the address book. Throws Failure `usage` for one that cannot be. */
  readonly parseName: (text: string) => string;
  /** Whether to offer to keep what was typed. */
  readonly mayKeep: boolean;
}

type DraftStep = Step<Draft>;

/** Asks for everything a payout still needs; `back` when the person went back from the first question. */
export function askPayout(start: Draft, deps: WizardDeps): Promise<Draft | Back> {
  return walk(start, [
    bookStep(deps),
    ...destinationSteps(start, deps),
    ...senderSteps(start, deps),
    ...fundsSteps(deps),
    amountStep(deps),
    ...keepSteps(start, deps),
  ]);
}

/** Asks for a recipient alone, for the address book. */
export const askRecipient = (start: Draft, deps: Pick<WizardDeps, 'ask' | 'institutions'>): Promise<Draft | Back> =>
  walk(start, destinationSteps(start, deps));

/** Asks for one answer unless it is known, or not wanted. */
function step<K extends keyof Draft>(
  name: K,
  pose: (soFar: Draft) => Promise<Draft[K] | Back>,
  wanted: (soFar: Draft) => boolean = () => true,
): DraftStep {
  return (soFar) =>
    soFar[name] === undefined && wanted(soFar)
      ? taking<Draft[K], Draft>(pose(soFar), (given) => ({ ...soFar, [name]: given }))
      : undefined;
}

const isNew = ({ chosen }: Draft): boolean => chosen === undefined || chosen === '';

function bookStep({ ask, recipients }: WizardDeps): DraftStep {
  const choices: Choice<string>[] = Object.entries(recipients).map(([name, kept]) => ({
    value: name,
    name: `${name}   ${kept.institutionName ?? kept.institutionCode}   ${kept.acctNum}`,
    description: kept.acctName,
  }));
  return (soFar) => {
    if (choices.length === 0 || soFar.chosen !== undefined || givenFlags(soFar, destinationOptions).length > 0) return undefined;
    const question = { message: 'Pay out to', flag: '--recipient NAME', choices: [...choices, { value: '', name: 'Somebody new' }] };
    return taking(ask.search(question), (chosen) => {
      const kept = recipients[chosen];
      return { ...soFar, ...(kept !== undefined && answersOf(kept)), chosen };
    });
  };
}

function destinationSteps(start: Draft, { ask, institutions }: Pick<WizardDeps, 'ask' | 'institutions'>): DraftStep[] {
  return [
    (soFar) =>
      soFar.country === undefined
        ? taking(ask.search(countryQuestion(soFar)), (country) => withCountry(soFar, country))
        : undefined,
    (soFar) =>
      soFar.method === undefined
        ? taking(ask.select(methodQuestion(soFar)), (method) => withMethod(soFar, method))
        : undefined,
    (soFar) => (soFar.institution === undefined ? askInstitution(soFar, { ask, institutions }) : undefined),
    step('acctNum', ({ method }) => {
      const isMobile = method?.institutionType === 'mobile';
      const parse = (text: string): string => (method === undefined ? text : parseAccountNumber(text, method));
      const message = isMobile ? `Mobile number, with +${method.country.callingCode}` : 'Account number';
      return ask.parsed({ message, flag: '--acct-num NUMBER', parse });
    }),
    step('acctName', () =>
      ask.parsed({ message: 'Name on the account', flag: '--acct-name NAME', parse: parseLine })),
    ...partySteps('recipient', recipientOf(start) === undefined, ask),
  ];
}

function countryQuestion({ amount }: Draft) {
  const possible = payoutCountries.filter(({ ccy }) => amount === undefined || amount.ccy === ccy);
  const choices = possible.map((country) => ({
    value: country,
    name: `${country.name} (${country.ccy})`,
    description: methodsIn(country).map(describeMethod).join('; '),
  }));
  return { message: 'Country to pay out to', flag: '--country COUNTRY', choices };
}

const describeMethod = ({ code, arrives }: PayoutMethod): string => (arrives === undefined ? code : `${code}, ${arrives}`);

const methodQuestion = ({ country }: Draft) => ({
  message: 'How',
  flag: '--method CODE',
  choices: methodsIn(country).map((method) => ({
    value: method,
    name: method.institutionType === 'mobile' ? 'Mobile wallet' : 'Bank account',
    description: describeMethod(method),
  })),
});

async function askInstitution(soFar: Draft, { ask, institutions }: Pick<WizardDeps, 'ask' | 'institutions'>): Promise<Draft | Back> {
  const { method } = soFar;
  const known = method === undefined ? [] : institutionsFor(method, await institutions(method.country.code));
  const message = method?.institutionType === 'mobile' ? 'Mobile wallet of' : 'Bank';
  const flag = '--institution CODE';
  if (known.length === 0) {
    const institution = await ask.text({ message: `${message}: its code (the service lists none here)`, flag });
    if (institution === back) return back;
    const parse = optionally(parseLine);
    const name = await ask.parsed({ message: 'Its name, if known', flag: '--institution-name NAME', parse });
    return name === back ? askInstitution(soFar, { ask, institutions }) : { ...soFar, institution, institutionName: name };
  }
  const choices = known.map(({ institutionCode, institutionName }) => ({
    value: institutionCode,
    name: `${institutionName} (${institutionCode})`,
  }));
  return taking(ask.search({ message, flag, choices }), (institution) => ({ ...soFar, institution }));
}

/** A field that may be left empty. */
const optionally = (parse: (text: string) => string) => (text: string): string | undefined =>
  text === '' ? undefined : parse(text);

/** What the service wants to know about a party. What may be left out is asked for only along with the rest. */
function partySteps(party: 'recipient' | 'sender', isAsked: boolean, ask: Ask['steps']): DraftStep[] {
  const [who, whose] = party === 'recipient' ? ['The recipient', "Recipient's"] : ['You, the sender', 'Your'];
  const wanted = (soFar: Draft): boolean => isAsked && (party === 'sender' || isNew(soFar));
  return [
    step(`${party}Type`, () =>
      ask.select({
        message: `${who}:`,
        flag: `--${party}-type individual|business`,
        choices: [
          { value: 'individual', name: 'a person' },
          { value: 'business', name: 'a business' },
        ],
      })),
    step(`${party}Name`, (soFar) => {
      const isBusiness = soFar[`${party}Type`] === 'business';
      const suggested = party === 'recipient' ? soFar.acctName : undefined;
      const message = `${whose} ${isBusiness ? 'registered name' : 'full legal name'}`;
      return ask.parsed({ message, flag: `--${party}-name NAME`, default: suggested, parse: parseLine });
    }),
    step(`${party}Country`, ({ country }) =>
      ask.search({
        message: `${whose} country`,
        flag: `--${party}-country CC`,
        choices: countryChoices(party === 'recipient' ? country?.code : undefined),
      })),
    step(
      `${party}Phone`,
      () =>
        ask.parsed({
          message: `${whose} phone with country code, if known`,
          flag: `--${party}-phone NUMBER`,
          parse: optionally(parsePhone),
        }),
      wanted,
    ),
    step(
      `${party}Address`,
      () =>
        ask.parsed({
          message: `${whose} street address, if known`,
          flag: `--${party}-address TEXT`,
          parse: optionally(parseLine),
        }),
      wanted,
    ),
  ];
}

function countryChoices(first: string | undefined): Choice<string>[] {
  const choices = countryCodes
    .map((code) => ({ value: code, name: `${countryName(code)} (${code})` }))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  return [...choices.filter(({ value }) => value === first), ...choices.filter(({ value }) => value !== first)];
}

const senderSteps = (start: Draft, { ask }: WizardDeps): DraftStep[] =>
  partySteps('sender', senderOf(start) === undefined, ask);

const readCode = whole(0, highestCode).read;

/** The specification does not say what the numbers mean, so that no list can be offered. */
function fundsSteps({ ask }: WizardDeps): DraftStep[] {
  const code = (name: 'purpose' | 'source' | 'relationship', message: string): DraftStep =>
    step(name, () => ask.parsed({ message: `${message}, a code number of the service`, flag: `--${name} N`, parse: readCode }));
  return [
    code('purpose', 'Purpose of the payment'),
    code('source', 'Source of the funds'),
    code('relationship', 'Relationship to the recipient'),
  ];
}

const amountStep = ({ ask }: WizardDeps): DraftStep =>
  step('amount', ({ method }) => {
    const ccy = method?.country.ccy;
    const message = `Amount the recipient gets${ccy === undefined ? '' : `, in ${ccy}`}`;
    return ask.parsed({ message, flag: '--amount AMOUNT', parse: (text) => parseAmount(text, ccy) });
  });

/** Offered for what was typed, not for what was known. */
function keepSteps(start: Draft, { ask, parseName, mayKeep }: WizardDeps): DraftStep[] {
  const typedSender = mayKeep && senderOf(start) === undefined;
  const typedRecipient = mayKeep && (recipientOf(start) === undefined || start.acctNum === undefined);
  return [
    step(
      'keepSender',
      () =>
        ask.select({
          message: 'Keep your own details for the next payout?',
          flag: '--yes',
          choices: [
            { value: true, name: 'Keep them in the profile', description: 'on this machine, readable by you alone' },
            { value: false, name: 'Do not keep them' },
          ],
        }),
      () => typedSender,
    ),
    step(
      'keepAs',
      () =>
        ask.parsed({
          message: 'Keep the recipient in your address book as, if at all',
          flag: '--yes',
          parse: (text) => (text === '' ? '' : parseName(text)),
        }),
      (soFar) => typedRecipient && isNew(soFar),
    ),
  ];
}
