// Runs a payout from the answers to the payment: looks up institutions, shows the quote card and
// saves the answers.
import type { Institution, Kyc, Transaction } from '../../api/types.js';
import { plainLetters } from '../../formats/text.js';
import { countryName } from '../../formats/country.js';
import { formatAmount } from '../../formats/amount.js';
import { Failure, ifAvailable } from '../../formats/failure.js';
import { seenInstitutions } from '../../store/files/document.js';
import {
  changeContact,
  changeProfile,
  type Party,
  type Recipient,
} from '../../store/profile/profiles.js';
import type { CardDetail } from '../../terminal/cards/card.js';
import type { Output } from '../../terminal/output.js';
import {
  findInstitution,
  methodOf,
  payeeOf,
  type PayoutMethod,
  instructionOf,
} from '../../wallet/payout/methods.js';
import type { Instruction, PayoutDetails } from '../../wallet/instruction/instruction.js';
import type { Context } from '../context.js';
import { runPayment } from '../payment/payment-flow.js';
import type { PaymentFlags } from '../payment/payment-options.js';
import { partyOf, type Draft, type Destination } from './payout-draft.js';

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
export async function openLookUp(context: Context): Promise<LookUp> {
  const { live, out } = context;
  await context.client();
  const byCountry = new Map<string, Promise<readonly Institution[]>>();
  const ask = async (countryCode: string): Promise<readonly Institution[]> => {
    const reportFailed = (why: string): void => out.say(`The institution was not checked. ${why}`);
    return (
      (await ifAvailable(
        live.during(
          () => 'Looking up institutions',
          () => institutionsOf(countryCode, context),
        ),
        reportFailed,
      )) ?? []
    );
  };
  return (countryCode) => {
    const answer = byCountry.get(countryCode) ?? ask(countryCode);
    byCountry.set(countryCode, answer);
    return answer;
  };
}

/**
 * Returns the instruction of a payout, with its institution checked. Throws Failure `usage` for
 * answers that the service would refuse.
 */
export async function completePayout(
  draft: Draft,
  lookUp: LookUp,
  note?: string,
): Promise<Instruction> {
  const { amount, from = 'BTC', purpose, source, relationship } = draft;
  const { method, acctName, acctNum, institutionCode, institutionName, party } =
    await completeRecipient(draft, lookUp);
  const sender = partyOf(draft, 'sender');
  if (
    !sender ||
    !amount ||
    purpose === undefined ||
    source === undefined ||
    relationship === undefined
  )
    throw incomplete();
  checkCurrency(draft);
  const named = institutionName === undefined ? {} : { institutionName };
  const details = {
    sourceReq: { ccy: from, method: 'servicepay', reqDetails: {}, kyc: kycOf(sender) },
    destReq: {
      ccy: amount.ccy,
      method,
      reqDetails: { acctName, acctNum, institutionCode, ...named },
      kyc: kycOf(party),
    },
    sourceOfFunds: { purpose, source, relationship },
  };
  return instructionOf(details, amount, note);
}

function kycOf({ type, legalFullName, countryCode, contactNumber, address1 }: Party): Kyc {
  return {
    type,
    details: {
      legalFullName,
      countryCode,
      ...(contactNumber !== undefined && { contactNumber }),
      ...(address1 !== undefined && { address1 }),
    },
  };
}

/** Throws Failure `usage` for an amount that is not in the currency of the payout method. */
export function checkCurrency({ amount, method }: Pick<Draft, 'amount' | 'method'>): void {
  if (amount === undefined || method === undefined || amount.ccy === method.country.ccy) return;
  throw new Failure(
    'usage',
    `The amount is in ${amount.ccy}, but ${method.code} pays out ${method.country.ccy}.`,
  );
}

/** Returns the recipient as the address book stores it, with the institution checked. */
export async function completeRecipient(
  draft: Destination,
  lookUp: LookUp,
): Promise<Recipient & { readonly acctName: string }> {
  const { method, institution, institutionName, acctNum, acctName } = draft;
  const party = partyOf(draft, 'recipient');
  if (!method || institution === undefined || acctNum === undefined || !acctName || !party)
    throw incomplete();
  const { country } = method;
  const found = findInstitution(institution, method, await lookUp(country.code));
  return {
    method: method.code,
    country: country.code,
    institutionCode: found.code,
    institutionName: found.name ?? institutionName,
    acctNum,
    acctName,
    party,
  };
}

const incomplete = (): Error => new Error('The payout lacks a required answer.');

/**
 * Replaces the names of institutions by the names in the service's list, so that an instruction of
 * somebody else cannot name a false institution, or lack the name. Throws Failure `usage` for an
 * institution that cannot receive the payout.
 */
export async function withInstitutions(
  instructions: readonly Instruction[],
  context: Context,
): Promise<readonly Instruction[]> {
  if (instructions.every(({ payout }) => payout === undefined)) return instructions;
  const lookUp = await openLookUp(context);
  const completed = async (each: Instruction): Promise<Instruction> => {
    const { payout } = each;
    const method = payout && methodOf(payout.destReq);
    if (payout === undefined || method === undefined) return each;
    const { institutionCode, institutionName } = payeeOf(payout);
    if (institutionCode === '') return each;
    const found = findInstitution(institutionCode, method, await lookUp(method.country.code));
    const named = { institutionCode: found.code, institutionName: found.name ?? institutionName };
    const reqDetails = { ...payout.destReq.reqDetails, ...named };
    return { ...each, payout: { ...payout, destReq: { ...payout.destReq, reqDetails } } };
  };
  return Promise.all(instructions.map(completed));
}

/**
 * Pays a payout. Saves its codes as soon as svcpay has submitted the payment. If the run succeeds
 * without a submission, as with `--quote-only`, saves the codes at the end.
 */
export async function payAndSave(
  draft: Draft,
  flags: PaymentFlags,
  lookUp: LookUp,
  context: Context,
  onSubmitted: () => void = () => undefined,
): Promise<Transaction> {
  const instruction = await completePayout(draft, lookUp);
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
export async function trySaving(out: Output, save: () => Promise<unknown>): Promise<void> {
  try {
    await save();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    out.warn(`Not saved: ${error.message}`);
  }
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
    throw new Failure('usage', 'unknown payout method.', { money: 'Not sent' });
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

function about(
  details: PayoutDetails,
  method: PayoutMethod,
  note: string | undefined,
): CardDetail[] {
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
