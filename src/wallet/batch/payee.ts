// Derives the payee, account and amount of a row, to compare them with earlier runs and to store
// them in the journal.
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { fixed } from '../../formats/amount.js';
import { folded } from '../../formats/text.js';
import type { BatchMark } from '../../store/journal/payment.js';
import { digestOf } from '../instruction/instruction.js';
import { isShared } from '../instruction/keys.js';
import { payeeOf } from '../payout/payee.js';
import { rowAmount } from './cost.js';
import type { PlannedRow } from './plan.js';

const paidSchema = v.object({
  line: v.number(),
  /** The payee's name in the file or the address book. */
  name: v.nullable(v.string()),
  /** The account of the payee, such as an address, an account number or the node of an invoice. */
  account: v.string(),
  /** The destination keys of the payee. */
  keys: v.array(v.string()),
  institution: v.nullable(v.string()),
  institutionName: v.nullable(v.string()),
  ccy: v.string(),
  amount: v.string(),
});

/** A row of a batch, as the journal stores the row. */
export type PaidRow = v.InferOutput<typeof paidSchema>;

/**
 * What an earlier run did with a row. A `settled` row is paid, in flight, or has an outcome that
 * only a person can find out; this run only reports it. An `unknown` row is paid again, because a
 * person asked for `--retry`, although it may have been paid.
 */
export type RowStanding = 'settled' | 'unknown' | 'to pay';

/** A row of the file, as svcpay compares it with earlier runs. */
export interface PayeeRow extends PaidRow {
  readonly ref: string;
  /** The wallet that pays. */
  readonly from: string;
  /** A digest that is the same for rows that differ only in their references. */
  readonly content: string;
  readonly standing: RowStanding;
}

export function payeeRow(row: PlannedRow, standing: RowStanding = 'to pay'): PayeeRow {
  const { line, ref, instruction, order, name } = row;
  const { ccy, value } = rowAmount(row);
  const bank = order.kind === 'payout' ? payeeOf(order.body) : undefined;
  return {
    line,
    ref,
    from: order.body.sourceReq.ccy,
    content: contentOf(row),
    standing,
    name: name ?? order.body.destReq.kyc?.details.legalFullName ?? bank?.name ?? null,
    account: bank?.account ?? order.destination,
    keys: [...instruction.keys],
    institution: bank?.institutionCode ?? null,
    institutionName: bank?.institutionName ?? null,
    ccy,
    amount: fixed(value),
  };
}

/** A digest of the row's payment, its note and the name of its payee. */
const contentOf = ({ instruction, name }: PlannedRow): string =>
  createHash('sha256')
    .update(JSON.stringify([digestOf(instruction), instruction.note ?? '', name ?? '']))
    .digest('base64url');

/** The batch run and the row that the journal stores with a payment. */
export const markOf = (run: string, row: PlannedRow): BatchMark => {
  const { ref: _ref, from: _from, content: _content, standing: _standing, ...paid } = payeeRow(row);
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

/**
 * A key that all rows to the same account share, or undefined for an invoice, because many payees
 * may receive at one node.
 */
export const accountKey = ({ keys }: PaidRow): string | undefined =>
  keys.find((key) => !isShared(key));

/** A key that all rows of the same payee share: the name if there is one, otherwise the account. */
export const payeeKey = (row: PaidRow): string | undefined => {
  const account = accountKey(row);
  if (row.name !== null) return `name ${folded(row.name)}`;
  return account && `account ${account}`;
};

/** The payee as shown on a screen. */
export const payeeName = ({ name, account, keys }: PaidRow): string =>
  name ?? (keys.every(isShared) ? 'an invoice' : account);
