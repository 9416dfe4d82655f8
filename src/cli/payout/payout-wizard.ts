// The questions of a payout, in order, each of which may be taken back. What is known already is not asked.
import type { Institution } from '../../api/types.js';
import { formatAmount, parseAmount } from '../../formats/amount.js';
import { countryCodes, countryName } from '../../formats/country.js';
import { parsePhone } from '../../formats/phone.js';
import type { Recipient } from '../../store/profile/profiles.js';
import { back, type Ask, type Back, type Choice, type Over } from '../../terminal/ask/ask.js';
import { taking, walk, type Step } from '../../terminal/ask/wizard.js';
import { formLines } from '../../terminal/cards/form.js';
import { institutionsFor } from '../../wallet/payout/institutions.js';
import { highestCode, parseAccountNumber, parseLine } from '../../wallet/payout/order.js';
import { methodsIn, payoutCountries, type PayoutMethod } from '../../wallet/payout/methods.js';
import { payoutForm, recipientForm, type FormOf, type Part } from './payout-form.js';
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
type Asking = Pick<WizardDeps, 'ask' | 'institutions'>;

/** Asks for everything a payout still needs; `back` when the person went back from the first question. */
export function askPayout(start: Draft, deps: WizardDeps, before?: Draft): Promise<Draft | Back> {
  const { asking, standing } = underForm(payoutForm(start), deps);
  const steps = [
    bookStep(asking('Where to')),
    ...destinationSteps(start, asking),
    ...partySteps('sender', senderOf(start) === undefined, asking('Sender').ask),
    ...fundsSteps(asking('Codes')),
    amountStep(asking('Amount')),
    ...keepSteps(start, asking()),
  ];
  return walk(start, steps.map(standing), before);
}

/** Asks for a recipient alone, for the address book. */
export function askRecipient(start: Draft, deps: Asking): Promise<Draft | Back> {
  const { asking, standing } = underForm(recipientForm, deps);
  return walk(start, destinationSteps(start, asking).map(standing));
}

type AskingOf<D> = (part?: Part) => D;

interface UnderForm<D> {
  readonly asking: AskingOf<D>;
  /** The same step; while it asks, the form shows what is known before it. */
  readonly standing: (step: DraftStep) => DraftStep;
}

/** Questions under a form that folds what is answered. */
function underForm<D extends Asking>(form: FormOf, deps: D): UnderForm<D> {
  let draft: Draft | undefined;
  return {
    asking: (part) => {
      const over: Over = (canvas) => (draft === undefined ? [] : formLines(form(draft, part), canvas));
      return { ...deps, ask: askingUnder(over, deps.ask) };
    },
    standing: (step) => (soFar, before) => {
      draft = soFar;
      return step(soFar, before);
    },
  };
}

const askingUnder = (over: Over, ask: Ask['steps']): Ask['steps'] => ({
  text: (question) => ask.text({ ...question, over }),
  parsed: (question) => ask.parsed({ ...question, over }),
  select: (question) => ask.select({ ...question, over }),
  search: (question) => ask.search({ ...question, over }),
  secret: (question) => ask.secret({ ...question, over }),
});

/** Asks for one answer unless it is known, or not wanted. */
function step<K extends keyof Draft>(
  name: K,
  question: (soFar: Draft, before: Draft | undefined) => Promise<Draft[K] | Back>,
  wanted: (soFar: Draft) => boolean = () => true,
): DraftStep {
  return (soFar, before) =>
    soFar[name] === undefined && wanted(soFar)
      ? taking<Draft[K], Draft>(question(soFar, before), (given) => ({ ...soFar, [name]: given }))
      : undefined;
}

const isNew = ({ chosen }: Draft): boolean => chosen === undefined || chosen === '';

function bookStep({ ask, recipients }: WizardDeps): DraftStep {
  const choices: Choice<string>[] = Object.entries(recipients).map(([name, kept]) => ({
    value: name,
    name: `${name}   ${kept.institutionName ?? kept.institutionCode}   ${kept.acctNum}`,
    description: kept.acctName,
  }));
  return (soFar, before) => {
    if (choices.length === 0 || soFar.chosen !== undefined || givenFlags(soFar, destinationOptions).length > 0) return undefined;
    const question = {
      message: 'Pay out to',
      flag: '--recipient NAME',
      choices: [...choices, { value: '', name: 'Somebody new' }],
      default: before?.chosen,
    };
    return taking(ask.search(question), (chosen) => {
      const kept = recipients[chosen];
      return { ...soFar, ...(kept !== undefined && answersOf(kept)), chosen };
    });
  };
}

function destinationSteps(start: Draft, asking: AskingOf<Asking>): DraftStep[] {
  const where = asking('Where to');
  const account = asking('Account');
  return [
    (soFar, before) =>
      soFar.country === undefined
        ? taking(where.ask.search({ ...countryQuestion(soFar), default: before?.country }), (country) => withCountry(soFar, country))
        : undefined,
    (soFar, before) =>
      soFar.method === undefined
        ? taking(where.ask.select({ ...methodQuestion(soFar), default: before?.method }), (method) => withMethod(soFar, method))
        : undefined,
    (soFar, before) => (soFar.institution === undefined ? askInstitution(soFar, before, where) : undefined),
    step('acctNum', ({ method }, before) => {
      const isMobile = method?.institutionType === 'mobile';
      const parse = (text: string): string => (method === undefined ? text : parseAccountNumber(text, method));
      const message = isMobile ? 'Mobile number' : 'Account number';
      const example = isMobile ? `with +${method.country.callingCode}` : method?.format.words;
      return account.ask.parsed({ message, example, flag: '--acct-num NUMBER', default: before?.acctNum, parse });
    }),
    step('acctName', (_soFar, before) =>
      account.ask.parsed({ message: 'Name on the account', flag: '--acct-name NAME', default: before?.acctName, parse: parseLine })),
    ...partySteps('recipient', recipientOf(start) === undefined, asking('Recipient').ask),
  ];
}

