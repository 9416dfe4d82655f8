// Asks for the unknown answers of a payout in order, and lets the person go back to each question.
// A form above the questions summarizes each answered part of the payout in one line.
import type { Institution } from '../../api/types.js';
import { formatAmount, money, parseAmount, shortAmount } from '../../formats/amount.js';
import { countryCodes, countryName, parsePhone } from '../../formats/country.js';
import type { KycCodes, Recipient } from '../../store/profile/profiles.js';
import {
  anyText,
  back,
  stepFor,
  taking,
  type Back,
  type Choice,
  type ChoiceQuestion,
  type Pose,
  type Questions,
  type Step,
  type TextQuestion,
} from '../../terminal/ask/questions.js';
import { formAbove, worthText } from '../../terminal/cards/card.js';
import {
  accountWords,
  institutionsFor,
  methodsIn,
  payoutCountries,
  type PayoutMethod,
  highestCode,
  parseAccountNumber,
  parseLine,
} from '../../wallet/payout/methods.js';
import type { WorthOf } from '../payment/payment-screen.js';
import { whole } from '../values.js';
import {
  answersOf,
  destinationOptions,
  flagWords,
  givenFlags,
  partyOf,
  withCountry,
  withMethod,
  type Draft,
  type PayoutFlag,
} from './payout-flow.js';

interface PayoutPrompts {
  /** The country of the sender of the last payout, or of the locale, as a suggestion. */
  readonly ownCountry?: string | undefined;
  /** Reads the institutions of a country. */
  readonly institutions: (countryCode: string) => Promise<readonly Institution[]>;
}

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

/** A recipient that svcpay can pay, or no recipient for a new one. */
interface PayoutPayee {
  readonly chosen: string;
  readonly kept?: Recipient;
}

type Part = 'Where to' | 'Amount' | 'Account' | 'Recipient' | 'Sender' | 'Codes';

/** A part of the form, and the function that summarizes the answers of the part. */
type PartText = readonly [part: Part, tell: (draft: Draft) => string];
type PartSteps = readonly [part: Part | undefined, steps: readonly Step<Draft>[]];

/** Returns the questions of a payout. */
export function payoutQuestions(start: Draft, deps: WizardDeps): Questions<Draft> {
  const { keep, onAnswers, worth } = deps;
  const keeping = (step: (keep: Keep) => Step<Draft>): Step<Draft>[] =>
    keep === undefined ? [] : [step(keep)];
  const parts: PartSteps[] = [
    ['Where to', [bookStep(deps)]],
    ...destinationSteps(start, deps, [['Amount', [amountStep(worth)]]]),
    ['Recipient', keeping((keep) => keepRecipientStep(start, keep))],
    ['Sender', partySteps('sender', start, deps)],
    ['Sender', keeping((keep) => keepSenderStep(start, keep))],
    ['Codes', fundsSteps(deps)],
    [undefined, [walletStep(deps)]],
  ];
  return belowForm('Payout', payoutTexts(start, worth), parts, onAnswers);
}

export const recipientQuestions = (start: Draft, deps: PayoutPrompts): Questions<Draft> =>
  belowForm('Recipient', [where, ...payee], destinationSteps(start, deps));

/** Returns the questions of the parts, below a form that names the current part. */
function belowForm(
  name: string,
  texts: readonly PartText[],
  parts: readonly PartSteps[],
  onAnswers?: (soFar: Draft) => void,
): Questions<Draft> {
  const steps = parts.flatMap(([part, steps]) => steps.map((step) => [part, step] as const));
  return {
    steps: steps.map(([, step]) => step),
    onStep(soFar, index) {
      onAnswers?.(soFar);
      const at = texts.findIndex(([part]) => part === steps[index]?.[0]);
      const place = ` · step ${at + 1} of ${texts.length} · ${texts[at]?.[0]}`;
      return formAbove(
        at < 0 ? name : name + place,
        texts.map(([, tell]) => tell(soFar)),
        at,
      );
    },
  };
}

const where: PartText = [
  'Where to',
  ({ country, method }) => listed(country?.name, method && accountWords(method), method?.arrives),
];

