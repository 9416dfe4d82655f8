// Asking for money by any method: create and confirm once, and wait until there is something to pay to.
import Big from 'big.js';
import { moneyFromWire, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { isQuoted } from '../../formats/states.js';
import type { CreateTransaction, Transaction } from '../../api/types.js';
import { confirmOnce, type ConfirmDeps } from '../payment/confirm.js';
import { createOnce, explainRefusal, type CreateDeps } from '../payment/create.js';
import type { History } from '../payment/history.js';
import { withKnown } from '../transaction/read-transaction.js';
import { waitUntilFinal } from '../transaction/wait.js';

export interface ReceiveDeps {
  readonly service: CreateDeps['service'] & ConfirmDeps['service'];
  /** Opened only where a reference has to be looked for. */
  readonly history: () => Promise<History>;
  readonly sleep: ConfirmDeps['sleep'];
  readonly newId: () => string;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export interface Requested {
  readonly txn: Transaction;
  /** What it asks for. */
  readonly amount: Money;
}

/**
 * Creates and confirms a receive transaction. With a reference that was used before, the earlier one is returned.
 * Throws Failure `refused` when the reference belongs to another amount or method.
 *
 * @param isConverted the amount is that of a rate, which an earlier one may differ from by as much as a rate moves
 */
export async function requestMoney(
  body: CreateTransaction,
  ref: string | undefined,
  isConverted: boolean,
  deps: ReceiveDeps,
): Promise<Requested> {
  const extRefId = ref ?? deps.newId();
  const find = async (): Promise<Transaction | undefined> => {
    const history = await deps.history();
    await history.update(0);
    const earlier = (await history.attempts(extRefId)).at(-1);
    return earlier === undefined ? undefined : deps.service.transaction(earlier.txnId);
  };
  const known = ref === undefined ? undefined : await find();
  const quoted = known ?? (await createQuote({ ...body, extRefId }, ref === undefined, find, deps));
  const amount = checkedAmount(body, quoted, extRefId, known !== undefined && isConverted ? rateMoves : new Big(0));
  const confirmed = isQuoted(quoted.txnState) ? (await confirmOnce(quoted.txnId, false, deps)).txn : quoted;
  const made = { atMostMs: longestMakingMs, onChange: () => undefined, enough: isPayable };
  return { txn: await waitUntilFinal(withKnown(quoted, confirmed), made, deps), amount };
}

/** A confirmation may be answered before there is something to pay to; it is read again until there is. */
const longestMakingMs = 60_000;

/** An invoice or an address is there. */
function isPayable({ sourceReq }: Transaction): boolean {
  const { paymentRequest, address } = sourceReq.reqDetails ?? {};
  return [paymentRequest, address].some((each) => typeof each === 'string' && each !== '');
}

async function createQuote(
  body: CreateTransaction,
  fresh: boolean,
  find: () => Promise<Transaction | undefined>,
  deps: ReceiveDeps,
): Promise<Transaction> {
  try {
    return await createOnce(body, fresh, find, () => undefined, deps);
  } catch (error) {
    throw explainRefusal(error, undefined);
  }
}

/** As a share of the amount: more than a rate moves while an invoice can be paid, less than makes another sum of it. */
const rateMoves = new Big('0.1');

function checkedAmount({ sourceReq, destReq }: CreateTransaction, txn: Transaction, ref: string, tolerance: Big): Money {
  const told = moneyFromWire(destReq.ccy, txn.destReq.amtRequested);
  const asked = new Big(destReq.amtRequested ?? 0);
  const isSame =
    txn.sourceReq.method === sourceReq.method &&
    txn.destReq.ccy === destReq.ccy &&
    told?.value.minus(asked).abs().lte(asked.times(tolerance)) === true;
  if (told !== undefined && isSame) return told;
  throw new Failure('refused', `Not usable: transaction ${txn.txnId} (${ref}) is a different request.`, {
    next: { do: 'show', id: txn.txnId },
    txnId: txn.txnId,
  });
}
