// Defines the row of a statement, which the screen and all files show.
import type { Big } from 'big.js';

/** Names the kinds of rows. */
export const kindWords: Readonly<Record<StatementRow['kind'], string>> = {
  opening: 'Opening',
  closing: 'Closing',
  receive: 'Received',
  send: 'Sent',
  swap: 'Swapped',
  adjustment: 'Adjusted',
  correction: 'Corrected',
  difference: 'Difference',
};

/** The part of a row that a transaction or an adjustment defines: its effect on a wallet. */
export interface BookedRow {
  /** The settlement time in UTC, or null for a row without a transaction. */
  readonly time: string | null;
  /** The creation time in UTC, or null for a row without a transaction. */
  readonly created: string | null;
  readonly wallet: string;
  readonly kind:
    | 'receive'
    | 'send'
    | 'swap'
    | 'adjustment'
    | 'correction'
    | 'opening'
    | 'closing'
    | 'difference';
  readonly counterparty: string | null;
  /**
   * The payment method of the counterparty, or null for a swap and for a row without a transaction.
   */
  readonly method: string | null;
  readonly reference: string | null;
  readonly note: string | null;
  readonly in: Big;
  readonly out: Big;
  readonly fee: Big;
  readonly serviceFee: Big;
  readonly networkFee: Big;
  /** The amount of the transaction's other side, if that side has another currency. */
  readonly exchanged: Big | null;
  readonly exchangedCcy: string | null;
  readonly txnId: string | null;
}

/** A row of a statement, which all formats print. */
export interface StatementRow extends BookedRow {
  /**
   * The calendar day in the statement's time zone, or null for an opening balance at the start of
   * the whole history.
   */
  readonly date: string | null;
  /** The wallet's balance after this row. */
  readonly balance: Big;
  /**
   * The fiat value of the row at the rate stored at the settlement, or null without a stored rate.
   */
  readonly fiatValue: Big | null;
  /** The price of one unit of the wallet's currency in units of `fiat`. */
  readonly fiatRate: Big | null;
  /** The price of one unit of `exchangedCcy` in units of `fiat`. */
  readonly exchangedRate: Big | null;
  readonly fiat: string | null;
  /** The destination as it was asked for, and the payment hash of an invoice. */
  readonly destination: string | null;
  readonly paymentHash: string | null;
  /** Who approved the payment, as its trail says. */
  readonly approvedBy: string | null;
  /** For a closing row, the sums of the wallet's rows in the period. */
  readonly totals?: { readonly in: Big; readonly out: Big; readonly fee: Big };
}

/** Returns the change of the wallet's balance by a row, which is negative for a debit. */
export const changeOf = (row: Pick<BookedRow, 'in' | 'out' | 'fee'>): Big =>
  row.in.minus(row.out).minus(row.fee);

/** Whether a row is the credit of an exchange, whose debit row contains both sides. */
export const isExchangeCredit = ({ kind, exchanged, in: credited }: BookedRow): boolean =>
  kind === 'swap' && exchanged !== null && credited.gt(0);