const payee: readonly PartText[] = [
  [
    'Account',
    ({ institution, institutionName, acctNum, acctName }) =>
      listed(
        institutionName ? `${institutionName} (${institution})` : institution,
        acctNum,
        acctName,
      ),
  ],
  ['Recipient', (draft) => partyText(draft, 'recipient')],
];

function payoutTexts(start: Draft, worth: WorthOf): PartText[] {
  const note = partyOf(start, 'sender') === undefined ? '' : ' (kept)';
  return [
    where,
    [
      'Amount',
      ({ amount, from }) => {
        const cost = amount && worth(amount, from ?? 'BTC');
        return listed(
          amount && formatAmount(amount),
          cost && `≈ ${shortAmount(cost)}`,
          from && `from the ${from} wallet`,
        );
      },
    ],
    ...payee,
    [
      'Sender',
      (draft) => {
        const text = partyText(draft, 'sender');
        return text && `sender: ${text}${note}`;
      },
    ],
    [
      'Codes',
      (draft) =>
        listed(
          ...codeNames.map((name) =>
            draft[name] === undefined ? undefined : `${name} ${draft[name]}`,
          ),
        ),
    ],
  ];
}

const codeNames = ['purpose', 'source', 'relationship'] as const;

const listed = (...words: readonly (string | undefined)[]): string =>
  words.filter((word) => word).join(' · ');

function partyText(draft: Draft, who: 'recipient' | 'sender'): string {
  const [kind, country] = [draft[`${who}Type`], draft[`${who}Country`]];
  return listed(
    kind === 'business' ? kind : undefined,
    draft[`${who}Name`],
    country && countryName(country),
    draft[`${who}Phone`],
    draft[`${who}Address`],
  );
}

type Unflagged<T> = Omit<TextQuestion<T>, 'flag'> | Omit<ChoiceQuestion<T>, 'flag'>;

const draftStep = stepFor<Draft>();

/** Creates a step for the answer to the flag `name`. */
const step = <K extends keyof Draft & PayoutFlag>(
  name: K,
  question: (soFar: Draft, before: Draft | undefined) => Unflagged<Draft[K]>,
  wanted?: (soFar: Draft) => boolean,
  take?: (soFar: Draft, given: Draft[K]) => Draft,
): Step<Draft> =>
  draftStep(
    name,
    (soFar, before) => ({ flag: flagWords(name), ...question(soFar, before) }),
    wanted,
    take,
  );

const isNew = ({ chosen }: Draft): boolean => chosen === undefined || chosen === '';

/** @param next the parts between the country and the account */
function destinationSteps(
  start: Draft,
  deps: PayoutPrompts,
  next: readonly PartSteps[] = [],
): PartSteps[] {
  return [
    [
      'Where to',
      [
        step('country', countryQuestion, undefined, withCountry),
        step('method', methodQuestion, undefined, withMethod),
      ],
    ],
    ...next,
    [
      'Account',
      [
        (soFar, before, pose) =>
          soFar.institution === undefined ? askInstitution(soFar, before, pose, deps) : undefined,
        step('acctNum', ({ method }) => {
          const isMobile = method?.institutionType === 'mobile';
          return {
            message: isMobile ? 'Mobile number' : 'Account number',
            example: isMobile ? `of ${method.country.name}` : method?.format.words,
            parse: (text) => (method === undefined ? text : parseAccountNumber(text, method)),
          };
        }),
        step('acctName', () => ({ message: 'Name on the account', parse: parseLine })),
      ],
    ],
    ['Recipient', partySteps('recipient', start, deps)],
  ];
}

function countryQuestion({ amount, methodOf }: Draft) {
  const possible = payoutCountries.filter(
    (country) =>
      (amount === undefined || amount.ccy === country.ccy) &&
      (methodOf === undefined || methodOf(country) !== undefined),
  );
  const choices = possible.map((country) => ({
    value: country,
    name: `${country.name} (${country.ccy})`,
    description: methodsIn(country).map(describeMethod).join('; '),
  }));
  return { message: 'Country to pay out to', choices: sorted(choices), isSearch: true } as const;
}

const sorted = <T>(choices: readonly Choice<T>[]): Choice<T>[] =>
  choices.toSorted((a, b) => a.name.localeCompare(b.name, 'en'));

