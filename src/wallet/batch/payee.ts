// Derives the payee, account and amount of a row, to compare them with earlier runs and to store
// them in the journal.
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { fixed } from '../../formats/amount.js';
import { folded } from '../../formats/text.js';
import type { BatchMark } from '../../store/journal/payment.js';
import { fingerprint } from '../order/orders.js';
import { payeeOf } from '../payout/order.js';
import { rowAmount } from './cost.js';
import type { PlannedRow } from './plan.js';

const paidSchema = v.object({
  line: v.number(),
  /** The payee's name in the file or the address book. */
  name: v.nullable(v.string()),
  /**
   * The account of the payee, or null for a destination that can be paid only once, such as an
   * invoice.
   */
  account: v.nullable(v.string()),
  institution: v.nullable(v.string()),
  institutionName: v.nullable(v.string()),
  ccy: v.string(),
  amount: v.string(),
});

/** A row of a batch, as the journal stores the row. */
export type PaidRow = v.InferOutput<typeof paidSchema>;

/** A row of the file, as svcpay compares it with earlier runs. */
export interface PayeeRow extends PaidRow {
  readonly ref: string;
  /** The wallet that pays. */
  readonly from: string;
  /** A digest that is the same for rows that differ only in their references. */
  readonly content: string;
  /** Whether the row is already paid or in flight. */
  readonly settled: boolean;
}

export function payeeRow(row: PlannedRow, settled: boolean): PayeeRow {
  const { line, ref, order, name } = row;
  const { ccy, value } = rowAmount(row);
  const bank = order.kind === 'payout' ? payeeOf(order.body) : undefined;
  const isOnce = order.idempotencyKey !== null;
  return {
    line,
    ref,
    from: order.body.sourceReq.ccy,
    content: contentOf(row),
    settled,
    name: name ?? order.body.destReq.kyc?.details.legalFullName ?? bank?.name ?? null,
    account: bank?.account ?? (isOnce ? null : order.destination),
    institution: bank?.institutionCode ?? null,
    institutionName: bank?.institutionName ?? null,
    ccy,
    amount: fixed(value),
  };
}

/** A digest of the row's payment and note. */
const contentOf = ({ order }: PlannedRow): string =>
  createHash('sha256')
    .update(JSON.stringify([fingerprint(order), order.body.note ?? '']))
    .digest('base64url');

/** The batch run and the row that the journal stores with a payment. */
export const markOf = (run: string, row: PlannedRow): BatchMark => {
  const {
    ref: _ref,
    from: _from,
    content: _content,
    settled: _settled,
    ...paid
  } = payeeRow(row, false);
  return { run, row: JSON.stringify(paid) };
};

const writtenSchema = v.pipe(v.string(), v.parseJson(), paidSchema);

/**
 * Reads a row from the journal, or returns undefined for a row in the format of a different
 * version.
 */
export function readPaidRow(text: string): PaidRow | undefined {
  const read = v.safeParse(writtenSchema, text);
  return read.success ? read.output : undefined;
}

/** A key that all rows to the same account share. */
export const accountKey = ({ account, institution }: PaidRow): string | undefined =>
  account === null ? undefined : `${institution?.toUpperCase() ?? ''}:${account}`;

/** A key that all rows of the same payee share: the name if there is one, otherwise the account. */
export const payeeKey = (row: PaidRow): string | undefined => {
  const account = accountKey(row);
  if (row.name !== null) return `name ${folded(row.name)}`;
  return account && `account ${account}`;
};

/** The payee as shown on a screen. */
export const payeeName = ({ name, account }: PaidRow): string => name ?? account ?? 'an invoice';
