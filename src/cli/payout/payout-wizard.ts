// Asks for the unknown answers of a payout in order, and lets the person go back to each question.
import { formatAmount, money, parseAmount, shortAmount, type Money } from '../../formats/amount.js';
import type { KycCodes, Recipient } from '../../store/profile/profiles.js';
import type { Ask } from '../../terminal/ask/ask.js';
import {
  type Back,
  type Choice,
  back,
  taking,
  walk,
  stepFor,
  type Step,
} from '../../terminal/ask/questions.js';
import { worthText, type Form } from '../../terminal/cards/card.js';
import { highestCode, parseAccountNumber, parseLine } from '../../wallet/payout/order.js';
import {
  answersOf,
  partyOf,
  type Draft,
  destinationOptions,
  givenFlags,
  withCountry,
  withMethod,
} from './payout-draft.js';
import { askingUnder } from '../payment/guided.js';
import type { WorthOf } from '../watch/worth.js';
import { whole } from '../values.js';
import type { Institution } from '../../api/types.js';
import { countryCodes, countryName, parsePhone } from '../../formats/country.js';
import {
  institutionsFor,
  accountWords,
  methodsIn,
  payoutCountries,
  type PayoutMethod,
} from '../../wallet/payout/methods.js';

type FormPart = 'Where to' | 'Amount' | 'Account' | 'Recipient' | 'Sender' | 'Codes';

/** A part of the form, and the function that summarizes the answers of the part. */
type PartText = readonly [part: FormPart, tell: (draft: Draft) => string];

/**
 * Returns the form that svcpay shows above the questions of `part`. Without `part`, returns the
 * completed form.
 */
type FormOf = (draft: Draft, part?: FormPart) => Form;

const where: PartText = [
  'Where to',
  ({ country, method }) => listed(country?.name, method && accountWords(method), method?.arrives),
];

const payee: readonly PartText[] = [
  [
    'Account',
    ({ institution, institutionName, acctNum, acctName }) =>
      listed(
        institutionName === undefined ? institution : `${institutionName} (${institution})`,
        acctNum,
        acctName,
      ),
  ],
  ['Recipient', (draft) => partyText(draft, 'recipient')],
];

/**
 * Creates the form of a payout.
 * @param start the answers known before the first question
 */
function payoutForm(start: Draft, worth: WorthOf): FormOf {
  const note = partyOf(start, 'sender') === undefined ? '' : ' (kept)';
  return form('Payout', [
    where,
    [
      'Amount',
      ({ amount, from }) =>
        listed(
          amount === undefined ? undefined : formatAmount(amount),
          amount === undefined ? undefined : costText(worth(amount, from ?? 'BTC')),
          from === undefined ? undefined : `from the ${from} wallet`,
        ),
    ],
    ...payee,
    ['Sender', (draft) => labelled('sender: ', partyText(draft, 'sender'), note)],
    [
      'Codes',
      ({ purpose, source, relationship }) =>
        listed(
          coded('purpose', purpose),
          coded('source', source),
          coded('relationship', relationship),
        ),
    ],
  ]);
}

const recipientForm: FormOf = form('Recipient', [where, ...payee]);

function form(name: string, parts: readonly PartText[]): FormOf {
  return (draft, asked) => {
    const index = parts.findIndex(([part]) => part === asked);
    const lines = parts
      .map(([part, tell]) => ({ text: tell(draft), isDone: part !== asked }))
      .filter(({ text }) => text !== '');
    return {
      title:
        asked === undefined ? name : `${name} · step ${index + 1} of ${parts.length} · ${asked}`,
      known: lines,
    };
  };
}

const listed = (...words: readonly (string | undefined)[]): string =>
  words.filter((word) => word).join(' · ');
const labelled = (before: string, text: string, after: string): string =>
  text === '' ? '' : before + text + after;

function partyText(draft: Draft, who: 'recipient' | 'sender'): string {
  const [kind, country] = [draft[`${who}Type`], draft[`${who}Country`]];
  const named = country === undefined ? undefined : countryName(country);
  return listed(
    kind === 'business' ? kind : undefined,
    draft[`${who}Name`],
    named,
    draft[`${who}Phone`],
    draft[`${who}Address`],
  );
}

const costText = (cost: Money | undefined): string | undefined =>
  cost === undefined ? undefined : `≈ ${shortAmount(cost)}`;

const coded = (name: string, code: number | undefined): string | undefined =>
  code === undefined ? undefined : `${name} ${code}`;

type DraftStep = Step<Draft>;

interface PayoutPrompts {
  readonly ask: Ask['steps'];
  /** The country of the sender of the last payout, or of the locale, as a suggestion. */
  readonly ownCountry?: string | undefined;
  /** Reads the institutions of a country. */
  readonly institutions: (countryCode: string) => Promise<readonly Institution[]>;
}

