// Turns a row of a batch file into a payment, with the rules of the command line.
import type { Institution } from '../../api/types.js';
import { fixed, isUnitless, parseAmount } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { columnOf } from '../../formats/text.js';
import type { Profile, Recipient } from '../../store/profile/profiles.js';
import { derivedRef, type PlannedRow } from '../../wallet/batch/plan.js';
import type { BatchRow } from '../../wallet/batch/rows.js';
import type { Order } from '../../wallet/order/orders.js';
import { payoutOrder } from '../../wallet/payout/order.js';
import { planSendNow, type SendPlan, type PlanEnvironment } from '../../wallet/plan/send.js';
import { reference } from '../payment/payment-options.js';
import { readDraft } from '../payout/payout-draft.js';
import { completePayout } from '../payout/payout-flow.js';
import { answerOptions, missingFlags } from '../payout/payout-options.js';
import { currency, readAll, type RawValues } from '../values.js';

const common = ['ref', 'to', 'amount', 'currency', 'note', 'from'];

/** The answers of a payout as columns; a payout may also name a recipient of the address book. */
const payoutColumns = new Map(
  ['recipient', ...Object.keys(answerOptions).filter((name) => name !== 'amount')].map((name) => [
    columnOf(name),
    name,
  ]),
);

export const batchColumns: ReadonlySet<string> = new Set([...common, ...payoutColumns.keys()]);

export interface PlanDeps extends PlanEnvironment {
  /** Distinguishes batches whose rows without a reference are otherwise the same. */
  readonly name: string;
  /** The default wallet. */
  readonly from: string | undefined;
  readonly recipients: Readonly<Record<string, Recipient>>;
  readonly sender: Profile['sender'];
  readonly lookUp: (countryCode: string) => Promise<readonly Institution[]>;
}

/** Throws Failure `usage` for an invalid row. */
export async function planRow({ line, cells }: BatchRow, deps: PlanDeps): Promise<PlannedRow> {
  const from = cells['from'] === undefined ? deps.from : currency().read(cells['from']);
  const given = Object.keys(cells).filter((name) => payoutColumns.has(name));
  const { to } = cells;
  if (to !== undefined && given.length > 0) {
    throw new Failure(
      'usage',
      `"to" is for sends, and ${given.join(', ')} for payouts: give one of the two per row.`,
    );
  }
  const paid =
    to === undefined
      ? await planPayout(cells, given, from, deps)
      : sendRow(planSendNow({ to, amount: amountText(cells), from }, deps));
  const { note, ref } = cells;
  const order =
    note === undefined ? paid.order : { ...paid.order, body: { ...paid.order.body, note } };
  return {
    line,
    ref: ref === undefined ? derivedRef(order, deps.name) : reference().read(ref),
    named: ref !== undefined,
    to: order.destination,
    amount: amountText(cells) ?? named(order),
    ...paid,
    order,
  };
}

type Paid = Pick<PlannedRow, 'order' | 'slow'> & Partial<Pick<PlannedRow, 'to'>>;

/** The order of an invoice has the node as its destination; the row shows the invoice. */
const sendRow = ({ order, slow, pays }: SendPlan): Paid => ({ order, slow, to: pays.text });

/** The amount in the destination, such as an invoice. */
const named = ({ receives }: Order): string =>
  receives === undefined ? '' : `${fixed(receives.value)}${receives.ccy.toLowerCase()}`;

async function planPayout(
  cells: BatchRow['cells'],
  given: readonly string[],
  from: string | undefined,
  { recipients, sender, lookUp }: PlanDeps,
): Promise<Paid> {
  if (given.length === 0) throw new Failure('usage', '"to" is missing.');
  const raw: RawValues = Object.fromEntries(
    given.map((name) => [payoutColumns.get(name) ?? name, cells[name]]),
  );
  const answers = {
    ...readAll(answerOptions, raw),
    amount: amountText(cells),
    recipient: cells['recipient'],
    from,
  };
  const draft = readDraft(answers, recipients, sender);
  const missing = missingFlags(draft).map((flag) => columnOf(camel(flag)));
  if (missing.length > 0)
    throw new Failure('usage', `Missing for a payout: ${missing.join(', ')}.`);
  const payout = await completePayout(draft, lookUp);
  return { order: payoutOrder(payout), slow: true, to: payout.acctNum };
}

/** `acctNum` for `--acct-num NUMBER`. */
const camel = (flag: string): string =>
  (flag.split(' ')[0] ?? '')
    .replace(/^--/, '')
    .replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The amount with its unit, from one or two columns. */
function amountText({ amount, currency: unit }: BatchRow['cells']): string | undefined {
  if (amount === undefined || unit === undefined) return amount;
  if (isUnitless(amount)) return `${amount}${unit}`;
  parseAmount(amount, /^sats?$/i.test(unit) ? 'BTC' : unit);
  return amount;
}
