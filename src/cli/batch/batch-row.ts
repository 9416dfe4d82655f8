// Turns a row of a batch file into a payment, under the same rules as for a payment on the command
// line.
import type { Institution } from '../../api/types.js';
import { checkGrouping, parseAmount } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { columnOf } from '../../formats/text.js';
import type { Contacts, Profile } from '../../store/profile/profiles.js';
import { detectDestination } from '../../formats/destination.js';
import { savedName } from '../../store/profile/profiles.js';
import {
  amountIn,
  derivedRef,
  rowOf,
  type PlannedRow,
  type ReadRow,
} from '../../wallet/batch/row.js';
import { resultFields } from '../../terminal/cards/batch-progress.js';
import type { Columns } from '../../wallet/batch/head.js';
import { CellFailure, inColumn, type BatchRow } from '../../wallet/batch/rows.js';
import { digestOf, type Instruction } from '../../wallet/instruction/instruction.js';
import { needOf, orderOf } from '../../wallet/instruction/order.js';
import {
  readSend,
  readSendNow,
  type SendEnvironment,
  type SendWords,
} from '../../wallet/instruction/send.js';
import { payoutInstruction } from '../../wallet/payout/order.js';
import { reference } from '../payment/payment-options.js';
import { readDraft } from '../payout/payout-draft.js';
import { checkCurrency, completePayout } from '../payout/payout-flow.js';
import { answerOptions, missingFlags, type PayoutAnswers } from '../payout/payout-options.js';
import { currency, readAll, type RawValues } from '../values.js';

const common = ['ref', 'to', 'amount', 'currency', 'note', 'from'];

/**
 * The columns that only payout rows have. The column `recipient` contains a name from the address
 * book. Each other column contains the value of an option that describes a payout.
 */
const payoutColumns = new Map(
  ['recipient', ...Object.keys(answerOptions).filter((name) => name !== 'amount')].map((name) => [
    columnOf(name),
    name,
  ]),
);

const names: ReadonlySet<string> = new Set([...common, ...payoutColumns.keys()]);
const ofResult: ReadonlySet<string> = new Set(resultFields.map((name) => name.toLowerCase()));

/**
 * The columns of a batch file. If the batch file is a result file, svcpay ignores the columns with
 * results.
 */
export const batchColumns = (ignoreOthers: boolean): Columns => ({ names, ofResult, ignoreOthers });

/** The columns of a result file, including the columns of its batch file. */
export const resultColumns: Columns = {
  names: new Set([...ofResult, ...names]),
  ofResult,
  ignoreOthers: true,
};

export interface PlanDeps extends SendEnvironment {
  /** The name of the batch, which distinguishes identical batches without references. */
  readonly name: string;
  /** The wallet that pays if the row names no wallet. */
  readonly from: string | undefined;
  /** The address book with accounts for payouts and destinations of sends. */
  readonly contacts: Contacts;
  readonly sender: Profile['sender'];
  readonly lookUp: (countryCode: string) => Promise<readonly Institution[]>;
  /** Returns the digest of the payment under a reference, if the journal has one. */
  readonly digestUnder: (ref: string) => Promise<string | undefined>;
}

/** Turns a row of a batch into a payment. Throws Failure `usage` for an invalid row. */
export async function planRow(
  { line, cells: written }: BatchRow,
  deps: PlanDeps,
): Promise<PlannedRow> {
  const { cells, name } = named({ line, cells: written }, deps);
  const from =
    cells['from'] === undefined
      ? deps.from
      : inColumn('from', () => currency().read(cells['from']));
  const given = Object.keys(cells).filter((column) => payoutColumns.has(column));
  const { to } = cells;
  const foreign = given.filter((column) => column !== 'recipient_name');
  if (to !== undefined && foreign.length > 0) {
    throw new Failure(
      'usage',
      `A row must have either "to" for a send or ${foreign.join(', ')} for a payout, not both.`,
    );
  }
  const { note } = cells;
  const paid =
    to === undefined
      ? await planPayout(cells, given, from, deps)
      : planSendRow({ to, from, note, name: name ?? cells['recipient_name'] }, cells, deps);
  const { instruction } = paid;
  const ref = await ownReference(cells, instruction, deps);
  const order = inColumn('amount', () => orderOf(instruction, { now: deps.now }));
  return rowOf({
    ...paid,
    line,
    ref: ref ?? derivedRef(instruction, deps.name),
    isNamed: ref !== undefined,
    written: amountText(cells) ?? amountIn(order),
    instruction,
    order,
    cells: written,
  });
}

/**
 * Returns the reference in the row, or undefined for a row without a reference. A reference that an
 * earlier run generated stays only if it belongs to a payment of this row.
 */
async function ownReference(
  { ref }: BatchRow['cells'],
  instruction: Instruction,
  { digestUnder }: PlanDeps,
): Promise<string | undefined> {
  if (ref === undefined) return undefined;
  if (/^batch-[0-9a-f]{32}$/.test(ref))
    return (await digestUnder(ref)) === digestOf(instruction) ? ref : undefined;
  // A space at the end of a reference is invisible, but would make the row a different payment.
  if (ref.trim() !== ref)
    throw usageIn('ref', `The reference "${ref}" must not begin or end with a space.`);
  return inColumn('ref', () => reference().read(ref));
}

