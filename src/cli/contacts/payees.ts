// Lists the payees that this home can pay: its contacts, and the payees of its latest payments.
import { shortAmount, type Money } from '../../formats/amount.js';
import { detectDestination } from '../../formats/destination.js';
import { shortened } from '../../formats/text.js';
import { latest, status, type Payment } from '../../store/journal/payment.js';
import type { Contact, Recipient } from '../../store/profile/profiles.js';
import type { Choice } from '../../terminal/ask/questions.js';
import type { Column } from '../../terminal/rows/view.js';
import { shortTime } from '../../terminal/time.js';
import {
  type Instruction,
  type PayoutDetails,
  keysOf,
  repeatable,
} from '../../wallet/instruction/instruction.js';
import { bankKey, methodOf, payeeOf } from '../../wallet/payout/methods.js';
import { knownAmounts } from '../../wallet/limits/limits.js';
import { decodeOrder } from '../../wallet/order/orders.js';
import type { Context } from '../context.js';
import type { Deps } from '../define.js';

/** A contact, or a payee that this home has paid. */
export interface KnownPayee {
  /** A key that all payments to the same payee share. */
  readonly key: string;
  /** The name in the address book, or an empty string. */
  readonly chosen: string;
  readonly contact: Contact;
  /** The name in the address book, otherwise the name on the payee's account. */
  readonly name: string;
  readonly destination: string;
  /** The time of the last payment in epoch ms. */
  readonly lastAt?: number;
  readonly lastAmount?: Money | undefined;
  /** The instruction of the last payment. */
  readonly last?: Instruction;
}

const mostRead = 50;

export async function latestPayments({ account }: Deps<'account'>): Promise<readonly Payment[]> {
  const { id, journal } = await account();
  return (await journal()).latest(id, mostRead);
}

/** Reads the payees, the one paid last first, then the contacts that were never paid. */
export async function readPayees(context: Context): Promise<KnownPayee[]> {
  const book = Object.entries(context.config.read().contacts).map(([name, contact]) =>
    describe(name, contact),
  );
  const found = new Map<string, KnownPayee>();
  const payments = await latestPayments(context);
  for (const payment of payments.toSorted((a, b) => b.openedAt - a.openedAt)) {
    const last = status(payment) === 'abandoned' ? undefined : repeatable(payment);
    const contact = last && contactOf(last);
    if (last === undefined || contact === undefined) continue;
    const paid = describe('', contact);
    if (found.has(paid.key)) continue;
    const [lastAmount] = knownAmounts(decodeOrder(latest(payment).request));
    const known = book.find(({ key }) => key === paid.key) ?? paid;
    found.set(paid.key, { ...known, last, lastAt: payment.openedAt, lastAmount });
  }
  const others = book.filter(({ key }) => !found.has(key));
  return [...found.values(), ...others.toSorted((a, b) => a.name.localeCompare(b.name))];
}

/** Returns the payee of an instruction, or undefined for another kind of payment. */
function contactOf({ verb, to, payout }: Instruction): Contact | undefined {
  if (payout !== undefined) return recipientOf(payout);
  return verb === 'send' ? to : undefined;
}

function describe(chosen: string, contact: Contact): KnownPayee {
  if (typeof contact === 'string') {
    const [key = contact] = keysOf(detectDestination(contact));
    return { key, chosen, contact, name: chosen, destination: contact };
  }
  const { method, institutionCode, institutionName, acctNum, acctName, party } = contact;
  return {
    key: bankKey({ method, reqDetails: { institutionCode, acctNum } }),
    chosen,
    contact,
    name: chosen || (acctName ?? party.legalFullName),
    destination: `${institutionName ?? institutionCode} · ${acctNum}`,
  };
}

/**
 * Returns the recipient of a payout in the form that the address book stores, with the codes of the
 * payout, or undefined for a method that svcpay does not know.
 */
function recipientOf(body: PayoutDetails): Recipient | undefined {
  const { kyc } = body.destReq;
  const method = methodOf(body.destReq);
  if (method === undefined || kyc === undefined) return undefined;
  const { name, account, institutionCode, institutionName } = payeeOf(body);
  return {
    method: method.code,
    country: method.country.code,
    institutionCode,
    institutionName,
    acctNum: account,
    acctName: name,
    party: { type: kyc.type, ...kyc.details },
    codes: body.sourceOfFunds,
  };
}

/** Builds the choices of a menu, each with name, destination, last amount and time. */
export async function payeeChoices<P extends KnownPayee>(
  payees: readonly P[],
  { now, terminal }: Pick<Context, 'now' | 'terminal'>,
): Promise<Choice<P>[]> {
  const { menuChoices } = await import('../../terminal/rows/table.js');
  return menuChoices(columns(now()), payees, terminal.stderrCanvas, (value) => ({
    value,
    description: [value.name, value.destination].filter(Boolean).join(' · '),
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