const describeMethod = (method: PayoutMethod): string =>
  method.arrives === undefined
    ? accountWords(method)
    : `${accountWords(method)}, ${method.arrives}`;

const methodQuestion = ({ country }: Draft) => ({
  message: 'Pay out to',
  choices: methodsIn(country).map((method) => ({
    value: method,
    name: method.institutionType === 'mobile' ? 'Mobile wallet' : 'Bank account',
    description: [method.code, method.arrives ?? ''].filter((part) => part !== '').join(', '),
  })),
});

async function askInstitution(
  soFar: Draft,
  before: Draft | undefined,
  pose: Pose,
  deps: PayoutPrompts,
): Promise<Draft | Back> {
  const { method } = soFar;
  const listed =
    method === undefined
      ? []
      : institutionsFor(method, await deps.institutions(method.country.code));
  const [flag, earlier] = [flagWords('institution'), before?.institution];
  if (listed.length === 0) {
    const institution = await pose({
      message: 'Code of the bank or mobile wallet (the service has no list for this country)',
      flag,
      default: earlier,
      parse: anyText,
    });
    if (institution === back) return back;
    const institutionName = await pose({
      message: 'Name of the bank or mobile wallet, if known',
      flag: flagWords('institutionName'),
      default: before?.institutionName,
      parse: optionally(parseLine),
    });
    return institutionName === back
      ? askInstitution(soFar, { ...soFar, institution }, pose, deps)
      : { ...soFar, institution, institutionName };
  }
  const choices = listed.map(({ institutionCode, institutionName }) => ({
    value: { institution: institutionCode, institutionName: institutionName ?? undefined },
    name: `${institutionName} (${institutionCode})`,
  }));
  const question = {
    message: method?.institutionType === 'mobile' ? 'Mobile wallet' : 'Bank',
    flag,
    choices: sorted(choices),
    default: choices.find(({ value }) => value.institution === earlier)?.value,
    isSearch: true,
  } as const;
  return taking(pose(question), (chosen) => ({ ...soFar, ...chosen }));
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
  { ownCountry }: PayoutPrompts,
): Step<Draft>[] {
  const isRecipient = party === 'recipient';
  const [who, whose] = isRecipient ? ['The recipient', "Recipient's"] : ['You, the sender', 'Your'];
  const isAsked = partyOf(start, party) === undefined;
  const wanted = (soFar: Draft): boolean => isAsked && (!isRecipient || isNew(soFar));
  return [
    step(`${party}Type`, () => ({
      message: `${who}:`,
      choices: [
        { value: 'individual', name: 'a person' },
        { value: 'business', name: 'a business' },
      ],
    })),
    step(`${party}Name`, (soFar) => ({
      message: `${whose} ${
        soFar[`${party}Type`] === 'business' ? 'registered name' : 'full legal name'
      }`,
      default: isRecipient ? soFar.acctName : undefined,
      parse: parseLine,
    })),
    step(`${party}Country`, ({ country }) => ({
      message: `${whose} country`,
      choices: countryChoices,
      isSearch: true,
      startsEmpty: true,
      default: isRecipient ? country?.code : ownCountry,
    })),
    step(
      `${party}Phone`,
      (soFar) => {
        const country = payoutCountries.find(({ code }) => code === soFar[`${party}Country`]);
        return {
          message: `${whose} phone with country code, if known`,
          parse: optionally((text) => parsePhone(text, country)),
        };
      },
      wanted,
    ),
    step(
      `${party}Address`,
      () => ({ message: `${whose} street address, if known`, parse: optionally(parseLine) }),
      wanted,
    ),
  ];
}

const countryChoices = sorted(
  countryCodes.map((code) => ({ value: code, name: `${countryName(code)} (${code})` })),
);

const newPayee: PayoutPayee = { chosen: '' };

const bookStep =
  ({ known }: WizardDeps): Step<Draft> =>
  (soFar, before, pose) => {
    const isKnown = soFar.chosen !== undefined || givenFlags(soFar, destinationOptions).length > 0;
    if (known.length === 0 || isKnown) return undefined;
    const question = {
      message: 'Pay out to',
      flag: 'NAME',
      choices: known,
      isSearch: true,
      always: [{ value: newPayee, name: 'New recipient' }],
      default: known.find(({ value }) => value.chosen === before?.chosen)?.value,
    } as const;
    return taking(pose(question), ({ chosen, kept }) => ({
      ...soFar,
      ...(kept !== undefined && answersOf(kept)),
      usedCodes: kept?.codes,
      chosen,
    }));
  };