/**
 * Plans the payment of a row that is a send. An error concerns the destination column if the
 * destination is refused without the amount too, otherwise the amount column.
 */
function planSendRow(
  words: SendWords & { readonly to: string },
  cells: BatchRow['cells'],
  deps: PlanDeps,
): Paid {
  const { to, from } = words;
  const amount = inColumn('amount', () => amountText(cells));
  inColumn('to', () => readSend({ to, from }, deps));
  return inColumn('amount', () => {
    const { instruction, slow, pays } = readSendNow({ ...words, amount }, deps);
    checkPriced(instruction);
    return { instruction, isSlow: slow, to: pays.text };
  });
}

/**
 * Replaces a name of the address book in `to` or `recipient` with the saved destination or
 * recipient.
 */
function named(
  { cells }: BatchRow,
  { contacts }: PlanDeps,
): { readonly cells: BatchRow['cells']; readonly name?: string } {
  const { to, recipient, ...others } = cells;
  if (to !== undefined && recipient !== undefined)
    throw new Failure('usage', 'A row must have either "to" or "recipient", not both.');
  const given = to ?? recipient;
  if (given === undefined || given.length > longestName || isDestination(given)) return { cells };
  const column = to === undefined ? 'recipient' : 'to';
  const name = inColumn(column, () => savedName(contacts, given));
  const contact = name === undefined ? undefined : contacts[name];
  if (name === undefined || contact === undefined) return { cells };
  return typeof contact === 'string'
    ? { cells: { ...others, to: contact }, name }
    : { cells: { ...others, recipient: name } };
}

/**
 * The length of the longest name in the address book. svcpay does not look up a longer text, such
 * as an invoice, in the address book.
 */
const longestName = 64;

function isDestination(text: string): boolean {
  try {
    return detectDestination(text).text !== '';
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

type Paid = Pick<ReadRow, 'instruction' | 'isSlow' | 'to'>;

/** Refuses an amount that would need rates or a balance, because a batch states exact amounts. */
function checkPriced(instruction: Instruction): void {
  const need = needOf(instruction);
  if (need === undefined) return;
  throw usageIn(
    'amount',
    need === 'wallets'
      ? '"all" is not allowed here. Write an amount with its unit.'
      : 'The amount is not in the currency that arrives. Write an amount in bitcoin.',
  );
}

async function planPayout(
  cells: BatchRow['cells'],
  given: readonly string[],
  from: string | undefined,
  { contacts, sender, lookUp }: PlanDeps,
): Promise<Paid> {
  if (given.length === 0)
    throw usageIn('to', '"to" is missing. Give a destination or a name from your address book.');
  const raw: RawValues = Object.fromEntries(
    given.map((name) => [payoutColumns.get(name) ?? name, cells[name]]),
  );
  for (const [name, option] of Object.entries(answerOptions))
    if (raw[name] !== undefined) inColumn(columnOf(name), () => option.read(raw[name]));
  const answers = {
    ...readAll(answerOptions, raw),
    amount: undefined,
    recipient: cells['recipient'],
    from,
  };
  const read = (given: typeof answers | PayoutAnswers) => readDraft(given, contacts, sender);
  // Reads the cells in turn, so that a refusal names the column of its cell.
  inColumn(cells['recipient'] === undefined ? 'method' : 'recipient', () =>
    read({ ...answers, acctNum: undefined }),
  );
  const { country } = inColumn('acct_num', () => read(answers));
  const unit = cells['currency'];
  const isOther = country !== undefined && unit !== undefined && unit.toUpperCase() !== country.ccy;
  const amount = inColumn('amount', () => amountText(cells));
  const inAmount = isOther ? 'currency' : 'amount';
  const draft = inColumn(inAmount, () => read({ ...answers, amount }));
  const missing = missingFlags(draft).map((flag) => columnOf(camel(flag)));
  if (missing.length > 0)
    throw usageIn(missing[0] ?? '', `A payout must also have ${missing.join(', ')}.`);
  inColumn(inAmount, () => checkCurrency(draft));
  const payout = await completePayout(draft, lookUp).catch((error: unknown) => {
    throw error instanceof Failure ? new CellFailure('institution', error) : error;
  });
  const instruction = payoutInstruction(payout, cells['note']);
  return { instruction, isSlow: true, to: payout.acctNum };
}

const usageIn = (column: string, message: string): Failure =>
  new CellFailure(column, new Failure('usage', message));

/** Converts a flag to camel case, for example `--acct-num NUMBER` to `acctNum`. */
const camel = (flag: string): string =>
  (flag.split(' ')[0] ?? '')
    .replace(/^--/, '')
    .replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Returns the amount of a row with its unit, from the column `amount` or from `amount` and
 * `currency`.
 */
function amountText({ amount, currency: unit }: BatchRow['cells']): string | undefined {
  if (amount !== undefined) checkGrouping(amount, unit);
  if (amount === undefined || unit === undefined) return amount;
  // A number that is refused has its unit too, so that the advice names this unit.
  if (/^[\d\s.,-]+$/.test(amount)) return `${amount}${unit}`;
  parseAmount(amount, /^sats?$/i.test(unit) ? 'BTC' : unit);
  return amount;
}