type PartSteps = readonly [part: FormPart | undefined, steps: readonly DraftStep[]];

export const step = stepFor<Draft>();

export const isNew = ({ chosen }: Draft): boolean => chosen === undefined || chosen === '';

/** @param next the parts between the country and the account */
function destinationSteps(
  start: Draft,
  asking: PayoutPrompts,
  next: readonly PartSteps[] = [],
): PartSteps[] {
  const { ask } = asking;
  const where: DraftStep[] = [
    (soFar, before) =>
      soFar.country === undefined
        ? taking(ask.search({ ...countryQuestion(soFar), default: before?.country }), (country) =>
            withCountry(soFar, country),
          )
        : undefined,
    (soFar, before) =>
      soFar.method === undefined
        ? taking(ask.select({ ...methodQuestion(soFar), default: before?.method }), (method) =>
            withMethod(soFar, method),
          )
        : undefined,
  ];
  const account: DraftStep[] = [
    (soFar, before) =>
      soFar.institution === undefined ? askInstitution(soFar, before, asking) : undefined,
    step('acctNum', ({ method }, before) => {
      const isMobile = method?.institutionType === 'mobile';
      const parse = (text: string): string =>
        method === undefined ? text : parseAccountNumber(text, method);
      const message = isMobile ? 'Mobile number' : 'Account number';
      const example = isMobile ? `of ${method.country.name}` : method?.format.words;
      return ask.parsed({
        message,
        example,
        flag: '--acct-num NUMBER',
        default: before?.acctNum,
        parse,
      });
    }),
    step('acctName', (_soFar, before) =>
      ask.parsed({
        message: 'Name on the account',
        flag: '--acct-name NAME',
        default: before?.acctName,
        parse: parseLine,
      }),
    ),
  ];
  return [
    ['Where to', where],
    ...next,
    ['Account', account],
    ['Recipient', partySteps('recipient', start, asking)],
  ];
}

function countryQuestion({ amount, methodOf }: Draft) {
  const possible = payoutCountries
    .filter(
      (country) =>
        (amount === undefined || amount.ccy === country.ccy) &&
        (methodOf === undefined || methodOf(country) !== undefined),
    )
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  const choices = possible.map((country) => ({
    value: country,
    name: `${country.name} (${country.ccy})`,
    description: methodsIn(country).map(describeMethod).join('; '),
  }));
  return { message: 'Country to pay out to', flag: '--country COUNTRY', choices };
}

const describeMethod = (method: PayoutMethod): string =>
  method.arrives === undefined
    ? accountWords(method)
    : `${accountWords(method)}, ${method.arrives}`;

const methodQuestion = ({ country }: Draft) => ({
  message: 'Pay out to',
  flag: '--method CODE',
  choices: methodsIn(country).map((method) => ({
    value: method,
    name: method.institutionType === 'mobile' ? 'Mobile wallet' : 'Bank account',
    description: [method.code, method.arrives ?? ''].filter((part) => part !== '').join(', '),
  })),
});

async function askInstitution(
  soFar: Draft,
  before: Draft | undefined,
  { ask, institutions }: PayoutPrompts,
): Promise<Draft | Back> {
  const { method } = soFar;
  const listed =
    method === undefined ? [] : institutionsFor(method, await institutions(method.country.code));
  const message = method?.institutionType === 'mobile' ? 'Mobile wallet' : 'Bank';
  const flag = '--institution CODE';
  const earlier = before?.institution;
  if (listed.length === 0) {
    const institution = await ask.text({
      message: 'Code of the bank or mobile wallet (the service has no list for this country)',
      flag,
      default: earlier,
    });
    if (institution === back) return back;
    const parse = optionally(parseLine);
    const name = await ask.parsed({
      message: 'Name of the bank or mobile wallet, if known',
      flag: '--institution-name NAME',
      default: before?.institutionName,
      parse,
    });
    return name === back
      ? askInstitution(soFar, { ...soFar, institution }, { ask, institutions })
      : { ...soFar, institution, institutionName: name };
  }
  const choices = listed
    .map(({ institutionCode, institutionName }) => ({
      value: institutionCode,
      name: `${institutionName} (${institutionCode})`,
    }))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  const nameOf = (code: string) =>
    listed.find(({ institutionCode }) => institutionCode === code)?.institutionName ?? undefined;
  const question = { message, flag, choices, default: earlier };
  return taking(ask.search(question), (institution) => ({
    ...soFar,
    institution,
    institutionName: nameOf(institution),
  }));
}

const optionally =
  (parse: (text: string) => string) =>
  (text: string): string | undefined =>
    text === '' ? undefined : parse(text);

