// Defines the flags of a payout, one for each answer.
import { countryCodes, parseCountryCode, parsePhone } from '../../formats/country.js';
import { highestCode, parseLine } from '../../wallet/payout/order.js';
import {
  findCountry,
  findMethod,
  methodOfKind,
  methodsIn,
  payoutCountries,
  type PayoutCountry,
  type PayoutMethod,
} from '../../wallet/payout/methods.js';
import { paymentOptions } from '../payment/payment-options.js';
import { choice, currency, file, flagName, text, whole, word, type ValuesOf } from '../values.js';

export const partyTypes = ['individual', 'business'] as const;

const country = () =>
  word(
    'COUNTRY',
    findCountry,
    payoutCountries.map(({ code }) => code),
  ).offering(payoutCountries.flatMap(({ code, name }) => [code, name]));
const line = () => word('TEXT', parseLine);

const kinds = ['mobile', 'bank'] as const;

/**
 * Returns the payout method in a country, or undefined if the country is unknown or lacks the
 * method.
 */
export type MethodOf = (country: PayoutCountry | undefined) => PayoutMethod | undefined;

/**
 * Reads a payout method by the method's code or by `mobile` or `bank`. Throws Failure `usage` for
 * an unknown method.
 */
function readMethod(text: string): MethodOf {
  const name = text.trim().toLowerCase();
  const kind = kinds.find((each) => each === name.replace(/ (?:account|wallet)$/, ''));
  if (kind !== undefined)
    return (country) => (country === undefined ? undefined : methodOfKind(kind, country));
  const method = findMethod(text);
  return () => method;
}

const partyOptions = (whose: string) => ({
  type: choice(partyTypes)
    .optional()
    .describe(`${whose}: ${partyTypes.join(' or ')}`),
  name: word('NAME', parseLine).optional().describe(`${whose}: full legal or registered name`),
  country: word('CC', parseCountryCode, countryCodes)
    .optional()
    .describe(`${whose}: country, two letters`),
  phone: word('NUMBER', parsePhone).optional().describe(`${whose}: phone number with country code`),
  address: line().optional().describe(`${whose}: street address`),
});

const recipient = partyOptions('the recipient');
const sender = partyOptions('the sender');

export const destinationOptions = {
  country: country().optional().describe('country to pay out to'),
  method: word('CODE', readMethod, [...kinds, ...methodsIn().map(({ code }) => code)])
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
  purpose: whole(0, highestCode)
    .optional()
    .describe('purpose of the payment, as a code that the service defines'),
  source: whole(0, highestCode)
    .optional()
    .describe('source of the funds, as a code that the service defines'),
  relationship: whole(0, highestCode)
    .optional()
    .describe('relationship to the recipient, as a code that the service defines'),
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
export type PayoutAnswers = Pick<PayoutFlags, 'recipient' | keyof typeof answerOptions>;
export type DestinationFlags = ValuesOf<typeof destinationOptions>;

/**
 * The answers about the destination of a payout, with the resolved payout method. Each answer is
 * undefined until svcpay knows it.
 */
export interface Destination extends Partial<Omit<DestinationFlags, 'method'>> {
  readonly method?: PayoutMethod | undefined;
  /** The payout method that the flag names, as a function of the country. */
  readonly methodOf?: MethodOf | undefined;
}

type AnswerName = keyof typeof answerOptions;
type Answers = Readonly<Partial<Record<AnswerName, unknown>>>;

const isAnswer = (name: string): name is AnswerName => Object.hasOwn(answerOptions, name);

/** Returns those flags on the command line that `among` contains, such as `--acct-num`. */
export const givenFlags = (flags: Answers, among: object): string[] =>
  Object.keys(among)
    .filter((name) => isAnswer(name) && flags[name] !== undefined)
    .map(flagName);

/** The names of the optional answers of a payout. */
const optional: ReadonlySet<AnswerName> = new Set([
  'country',
  'institutionName',
  'recipientPhone',
  'recipientAddress',
  'senderPhone',
  'senderAddress',
]);

/** Returns the names of the missing required answers. */
export function missingAnswers(given: Answers, among: object = answerOptions): AnswerName[] {
  const needed = (name: AnswerName): boolean =>
    !optional.has(name) || (name === 'country' && given.method === undefined);
  return Object.keys(among)
    .filter(isAnswer)
    .filter((name) => given[name] === undefined && needed(name));
}

export const missingFlags = (given: Answers, among?: object): string[] =>
  missingAnswers(given, among).map(
    (name) => `${flagName(name)} ${answerOptions[name].shape.placeholder}`,
  );
