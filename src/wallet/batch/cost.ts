// Calculates the cost of a batch before approval, including fees, from one quote for all rows with
// the same wallet, currency and method.
import Big from 'big.js';
import { decimalsOf, formatAmount, type Money } from '../../formats/amount.js';
import { Failure, type FailureKind } from '../../formats/failure.js';
import type { Quote } from '../quote/quote.js';
import { grouped, type Row, type RowCost } from './row.js';

/** The approximate debit of one wallet. */
export interface Cost {
  readonly ccy: string;
  /** The total debit of the wallet, including fees. */
  readonly total: Big;
  readonly fees: Big;
  /** The highest debit that a person approves together with the total. */
  readonly most: Big;
}

/** The parts of a quote from which the costs of the rows like it follow. */
export type QuotedCost = Pick<Quote, 'total' | 'serviceFee' | 'networkFee'>;

export interface Priced {
  /** The costs by wallet, or an empty list if the service quotes no row. */
  readonly costs: readonly Cost[];
  /** The given rows, each with its cost if the service quoted a row like it. */
  readonly rows: readonly Row[];
  /** The rows that the service did not quote, with the reasons. */
  readonly refused: readonly Row[];
}

/** Kinds of failure that end the quoting, because they are temporary or concern the whole batch. */
const ending: ReadonlySet<FailureKind> = new Set([
  'temporary',
  'authentication',
  'interrupted',
  'unexpected',
]);

/** The number of rows of a kind for which svcpay requests a quote until the service quotes one. */
const mostTried = 3;

/** Whether one quote gives the cost of both rows. */
const kindOf = ({ from, ccy, method, kind }: Row): string => `${from} ${ccy} ${method} ${kind}`;

/**
 * Quotes one row of each kind. The result's `refused` contains the refusals of single rows. Throws
 * errors that concern all rows, such as a network failure.
 */
export async function priceRows(
  rows: readonly Row[],
  quote: (row: Row) => Promise<QuotedCost>,
): Promise<Priced> {
  const refused: Row[] = [];
  const priceKind = async (alike: readonly Row[]): Promise<Row[]> => {
    for (const row of alike.slice(0, mostTried)) {
      try {
        const quoted = await quote(row);
        return alike.map((each) => ({ ...each, cost: costOf(each, row, quoted) }));
      } catch (error) {
        if (!(error instanceof Failure) || ending.has(error.kind)) throw error;
        refused.push({ ...row, failure: error });
      }
    }
    return [...alike];
  };
  const kinds = [...grouped(rows, kindOf).values()];
  const priced = (await Promise.all(kinds.map(priceKind))).flat();
  return {
    costs: costsOf(priced),
    rows: priced.toSorted((a, b) => a.line - b.line),
    refused: refused.toSorted((a, b) => a.line - b.line),
  };
}

/** The cost of a row: amount and service fee in proportion, and the same network fee. */
function costOf(row: Row, like: Row, { total, serviceFee, networkFee }: QuotedCost): RowCost {
  const { ccy } = total;
  const ratio = new Big(like.amount).eq(0) ? new Big(1) : new Big(row.amount).div(like.amount);
  const fees = serviceFee.value.times(ratio).plus(networkFee.value);
  const amount = total.value.minus(serviceFee.value).minus(networkFee.value);
  const up = (value: Big): Money => ({ ccy, value: value.round(decimalsOf(ccy), Big.roundUp) });
  return { total: up(amount.times(ratio).plus(fees)), fees: up(fees) };
}

/** The share of the total by which rates may change until the last row is paid. */
const margin = '0.02';

function costsOf(rows: readonly Row[]): Cost[] {
  const wallets = grouped(rows, ({ cost }) => cost?.total.ccy);
  return [...wallets].map(([ccy, alike]) => {
    const sum = (part: keyof RowCost): Big =>
      alike.reduce((all, { cost }) => all.plus(cost?.[part].value ?? 0), new Big(0));
    const [total, fees] = [sum('total'), sum('fees')];
    const most = total.plus(fees).plus(total.times(margin)).round(decimalsOf(ccy), Big.roundUp);
    return { ccy, total, fees, most };
  });
}

/**
 * Throws Failure `limit` if a row exceeds a limit, or if the quoted total exceeds the balance of a
 * wallet.
 */
export function refuseUnpayable(
  { costs, refused }: Pick<Priced, 'costs' | 'refused'>,
  available: (ccy: string) => Money | undefined,
): void {
  const short = costs.flatMap(({ ccy, total }) => {
    const have = available(ccy);
    if (have === undefined || have.value.gte(total)) return [];
    return [
      `The batch takes about ${formatAmount({ ccy, value: total })} including fees from the ` +
        `${ccy} wallet, but you have ${formatAmount(have)}.`,
    ];
  });
  if (short.length > 0) throw tooPoor(short);
  const overLimit = refused.find(({ failure }) => failure?.kind === 'limit');
  if (overLimit !== undefined) throw refusedRow(overLimit);
}

/** Converts the refusal of a row to the refusal of the batch. */
export const refusedRow = ({ line, failure }: Row): Failure =>
  new Failure(failure?.kind ?? 'refused', `line ${line}: ${failure?.message}`, {
    money: 'Nothing was sent',
    hint: failure?.hint,
    next: failure?.next,
  });

export const tooPoor = (short: readonly string[]): Failure =>
  new Failure('limit', short.join(' '), { money: 'Nothing was sent', next: { do: 'see-wallets' } });

/**
 * Checks, while svcpay pays a batch, that the totals of the rows do not exceed the approved totals.
 */
export class Ceiling {
  readonly #left: Map<string, Big>;

  constructor(most: readonly Money[]) {
    this.#left = new Map(most.map(({ ccy, value }) => [ccy, value]));
  }

  /** Reserves a row's total within the approved total, or returns false if too little is left. */
  take({ ccy, value }: Money): boolean {
    const left = this.#left.get(ccy);
    if (left === undefined || value.gt(left)) return false;
    this.#left.set(ccy, left.minus(value));
    return true;
  }

  /** Makes the reserved total of an unpaid row available to other rows. */
  release({ ccy, value }: Money): void {
    this.#left.set(ccy, value.plus(this.#left.get(ccy) ?? 0));
  }
}
