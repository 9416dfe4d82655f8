// What is known of a payout, from flags, address book and profile; the wizard asks for the rest.
import { parseAmount, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import type { Party, Profile, Recipient } from '../../store/profile/profiles.js';
import { parseAccountNumber } from '../../wallet/payout/order.js';
import { findCountry, findMethod, methodsIn, payoutCountries, type PayoutCountry, type PayoutMethod } from '../../wallet/payout/methods.js';
import type { ValuesOf } from '../values.js';
import { destinationOptions, givenFlags, type answerOptions, type Destination, type DestinationFlags, type PayoutAnswers } from './payout-options.js';
import { clip } from '../../formats/text.js';

/** What is known of a payout; undefined is not known yet, or left out where it may be. */
export interface Draft extends Destination, Partial<Omit<ValuesOf<typeof answerOptions>, 'amount' | 'method'>> {
  readonly amount?: Money | undefined;
  /** The wallet that pays; BTC unless another is chosen. */
  readonly from?: string | undefined;
  /** The recipient was taken from the address book under this name; empty for somebody new. */
  readonly chosen?: string | undefined;
  readonly keepSender?: boolean | undefined;
  /** Put the recipient into the address book under this name; empty to not. */
  readonly keepAs?: string | undefined;
}

/** What flags say about the destination. Throws Failure `usage` where they contradict each other. */
export function readDestination({ method: methodOf, ...flags }: DestinationFlags): Destination {
  const country = flags.country ?? methodOf?.(undefined)?.country;
  const method = methodOf?.(country);
  const known = { ...flags, methodOf };
  if (methodOf === undefined || country === undefined || method?.country === country) return withCountry(known, country);
  const { name, code } = country;
  const methods = methodsIn(country).map((each) => each.code).join(' or ');
  const what = method === undefined ? `There is no such payout method for ${name}` : `${method.code} pays out to ${method.country.name}, not to ${name}`;
  throw new Failure('usage', `${what}: use ${methods}.`, { hint: `svcpay payout methods ${code}` });
}

/** A country with one method has answered for the method too. */
export function withCountry<D extends Destination>(draft: D, country: PayoutCountry | undefined): D {
  const [only, ...others] = country === undefined ? [] : methodsIn(country);
  const method = draft.method ?? draft.methodOf?.(country) ?? (others.length === 0 ? only : undefined);
  return withMethod({ ...draft, country }, method);
}

/** With the method it is known how an account number has to look. */
export function withMethod<D extends Destination>(draft: D, method: PayoutMethod | undefined): D {
  const { acctNum } = draft;
  return {
    ...draft,
    method,
    ...(method !== undefined && acctNum !== undefined && { acctNum: parseAccountNumber(acctNum, method) }),
  };
}

/** What flags, address book and profile know together. Throws Failure `usage` where they contradict each other. */
export function readDraft(
  flags: PayoutAnswers & { readonly from?: string | undefined },
  recipients: Readonly<Record<string, Recipient>>,
  keptSender: Profile['sender'],
): Draft {
  const known = flags.recipient === undefined ? readDestination(flags) : fromBook(flags, flags.recipient, recipients);
  const amount = flags.amount === undefined ? undefined : readAmount(flags.amount, known.country);
  const { method: _read, ...others } = flags;
  return { ...others, ...known, ...readSender(flags, keptSender), amount, chosen: flags.recipient };
}

/** The country says which currency; without one the amount does, and leaves the countries that pay it out. */
function readAmount(text: string, country: PayoutCountry | undefined): Money {
  if (country !== undefined) return parseAmount(text, country.ccy);
  const bare = /^\d+(\.\d+)?$/.test(text);
  const amount = bare ? undefined : parseAmount(text);
  if (amount !== undefined && payoutCountries.some(({ ccy }) => ccy === amount.ccy)) return amount;
  const currencies = [...new Set(payoutCountries.map(({ ccy }) => ccy))].join(', ');
  throw new Failure('usage', `"${clip(text)}" has no currency. Payouts are in ${currencies}; write e.g. 500000vnd.`);
}

function fromBook(flags: PayoutAnswers, name: string, recipients: Readonly<Record<string, Recipient>>): Destination {
  const given = givenFlags(flags, destinationOptions);
  if (given.length > 0) {
    throw new Failure('usage', `--recipient already names the account. Remove ${given.join(', ')}.`);
  }
  const found = Object.hasOwn(recipients, name) ? recipients[name] : undefined;
  if (found !== undefined) return answersOf(found);
  throw new Failure('usage', `"${name}" is not in your address book.`, { hint: 'svcpay recipients list' });
}

/** A recipient of the address book as the answers that it stands for. */
export function answersOf(kept: Recipient): Destination {
  const { party } = kept;
  return {
    country: findCountry(kept.country),
    method: findMethod(kept.method),
    institution: kept.institutionCode,
    institutionName: kept.institutionName,
    acctNum: kept.acctNum,
    acctName: kept.acctName ?? party.legalFullName,
    recipientType: party.type,
    recipientName: party.legalFullName,
    recipientCountry: party.countryCode,
    recipientPhone: party.contactNumber,
    recipientAddress: party.address1,
  };
}

/** Another name is another person: what is kept of the own one then says nothing. */
function readSender(flags: PayoutAnswers, kept: Profile['sender']): Draft {
  const own = flags.senderName === undefined || flags.senderName === kept?.legalFullName ? kept : undefined;
  return {
    senderType: flags.senderType ?? own?.type,
    senderName: flags.senderName ?? own?.legalFullName,
    senderCountry: flags.senderCountry ?? own?.countryCode,
    senderPhone: flags.senderPhone ?? own?.contactNumber,
    senderAddress: flags.senderAddress ?? own?.address1,
  };
}

/** A party, as far as all that is needed of one is known. */
export function partyOf(draft: Draft, who: 'recipient' | 'sender'): Party | undefined {
  const [type, legalFullName, countryCode] = [draft[`${who}Type`], draft[`${who}Name`], draft[`${who}Country`]];
  const [contactNumber, address1] = [draft[`${who}Phone`], draft[`${who}Address`]];
  if (type === undefined || legalFullName === undefined || countryCode === undefined) return undefined;
  return {
    type,
    legalFullName,
    countryCode,
    ...(contactNumber !== undefined && { contactNumber }),
    ...(address1 !== undefined && { address1 }),
  };
}

const change = (name: string, forgotten: readonly (keyof Draft)[], others: Draft = {}) => ({
  name,
  forget: (draft: Draft): Draft => ({ ...draft, ...Object.fromEntries(forgotten.map((each) => [each, undefined])), ...others }),
});

const somebodyNew: Draft = { chosen: '' };

/** After a no to the last card, or a refusal: which answers to give again, instead of all of them. */
export const payoutChanges = [
  change('Change the amount', ['amount']),
  // Another country pays out another currency, so the amount goes with the account.
  change('Pay from another wallet', ['from']),
  change('Change the account', ['country', 'method', 'methodOf', 'institution', 'institutionName', 'acctNum', 'acctName', 'amount'], somebodyNew),
  change(
    'Change the recipient',
    ['recipientType', 'recipientName', 'recipientCountry', 'recipientPhone', 'recipientAddress'],
    somebodyNew,
  ),
  change('Change your own details', ['senderType', 'senderName', 'senderCountry', 'senderPhone', 'senderAddress', 'keepSender']),
  change('Change the code numbers', ['purpose', 'source', 'relationship']),
];