/**
 * Asks for the identity of a party. Asks for the optional answers only if a required answer is
 * missing too.
 */
function partySteps(
  party: 'recipient' | 'sender',
  start: Draft,
  { ask, ownCountry }: PayoutPrompts,
): DraftStep[] {
  const [who, whose] =
    party === 'recipient' ? ['The recipient', "Recipient's"] : ['You, the sender', 'Your'];
  const isAsked = partyOf(start, party) === undefined;
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
      }),
    ),
    step(`${party}Name`, (soFar, before) => {
      const isBusiness = soFar[`${party}Type`] === 'business';
      const suggested =
        before?.[`${party}Name`] ?? (party === 'recipient' ? soFar.acctName : undefined);
      const message = `${whose} ${isBusiness ? 'registered name' : 'full legal name'}`;
      return ask.parsed({
        message,
        flag: `--${party}-name NAME`,
        default: suggested,
        parse: parseLine,
      });
    }),
    step(`${party}Country`, ({ country }, before) =>
      ask.search({
        message: `${whose} country`,
        flag: `--${party}-country CC`,
        choices: countryChoices,
        startsEmpty: true,
        default:
          before?.[`${party}Country`] ?? (party === 'recipient' ? country?.code : ownCountry),
      }),
    ),
    step(
      `${party}Phone`,
      (soFar, before) => {
        const code = soFar[`${party}Country`];
        const country = payoutCountries.find((each) => each.code === code);
        return ask.parsed({
          default: before?.[`${party}Phone`],
          message: `${whose} phone with country code, if known`,
          flag: `--${party}-phone NUMBER`,
          parse: optionally((text) => parsePhone(text, country)),
        });
      },
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

export interface WizardDeps extends PayoutPrompts {
  /** The recipients from the address book and from earlier payouts. */
  readonly known: readonly Choice<PayoutPayee>[];
  /** The labels of the service's numeric codes, and the codes of the last payout. */
  readonly codes: KycCodes;
  readonly takesAnyCode: boolean;
  /** Returns the wallets that hold money, or no wallets until svcpay has read the balances. */
  readonly wallets: () => readonly Choice<string>[];
  readonly worth: WorthOf;
  /** Saves typed answers, or undefined if the wizard does not offer to save them. */
  readonly keep: Keep | undefined;
  /** Called with the answers before each question. */
  readonly onAnswers: (soFar: Draft) => void;
}

interface Keep {
  sender(draft: Draft): Promise<void>;
  /** Saves the recipient as a contact. */
  recipient(name: string, draft: Draft): Promise<void>;
  /** Checks the name of a new contact. Throws Failure `usage` for a name that is in use. */
  parseName(text: string): string;
}

/**
 * Asks the questions of a payout. Resolves with `back` if the person goes back from the first
 * question.
 */
export function askPayout(start: Draft, deps: WizardDeps, before?: Draft): Promise<Draft | Back> {
  const { asking, standing } = underForm(payoutForm(start, deps.worth), deps, deps.onAnswers);
  const { keep } = deps;
  const steps: PartSteps[] = [
    ['Where to', [bookStep(asking)]],
    ...destinationSteps(start, asking, [['Amount', [amountStep(asking)]]]),
    ['Recipient', keep === undefined ? [] : [keepRecipientStep(start, asking, keep)]],
    ['Sender', partySteps('sender', start, asking)],
    ['Sender', keep === undefined ? [] : [keepSenderStep(start, asking, keep)]],
    ['Codes', fundsSteps(asking)],
    [undefined, [walletStep(asking)]],
  ];
  return walk(start, steps.flatMap(standing), before);
}

export function askRecipient(start: Draft, deps: PayoutPrompts): Promise<Draft | Back> {
  const { asking, standing } = underForm(recipientForm, deps);
  return walk(start, destinationSteps(start, asking).flatMap(standing));
}

/**
 * Shows the questions of the wizard below the form. The returned function `standing` wraps the
 * steps of a part, so that each step updates the form before it asks its question.
 */
function underForm<D extends PayoutPrompts>(
  formOf: FormOf,
  deps: D,
  onAnswers?: (soFar: Draft) => void,
) {
  let form: Form | undefined;
  return {
    asking: { ...deps, ask: askingUnder(() => form, deps.ask) },
    standing: ([part, steps]: PartSteps): DraftStep[] =>
      steps.map((step) => (soFar, before) => {
        onAnswers?.(soFar);
        form = formOf(soFar, part);
        return step(soFar, before);
      }),
  };
}

/** A recipient that svcpay can pay, or no recipient for a new one. */
interface PayoutPayee {
  readonly chosen: string;
  readonly kept?: Recipient;
}

const newPayee: PayoutPayee = { chosen: '' };

function bookStep({ ask, known }: WizardDeps): DraftStep {
  return (soFar, before) => {
    if (
      known.length === 0 ||
      soFar.chosen !== undefined ||
      givenFlags(soFar, destinationOptions).length > 0
    )
      return undefined;
    const question = {
      message: 'Pay out to',
      flag: 'NAME',
      choices: known,
      always: [{ value: newPayee, name: 'New recipient' }],
      default: known.find(({ value }) => value.chosen === before?.chosen)?.value,
    };
    return taking(ask.search(question), ({ chosen, kept }) => ({
      ...soFar,
      ...(kept !== undefined && answersOf(kept)),
      usedCodes: kept?.codes,
      chosen,
    }));
  };
}

const readCode = whole(0, highestCode).read;

const another = -1;

/**
 * Asks for the service's numeric codes: purpose, source and relationship. Shows the labels from the
 * profile, and suggests the codes of the last payout.
 */
function fundsSteps({ ask, codes, takesAnyCode }: WizardDeps): DraftStep[] {
  const code = (name: keyof KycCodes, message: string): DraftStep =>
    step(name, async ({ usedCodes, acctName, chosen }, before) => {
      const usedFor = usedCodes?.[name];
      const suggested =
        before?.[name] ?? usedFor ?? codes[name]?.last ?? (takesAnyCode ? 1 : undefined);
      const flag = `--${name} N`;
      const labels = Object.entries(codes[name]?.labels ?? {});
      const choices = labels.map(([number, label]) => ({
        value: Number(number),
        name: `${number}  ${label}`,
      }));
      const picked =
        choices.length === 0
          ? another
          : await ask.search({
              message,
              flag,
              choices: [...choices, { value: another, name: 'Another number' }],
              default: suggested,
            });
      if (picked !== another) return picked;
      const example = takesAnyCode
        ? 'the sandbox accepts any number'
        : usedFor === undefined
          ? "a number from your service's list"
          : `${usedFor} was used last time for ${chosen || acctName}`;
      return ask.parsed({
        message,
        example,
        flag,
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

/** Asks for the paying wallet, unless only one wallet holds money. */
const walletStep =
  ({ ask, wallets }: WizardDeps): DraftStep =>
  (soFar, before) => {
    const choices = wallets();
    if (soFar.from !== undefined || choices.length < 2) return undefined;
    const question = {
      message: 'Pay from',
      flag: '--from CCY',
      choices,
      default: before?.from ?? 'BTC',
    };
    return taking(ask.select(question), (from) => ({ ...soFar, from }));
  };

const amountStep = ({ ask, worth }: WizardDeps): DraftStep =>
  step('amount', ({ method, from = 'BTC' }, before) => {
    const ccy = method?.country.ccy;
    const message = `Amount the recipient gets${ccy === undefined ? '' : `, in ${ccy}`}`;
    const suggested = before?.amount === undefined ? undefined : formatAmount(before.amount);
    const rate = worthText(worth(money(from, 1), ccy));
    return ask.parsed({
      message,
      ...(rate !== '' && { example: `1 ${from} ${rate}` }),
      flag: '--amount AMOUNT',
      default: suggested,
      parse: (text) => parseAmount(text, ccy),
    });
  });

/** Offers to save the recipient that the person has typed, and saves it at once. */
function keepRecipientStep(start: Draft, { ask }: WizardDeps, keep: Keep): DraftStep {
  const isTyped = partyOf(start, 'recipient') === undefined || start.acctNum === undefined;
  const save = async (soFar: Draft, before: Draft | undefined): Promise<Draft | Back> => {
    const chosen = await ask.parsed({
      message: 'Save recipient as (leave empty to skip)',
      flag: '--yes',
      parse: (text) => (text === '' || text === before?.chosen ? text : keep.parseName(text)),
    });
    if (chosen === back) return back;
    if (chosen !== '') await keep.recipient(chosen, soFar);
    return { ...soFar, chosen };
  };
  return (soFar, before) => (isTyped && isNew(soFar) ? save(soFar, before) : undefined);
}

/** Offers to save the sender that the person has typed, and saves it at once. */
function keepSenderStep(start: Draft, { ask }: WizardDeps, keep: Keep): DraftStep {
  const isTyped = partyOf(start, 'sender') === undefined;
  const save = async (soFar: Draft): Promise<Draft | Back> => {
    const isKept = await ask.select({
      message: 'Save your own details for the next payout?',
      flag: '--yes',
      choices: [
        {
          value: true,
          name: 'Save the details in the profile',
          description: 'on this machine, readable only by you',
        },
        { value: false, name: 'Do not save the details' },
      ],
    });
    if (isKept === true) await keep.sender(soFar);
    return isKept === back ? back : soFar;
  };
  return (soFar) => (isTyped ? save(soFar) : undefined);
}
