// Turns a row of a batch into a payment, with the reference that prevents a second payment.
import { createHash } from 'node:crypto';
import { fixed } from '../../formats/amount.js';
import { invoiceReference } from '../../store/journal/payment.js';
import type { Instruction } from '../instruction/instruction.js';
import type { Order } from '../order/orders.js';

export interface PlannedRow {
  readonly line: number;
  readonly ref: string;
  /**
   * Whether the file contains the reference. svcpay derives a missing reference from the payment.
   */
  readonly named: boolean;
  readonly instruction: Instruction;
  /** The order of the row, if it were paid now. */
  readonly order: Order;
  /** The name of the payee, if the file or the address book has one. */
  readonly name?: string | undefined;
  /** The cells of the line, for the result file. */
  readonly cells?: Readonly<Record<string, string>> | undefined;
  /** The destination, as the file states it. */
  readonly to: string;
  readonly amount: string;
  /**
   * Whether a payment of this method settles only after hours or days. By default, svcpay does not
   * wait for the settlement of a slow payment.
   */
  readonly slow: boolean;
}

/**
 * Derives the reference for a row whose reference cell is empty from the destination, the amount
 * and the name of the batch. The path of the file and the order of its rows do not change the
 * reference, so svcpay pays no row twice from a file that was moved, sorted, fixed or piped in
 * again. The note, the paying wallet and the spelling of the amount do not change the
 * derived reference. For a row with an invoice, which can be paid only once, svcpay derives the
 * reference from the invoice alone.
 */
export function derivedRef({ keys, once, amount }: Instruction, name: string): string {
  if (once !== null) return invoiceReference(once);
  const asked =
    typeof amount === 'string' ? amount : [amount.ccy, fixed(amount.value), amount.side];
  const digest = createHash('sha256')
    .update(JSON.stringify([name, keys, asked]))
    .digest('hex');
  return `batch-${digest.slice(0, 32)}`;
}