const readCode = whole(0, highestCode).read;

const another = -1;

/**
 * Asks for the service's numeric codes: purpose, source and relationship. Shows the labels from the
 * profile, and suggests the codes of the last payout.
 */
function fundsSteps({ codes, takesAnyCode }: WizardDeps): Step<Draft>[] {
  const messages = {
    purpose: 'Purpose of the payment',
    source: 'Source of the funds',
    relationship: 'Relationship to the recipient',
  };
  const ask = async (
    name: keyof KycCodes,
    { usedCodes, acctName, chosen }: Draft,
    before: Draft | undefined,
    pose: Pose,
  ): Promise<number | Back> => {
    const usedFor = usedCodes?.[name];
    const suggested =
      before?.[name] ?? usedFor ?? codes[name]?.last ?? (takesAnyCode ? 1 : undefined);
    const asked = { message: messages[name], flag: flagWords(name) };
    const choices = Object.entries(codes[name]?.labels ?? {}).map(([number, label]) => ({
      value: Number(number),
      name: `${number}  ${label}`,
    }));
    const picked =
      choices.length === 0
        ? another
        : await pose({
            ...asked,
            choices: [...choices, { value: another, name: 'Another number' }],
            isSearch: true,
            default: suggested,
          });
    if (picked !== another) return picked;
    const example = takesAnyCode
      ? 'the sandbox accepts any number'
      : usedFor === undefined
        ? "a number from your service's list"
        : `${usedFor} was used last time for ${chosen || acctName}`;
    return pose({ ...asked, example, default: suggested?.toString(), parse: readCode });
  };
  return codeNames.map(
    (name): Step<Draft> =>
      (soFar, before, pose) =>
        soFar[name] === undefined
          ? taking(ask(name, soFar, before, pose), (code) => ({ ...soFar, [name]: code }))
          : undefined,
  );
}

/** Asks for the paying wallet, unless only one wallet holds money. */
const walletStep = ({ wallets }: WizardDeps): Step<Draft> =>
  step(
    'from',
    () => ({ message: 'Pay from', choices: wallets(), default: 'BTC' }),
    () => wallets().length > 1,
  );

const amountStep = (worth: WorthOf): Step<Draft> =>
  step('amount', ({ method, from = 'BTC' }, before) => {
    const ccy = method?.country.ccy;
    const rate = worthText(worth(money(from, 1), ccy));
    return {
      message: `Amount the recipient gets${ccy === undefined ? '' : `, in ${ccy}`}`,
      example: rate === '' ? undefined : `1 ${from} ${rate}`,
      default: before?.amount && formatAmount(before.amount),
      parse: (text) => parseAmount(text, ccy),
    };
  });

/** Offers to save the recipient that the person has typed, and saves it at once. */
function keepRecipientStep(start: Draft, keep: Keep): Step<Draft> {
  const isTyped = partyOf(start, 'recipient') === undefined || start.acctNum === undefined;
  const save = async (
    soFar: Draft,
    before: Draft | undefined,
    pose: Pose,
  ): Promise<Draft | Back> => {
    const chosen = await pose({
      message: 'Save recipient as (leave empty to skip)',
      flag: '--yes',
      parse: (text) => (text === '' || text === before?.chosen ? text : keep.parseName(text)),
    });
    if (chosen === back) return back;
    if (chosen !== '') await keep.recipient(chosen, soFar);
    return { ...soFar, chosen };
  };
  return (soFar, before, pose) => (isTyped && isNew(soFar) ? save(soFar, before, pose) : undefined);
}

/** Offers to save the sender that the person has typed, and saves it at once. */
function keepSenderStep(start: Draft, keep: Keep): Step<Draft> {
  const save = async (soFar: Draft, pose: Pose): Promise<Draft | Back> => {
    const isKept = await pose({
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
  return (soFar, _before, pose) =>
    partyOf(start, 'sender') === undefined ? save(soFar, pose) : undefined;
}
