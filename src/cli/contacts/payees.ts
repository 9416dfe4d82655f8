// Lists the payees that this home can pay: its contacts, and the payees of its latest payments.
import { shortAmount } from '../../formats/amount.js';
import { detectDestination } from '../../formats/destination.js';
import { shortened } from '../../formats/text.js';
import type { Payment } from '../../store/journal/payment.js';
import type { Contact, Recipient } from '../../store/profile/profiles.js';
import type { Choice } from '../../terminal/ask/questions.js';
import type { Column } from '../../terminal/rows/view.js';
import { shortTime } from '../../terminal/time.js';
import { knownDestinations, type KnownDestination } from '../../wallet/history/earlier-payments.js';
import {
  type Instruction,
  type PayoutDetails,
  keysOf,
} from '../../wallet/instruction/instruction.js';
import { methodsIn, bankKey, payeeOf } from '../../wallet/payout/methods.js';
import type { Context } from '../context.js';

/** A payee, with its name in the address book or an empty string. */
export interface Payee {
  readonly chosen: string;
  readonly contact: Contact;
}

export type KnownPayee = KnownDestination<Payee>;

const mostRead = 50;

export async function latestPayments({ account }: Context): Promise<readonly Payment[]> {
  const { id, journal } = await account();
  return (await journal()).latest(id, mostRead);
}

/** Reads the payees, the one paid last first, then the contacts that were never paid. */
export async function readPayees(context: Context): Promise<KnownPayee[]> {
  const payments = await latestPayments(context);
  const book = Object.entries(context.config.read().contacts).map(([name, contact]) =>
    describe(name, contact),
  );
  return knownDestinations(book, payments, ({ verb, to, payout }: Instruction) => {
    const contact = payout === undefined ? (verb === 'send' ? to : undefined) : recipientOf(payout);
    return contact === undefined ? undefined : describe('', contact);
  });
}

function describe(chosen: string, contact: Contact): KnownPayee {
  const value = { chosen, contact };
  if (typeof contact === 'string')
    return {
      key: keysOf(detectDestination(contact))[0] ?? contact,
      name: chosen,
      destination: contact,
      value,
    };
  const { method, institutionCode, institutionName, acctNum, acctName, party } = contact;
  return {
    key: bankKey({ method, reqDetails: { institutionCode, acctNum } }),
    name: chosen || (acctName ?? party.legalFullName),
    destination: `${institutionName ?? institutionCode} · ${acctNum}`,
    value,
  };
}

/**
 * Returns the recipient of a payout in the form that the address book stores, with the codes of the
 * payout, or undefined for a method that svcpay does not know.
 */
function recipientOf(body: PayoutDetails): Recipient | undefined {
  const { method, kyc } = body.destReq;
  const payoutMethod = methodsIn().find(({ code }) => code === method);
  if (payoutMethod === undefined || kyc === undefined) return undefined;
  const { name, account, institutionCode, institutionName } = payeeOf(body);
  return {
    method: payoutMethod.code,
    country: payoutMethod.country.code,
    institutionCode,
    ...(institutionName !== undefined && { institutionName }),
    acctNum: account,
    acctName: name,
    party: { type: kyc.type, ...kyc.details },
    ...(body.sourceOfFunds !== undefined && { codes: body.sourceOfFunds }),
  };
}

/** Builds the choices of a menu, each with name, destination, last amount and time. */
export async function payeeChoices<P extends KnownPayee>(
  payees: readonly P[],
  { now, terminal }: Pick<Context, 'now' | 'terminal'>,
): Promise<Choice<P>[]> {
  const { menuLines } = await import('../../terminal/rows/table.js');
  const lines = menuLines(columns(now()), payees, terminal.stderrCanvas);
  return payees.map((payee, i) => ({
    value: payee,
    name: lines[i] ?? payee.name,
    // The description of a choice contains the columns that a narrow window omits, so that a search
    // finds the text of the omitted columns.
    description: [payee.name, payee.destination].filter((text) => text !== '').join(' · '),
  }));
}

const columns = (now: number): Column<KnownPayee>[] => [
  {
    name: 'name',
    value: ({ name, destination }) => name || shortened(destination),
    only: 'screen',
    shrinks: true,
  },
  {
    name: 'destination',
    value: ({ name, destination }) => (name === '' ? '' : shortened(destination)),
    only: 'screen',
    priority: 1,
    shrinks: true,
  },
  {
    name: 'amount',
    value: ({ lastAmount }) => (lastAmount === undefined ? '' : shortAmount(lastAmount)),
    only: 'screen',
    align: 'decimal',
    priority: 2,
  },
  {
    name: 'when',
    value: ({ lastAt }) => (lastAt === undefined ? '' : shortTime(lastAt, now)),
    only: 'screen',
    priority: 3,
  },
];
