// Asks for the unknown answers of a payout in order, and lets the person go back to each question.
// A form above the questions summarizes each answered part of the payout in one line.
import type { Institution } from '../../api/types.js';
import { formatAmount, money, shortAmount } from '../../formats/amount.js';
import { countryCodes, countryName, parsePhone } from '../../formats/country.js';
import type { KycCodes, Recipient } from '../../store/profile/profiles.js';
import {
  anyText,
  back,
  stepFor,
  taking,
  type Choice,
  type ChoiceQuestion,
  type Questions,
  type Step,
  type TextQuestion,
} from '../../terminal/ask/questions.js';
import { formAbove, worthText } from '../../terminal/cards/card.js';
import {
  accountWords,
  countryAt,
  institutionsFor,
  methodAt,
  methodsIn,
  payoutCountries,
  type PayoutMethod,
  highestCode,
  parseAccountNumber,
  parseLine,
} from '../../wallet/payout/methods.js';
import type { Changes } from '../payment/guided.js';
import type { WorthOf } from '../payment/payment-screen.js';
import { whole } from '../values.js';
import {
  answersOf,
  destinationOptions,
  flagWords,
  givenFlags,
  partyOf,
  readAmount,
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

/** A part of the payout: its questions and, in the form, its title and a summary of its answers. */
interface Part {
  readonly title?: string;
  readonly tell?: (draft: Draft) => string;
  readonly steps: readonly Step<Draft>[];
}

/** Returns the questions of a payout. */
export function payoutQuestions(start: Draft, deps: WizardDeps): Questions<Draft> {
  const { keep, onAnswers, wallets } = deps;
  const { where, account, recipient } = recipientParts(start, deps);
  return belowForm(
    'Payout',
    [
      { ...where, steps: [bookStep(deps), ...where.steps] },
      amountPart(deps),
      account,
      { ...recipient, steps: [...recipient.steps, keepRecipientStep(start, keep)] },
      senderPart(start, deps),
      {
        title: 'Codes',
        tell: (draft) =>
          listed(
            ...codeNames.map((name) =>
              draft[name] === undefined ? undefined : `${name} ${draft[name]}`,
            ),
          ),
        steps: codeNames.map((name) => codeStep(name, deps)),
      },
      {
        steps: [
          // Asks for the paying wallet, unless only one wallet holds money.
          step(
            'from',
            () => ({ message: 'Pay from', choices: wallets(), default: 'BTC' }),
            () => wallets().length > 1,
          ),
        ],
      },
    ],
    onAnswers,
  );
}

export function recipientQuestions(start: Draft, deps: PayoutPrompts): Questions<Draft> {
  return belowForm('Recipient', Object.values(recipientParts(start, deps)));
}

/** Returns the questions of the parts, below a form that names the current part. */
function belowForm(
  name: string,
  parts: readonly Part[],
  onAnswers?: (soFar: Draft) => void,
): Questions<Draft> {
  const titled = parts.filter(({ title }) => title !== undefined);
  const steps = parts.flatMap((part) => part.steps.map((ask) => ({ part, ask })));
  return {
    steps: steps.map(({ ask }) => ask),
    onStep(soFar, index) {
      onAnswers?.(soFar);
      const at = titled.findIndex((part) => part === steps[index]?.part);
      const place = ` · step ${at + 1} of ${titled.length} · ${titled[at]?.title}`;
      return formAbove(
        at < 0 ? name : name + place,
        titled.map(({ tell }) => tell?.(soFar)),
        at,
      );
    },
  };
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
  question: (soFar: Draft) => Unflagged<Draft[K]>,
  wanted?: (soFar: Draft) => boolean,
): Step<Draft> =>
  draftStep(name, (soFar) => ({ flag: flagWords(name), ...question(soFar) }), wanted);

const isNew = ({ chosen }: Draft): boolean => chosen === undefined || chosen === '';

/** Returns the parts of the form about the account and the identity of the recipient. */
function recipientParts(start: Draft, deps: PayoutPrompts) {
  return {
    where: {
      title: 'Where to',
      tell(draft: Draft) {
        const method = methodAt(draft);
        return listed(countryAt(draft)?.name, method && accountWords(method), method?.arrives);
      },
      steps: [
        step('country', countryQuestion, (soFar) => methodAt(soFar) === undefined),
        step('method', methodQuestion, (soFar) => methodAt(soFar) === undefined),
      ],
    },
    account: {
      title: 'Account',
      tell: ({ institution, institutionName, acctNum, acctName }: Draft) =>
        listed(
          institutionName ? `${institutionName} (${institution})` : institution,
          acctNum,
          acctName,
        ),
      steps: [
        ...institutionSteps(start, deps),
        step('acctNum', (soFar) => {
          const method = methodAt(soFar);
          const isMobile = method?.institutionType === 'mobile';
          return {
            message: isMobile ? 'Mobile number' : 'Account number',
            example: isMobile ? `of ${method.country.name}` : method?.format.words,
            parse: (text) => (method === undefined ? text : parseAccountNumber(text, method)),
          };
        }),
        step('acctName', () => ({ message: 'Name on the account', parse: parseLine })),
      ],
    },
    recipient: {
      title: 'Recipient',
      tell: (draft: Draft) => partyText(draft, 'recipient'),
      steps: partySteps('recipient', start, deps),
    },
  };
}

function countryQuestion({ amount, method }: Draft) {
  const ccy = amount && readAmount(amount, undefined).ccy;
  const choices = payoutCountries.flatMap((country) => {
    const methods = methodsIn({ country: country.code, method });
    return (ccy ?? country.ccy) !== country.ccy || methods.length === 0
      ? []
      : [
          {
            value: country.code,
            name: `${country.name} (${country.ccy})`,
            description: methodsIn({ country: country.code }).map(describeMethod).join('; '),
          },
        ];
  });
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
  choices: methodsIn({ country }).map(({ code, institutionType, arrives }) => ({
    value: code,
    name: institutionType === 'mobile' ? 'Mobile wallet' : 'Bank account',
    description: arrives === undefined ? code : `${code}, ${arrives}`,
  })),
});