function countryQuestion({ amount, methodOf }: Draft) {
  const possible = payoutCountries
    .filter((country) => (amount === undefined || amount.ccy === country.ccy) && (methodOf === undefined || methodOf(country) !== undefined))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
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

async function askInstitution(soFar: Draft, before: Draft | undefined, { ask, institutions }: Asking): Promise<Draft | Back> {
  const { method } = soFar;
  const known = method === undefined ? [] : institutionsFor(method, await institutions(method.country.code));
  const message = method?.institutionType === 'mobile' ? 'Mobile wallet of' : 'Bank';
  const flag = '--institution CODE';
  const earlier = before?.institution;
  if (known.length === 0) {
    const institution = await ask.text({ message: `${message}: its code (the service lists none here)`, flag, default: earlier });
    if (institution === back) return back;
    const parse = optionally(parseLine);
    const name = await ask.parsed({ message: 'Its name, if known', flag: '--institution-name NAME', default: before?.institutionName, parse });
    return name === back ? askInstitution(soFar, { ...soFar, institution }, { ask, institutions }) : { ...soFar, institution, institutionName: name };
  }
  const choices = known
    .map(({ institutionCode, institutionName }) => ({ value: institutionCode, name: `${institutionName} (${institutionCode})` }))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  const nameOf = (code: string) => known.find(({ institutionCode }) => institutionCode === code)?.institutionName ?? undefined;
  const question = { message, flag, choices, default: earlier };
  return taking(ask.search(question), (institution) => ({ ...soFar, institution, institutionName: nameOf(institution) }));
}

/** A field that may be left empty. */
const optionally = (parse: (text: string) => string) => (text: string): string | undefined =>
  text === '' ? undefined : parse(text);

/** What the service wants to know about a party. What may be left out is asked for only along with the rest. */
function partySteps(party: 'recipient' | 'sender', isAsked: boolean, ask: Ask['steps']): DraftStep[] {
  const [who, whose] = party === 'recipient' ? ['The recipient', "Recipient's"] : ['You, the sender', 'Your'];
  const wanted = (soFar: Draft): boolean => isAsked && (party === 'sender' || isNew(soFar));
  return [
    step(`${party}Type`, (_soFar, before) =>
      ask.select({
        message: `${who}:`,
        default: before?.[`${party}Type`],
        flag: `--${party}-type individual|business`,
        choices: [
          { value: 'individual', name: 'a person' },
          { value: 'business', name: 'a business' },
        ],
      })),
    step(`${party}Name`, (soFar, before) => {
      const isBusiness = soFar[`${party}Type`] === 'business';
      const suggested = before?.[`${party}Name`] ?? (party === 'recipient' ? soFar.acctName : undefined);
      const message = `${whose} ${isBusiness ? 'registered name' : 'full legal name'}`;
      return ask.parsed({ message, flag: `--${party}-name NAME`, default: suggested, parse: parseLine });
    }),
    step(`${party}Country`, ({ country }, before) =>
      ask.search({
        message: `${whose} country`,
        flag: `--${party}-country CC`,
        choices: countryChoices,
        default: before?.[`${party}Country`] ?? (party === 'recipient' ? country?.code : undefined),
      })),
    step(
      `${party}Phone`,
      (_soFar, before) =>
        ask.parsed({
          default: before?.[`${party}Phone`],
          message: `${whose} phone with country code, if known`,
          flag: `--${party}-phone NUMBER`,
          parse: optionally(parsePhone),
        }),
      wanted,
    ),
    step(
      `${party}Address`,
      (_soFar, before) =>
        ask.parsed({
          default: before?.[`${party}Address`],
          message: `${whose} street address, if known`,
          flag: `--${party}-address TEXT`,
          parse: optionally(parseLine),
        }),
      wanted,
    ),
  ];
}

const countryChoices: readonly Choice<string>[] = countryCodes
  .map((code) => ({ value: code, name: `${countryName(code)} (${code})` }))
  .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));

const readCode = whole(0, highestCode).read;

/** The specification does not say what the numbers mean: what was used for the recipient before is offered again. */
function fundsSteps({ ask, recipients }: WizardDeps): DraftStep[] {
  const code = (name: 'purpose' | 'source' | 'relationship', message: string): DraftStep =>
    step(name, ({ chosen, recipientName }, before) => {
      const known = chosen === undefined || chosen === '' ? undefined : recipients[chosen]?.codes?.[name];
      const used = known === undefined ? '' : `; ${known} was used last time for ${chosen || recipientName}`;
      const suggested = before?.[name] ?? known;
      return ask.parsed({
        message,
        example: `a number: ask the service for its list${used}`,
        flag: `--${name} N`,
        default: suggested === undefined ? undefined : String(suggested),
        parse: readCode,
      });
    });
  return [
    code('purpose', 'Purpose of the payment'),
    code('source', 'Source of the funds'),
    code('relationship', 'Relationship to the recipient'),
  ];
}

const amountStep = ({ ask }: WizardDeps): DraftStep =>
  step('amount', ({ method }, before) => {
    const ccy = method?.country.ccy;
    const message = `Amount the recipient gets${ccy === undefined ? '' : `, in ${ccy}`}`;
    const suggested = before?.amount === undefined ? undefined : formatAmount(before.amount);
    return ask.parsed({ message, flag: '--amount AMOUNT', default: suggested, parse: (text) => parseAmount(text, ccy) });
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
