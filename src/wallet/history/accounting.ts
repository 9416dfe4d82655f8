// Writes rows for tax and accounting programs in their documented columns. A file for Koinly has
// one row per transaction, including swaps. A file for Xero or QuickBooks has the movements of one
// account in one fiat currency.
import { decimalsOf, fixed } from '../../formats/amount.js';
import type { ListedTransaction } from '../../api/types.js';
import type { KeptRate } from '../../store/journal/settlement-rates.js';
import { booked, changeOf, type TransactionMovement } from '../books/movement.js';

/** The cells of a row, and the time of its movement in epoch ms. */
export interface AccountingRow {
  readonly at: number;
  readonly cells: readonly string[];
}

/** The data that this home has about a transaction. */
export interface LocalData {
  /** The recipient of the transaction. */
  readonly payee: string | undefined;
  /** The fiat rates that this home kept for the time of the settlement. */
  readonly kept: Pick<KeptRate, 'fiat' | 'rates'> | undefined;
}

export interface AccountingFormat {
  readonly head: readonly string[];
  /**
   * Returns the row of a transaction, or undefined for a transaction that does not fit the format.
   */
  readonly row: (
    txn: ListedTransaction,
    day: (at: number) => string,
    local: LocalData,
  ) => AccountingRow | undefined;
  /** The largest number of rows per file that the accounting program accepts. */
  readonly atMost: number;
}

/** The movements of a completed transaction. */
const movementsOf = (txn: ListedTransaction): readonly TransactionMovement[] =>
  booked(txn, 0).movements;

/** The format of Koinly, with times in UTC, because Koinly reads times as UTC. */
const koinly: AccountingFormat = {
  head: [
    'Date',
    'Sent Amount',
    'Sent Currency',
    'Received Amount',
    'Received Currency',
    'Fee Amount',
    'Fee Currency',
    'Net Worth Amount',
    'Net Worth Currency',
    'Label',
    'Description',
    'TxHash',
  ],
  atMost: Infinity,
  row(txn, _day, { payee, kept }) {
    const movements = movementsOf(txn);
    const [first] = movements;
    if (first === undefined) return undefined;
    const sent = movements.find(({ out }) => out.gt(0));
    const received = movements.find((movement) => movement.in.gt(0));
    const amount = (
      movement: TransactionMovement | undefined,
      name: 'in' | 'out' | 'fee',
    ): string[] =>
      movement === undefined || movement[name].eq(0)
        ? ['', '']
        : [fixed(movement[name]), movement.ccy];
    const date = `${new Date(first.at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
    return {
      at: first.at,
      cells: [
        date,
        ...amount(sent, 'out'),
        ...amount(received, 'in'),
        ...amount(sent, 'fee'),
        ...netWorth(sent ?? first, kept),
        '',
        descriptionOf(first, payee),
        txn.txnId,
      ],
    };
  },
};

/** Returns the fiat value of the amount that left or reached the wallet, and the fiat currency. */
function netWorth(moved: TransactionMovement, kept: LocalData['kept']): string[] {
  const rate = kept?.rates[moved.ccy];
  if (kept === undefined || rate === undefined) return ['', ''];
  const value = moved.in.plus(moved.out).times(rate);
  return [value.toFixed(decimalsOf(kept.fiat)), kept.fiat];
}

const xero = (ccy: string): AccountingFormat => ({
  head: ['*Date', '*Amount', 'Payee', 'Description', 'Reference', 'Check Number'],
  atMost: 1_000,
  row: inCurrency(ccy, (movement, day, payee) => [
    day,
    amountText(movement),
    payee ?? movement.other,
    descriptionOf(movement, payee),
    movement.reference ?? movement.txnId,
    '',
  ]),
});

/** The three-column layout of QuickBooks, with US dates. */
const quickbooks = (ccy: string): AccountingFormat => ({
  head: ['Date', 'Description', 'Amount'],
  atMost: 1_000,
  row: inCurrency(ccy, (movement, day, payee) => {
    const [year = '', month = '', date = ''] = day.split('-');
    return [`${month}/${date}/${year}`, descriptionOf(movement, payee), amountText(movement)];
  }),
});

const inCurrency =
  (
    ccy: string,
    cells: (
      movement: TransactionMovement,
      day: string,
      payee: string | undefined,
    ) => readonly string[],
  ): AccountingFormat['row'] =>
  (txn, day, { payee }) => {
    const movement = movementsOf(txn).find((each) => each.ccy === ccy);
    return movement === undefined || changeOf(movement).eq(0)
      ? undefined
      : { at: movement.at, cells: cells(movement, day(movement.at), payee) };
  };

const amountText = (movement: TransactionMovement): string =>
  changeOf(movement).toFixed(decimalsOf(movement.ccy));

const words = { receive: 'Received', send: 'Sent', swap: 'Swapped' } as const;

/** Describes a transaction, such as `Sent tron:Supplier in Lagos`. */
const descriptionOf = ({ kind, other, note }: TransactionMovement, payee = other): string =>
  `${words[kind]} ${payee}${note === null ? '' : `: ${note}`}`;

export const accountingFormats = ['koinly', 'xero', 'quickbooks'] as const;

/**
 * Returns the format of an accounting program.
 * @param ccy the fiat currency of the account, if the format needs it
 */
export const accountingFormat = (
  name: (typeof accountingFormats)[number],
  ccy: string,
): AccountingFormat =>
  ({ koinly: () => koinly, xero: () => xero(ccy), quickbooks: () => quickbooks(ccy) })[name]();