/**
 * Asks for the institution from the service's list. If the list is empty, asks for its code and its
 * name.
 */
function institutionSteps(start: Draft, { institutions }: PayoutPrompts): Step<Draft>[] {
  const listedFor = async (draft: Draft): Promise<readonly Institution[]> => {
    const method = methodAt(draft);
    return method ? institutionsFor(method, await institutions(method.country.code)) : [];
  };
  return [
    async (soFar, before, pose) => {
      if (soFar.institution !== undefined) return undefined;
      const [flag, earlier] = [flagWords('institution'), before?.institution];
      const choices = (await listedFor(soFar)).map(({ institutionCode, institutionName }) => ({
        value: { institution: institutionCode, institutionName: institutionName ?? undefined },
        name: `${institutionName} (${institutionCode})`,
      }));
      const given = await pose<Draft>(
        choices.length === 0
          ? {
              message:
                'Code of the bank or mobile wallet (the service has no list for this country)',
              flag,
              default: earlier,
              parse: (text) => ({ institution: anyText(text) }),
            }
          : {
              message: methodAt(soFar)?.institutionType === 'mobile' ? 'Mobile wallet' : 'Bank',
              flag,
              choices: sorted(choices),
              default: choices.find(({ value }) => value.institution === earlier)?.value,
              isSearch: true,
            },
      );
      return given === back ? back : { ...soFar, ...given };
    },
    async (soFar, before, pose) => {
      const isKnown = start.institution !== undefined || soFar.institutionName !== undefined;
      if (isKnown || (await listedFor(soFar)).length > 0) return undefined;
      const name = pose({
        message: 'Name of the bank or mobile wallet, if known',
        flag: flagWords('institutionName'),
        default: before?.institutionName,
        parse: optionally(parseLine),
      });
      return taking(name, (institutionName) => ({ ...soFar, institutionName }));
    },
  ];
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
    step(`${party}Country`, (soFar) => ({
      message: `${whose} country`,
      choices: countryChoices,
      isSearch: true,
      startsEmpty: true,
      default: isRecipient ? countryAt(soFar)?.code : ownCountry,
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

const amountPart = ({ worth }: WizardDeps): Part => ({
  title: 'Amount',
  tell({ amount, from }) {
    const asked = amount === undefined ? undefined : readAmount(amount, undefined);
    const cost = asked && worth(asked, from ?? 'BTC');
    return listed(amount, cost && `≈ ${shortAmount(cost)}`, from && `from the ${from} wallet`);
  },
  steps: [
    step('amount', (soFar) => {
      const { from = 'BTC' } = soFar;
      const country = countryAt(soFar);
      const rate = worthText(worth(money(from, 1), country?.ccy));
      return {
        message: `Amount the recipient gets${country === undefined ? '' : `, in ${country.ccy}`}`,
        example: rate === '' ? undefined : `1 ${from} ${rate}`,
        parse: (text) => formatAmount(readAmount(text, country)),
      };
    }),
  ],
});

const senderPart = (start: Draft, deps: WizardDeps): Part => ({
  title: 'Sender',
  tell(draft) {
    const text = partyText(draft, 'sender');
    return text && `sender: ${text}${partyOf(start, 'sender') === undefined ? '' : ' (kept)'}`;
  },
  steps: [...partySteps('sender', start, deps), keepSenderStep(start, deps.keep)],
});

const readCode = whole(0, highestCode).read;

const another = -1;

const codeMessages = {
  purpose: 'Purpose of the payment',
  source: 'Source of the funds',
  relationship: 'Relationship to the recipient',
};

/**
 * Asks for one of the service's numeric codes. Shows the labels from the profile, and suggests the
 * code of the last payout.
 */
const codeStep =
  (name: (typeof codeNames)[number], { codes, takesAnyCode }: WizardDeps): Step<Draft> =>
  async (soFar, before, pose) => {
    if (soFar[name] !== undefined) return undefined;
    const { usedCodes, acctName, chosen } = soFar;
    const usedFor = usedCodes?.[name];
    const suggested =
      before?.[name] ?? usedFor ?? codes[name]?.last ?? (takesAnyCode ? 1 : undefined);
    const asked = { message: codeMessages[name], flag: flagWords(name) };
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
    const example = takesAnyCode
      ? 'the sandbox accepts any number'
      : usedFor === undefined
        ? "a number from your service's list"
        : `${usedFor} was used last time for ${chosen || acctName}`;
    const code =
      picked === another
        ? await pose({ ...asked, example, default: suggested?.toString(), parse: readCode })
        : picked;
    return code === back ? back : { ...soFar, [name]: code };
  };

/** Offers to save the recipient that the person has typed, and saves it at once. */
function keepRecipientStep(start: Draft, keep: Keep | undefined): Step<Draft> {
  const isTyped = partyOf(start, 'recipient') === undefined || start.acctNum === undefined;
  return async (soFar, before, pose) => {
    if (keep === undefined || !isTyped || !isNew(soFar)) return undefined;
    const chosen = await pose({
      message: 'Save recipient as (leave empty to skip)',
      flag: '--yes',
      parse: (text) => (text === '' || text === before?.chosen ? text : keep.parseName(text)),
    });
    if (chosen === back) return back;
    if (chosen !== '') await keep.recipient(chosen, soFar);
    return { ...soFar, chosen };
  };
}

/** Offers to save the sender that the person has typed, and saves it at once. */
const keepSenderStep =
  (start: Draft, keep: Keep | undefined): Step<Draft> =>
  async (soFar, _before, pose) => {
    if (keep === undefined || partyOf(start, 'sender') !== undefined) return undefined;
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

/**
 * The groups of answers that the person can change after the service refused the payout, or after
 * the person declined the quote. A new account or recipient is no longer the chosen contact.
 */
export const payoutChanges: Changes<Draft> = {
  'Change the amount': ['amount'],
  'Pay from another wallet': ['from'],
  'Change the account': [
    'chosen',
    'country',
    'method',
    'institution',
    'institutionName',
    'acctNum',
    'acctName',
    'amount',
  ],
  'Change the recipient': [
    'chosen',
    'recipientType',
    'recipientName',
    'recipientCountry',
    'recipientPhone',
    'recipientAddress',
  ],
  'Change your own details': [
    'senderType',
    'senderName',
    'senderCountry',
    'senderPhone',
    'senderAddress',
  ],
  'Change the purpose, source and relationship': ['purpose', 'source', 'relationship'],
};
