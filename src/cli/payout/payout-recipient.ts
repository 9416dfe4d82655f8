// Asks the questions of the payout wizard about the recipient.
import type { Institution } from '../../api/types.js';
import { countryCodes, countryName, parsePhone } from '../../formats/country.js';
import { back, type Ask, type Back, type Choice } from '../../terminal/ask/ask.js';
import { stepFor, taking, type Step } from '../../terminal/ask/wizard.js';
import { institutionsFor } from '../../wallet/payout/institutions.js';
import { parseAccountNumber, parseLine } from '../../wallet/payout/order.js';
import {
  accountWords,
  methodsIn,
  payoutCountries,
  type PayoutMethod,
} from '../../wallet/payout/methods.js';
import type { FormPart } from './payout-form.js';
import { partyOf, withCountry, withMethod, type Draft } from './payout-draft.js';

export type DraftStep = Step<Draft>;

export interface PayoutPrompts {
  readonly ask: Ask['steps'];
  /** The country of the sender of the last payout, or of the locale, as a suggestion. */
  readonly ownCountry?: string | undefined;
  /** Reads the institutions of a country. */
  readonly institutions: (countryCode: string) => Promise<readonly Institution[]>;
}

export type PartSteps = readonly [part: FormPart | undefined, steps: readonly DraftStep[]];

export const step = stepFor<Draft>();

export const isNew = ({ chosen }: Draft): boolean => chosen === undefined || chosen === '';

/** @param next the parts between the country and the account */
export function destinationSteps(
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
export function partySteps(
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
