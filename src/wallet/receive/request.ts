// Requests money by any method: creates and confirms once, and waits for the invoice or address.
import Big from 'big.js';
import { NoAnswer } from '../../api/errors.js';
import { retryPolicy } from '../../api/retry-policy.js';
import type { CreateTransaction, Transaction } from '../../api/types.js';
import { moneyFromWire, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { isQuoted } from '../../formats/states.js';
import type { PaymentService } from '../payment/contract.js';
import { listedUnder } from '../payment/find.js';
import { noQuote, refused } from '../payment/outcomes.js';
import { isOwnRefusal, referenceUse } from '../payment/refusals.js';
import { pauseBefore } from '../transaction/backoff.js';
import { readTransaction, withKnown } from '../transaction/read-transaction.js';
import { waitUntilFinal } from '../transaction/wait.js';

export interface ReceiveDeps {
  readonly service: Pick<
    PaymentService,
    'createTransaction' | 'confirmTransaction' | 'transaction' | 'transactions' | 'eachTransaction'
  >;
  /** Called with the number of searched transactions during a reference lookup. */
  readonly onRead: (count: number) => void;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly newId: () => string;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export interface Requested {
  readonly txn: Transaction;
  /** The requested amount. */
  readonly amount: Money;
}

/**
 * Creates and confirms a receive transaction, or returns the earlier transaction of a used reference.
 * Throws Failure `refused` if the reference belongs to another amount or method.
 *
 * @param isConverted the amount was converted, so an earlier amount may differ by a change of the rate
 */
export async function requestMoney(
  body: CreateTransaction,
  ref: string | undefined,
  isConverted: boolean,
  deps: ReceiveDeps,
): Promise<Requested> {
  const extRefId = ref ?? deps.newId();
  const { txn: quoted, isEarlier } = await createOrFind(
    { ...body, extRefId },
    ref === undefined,
    deps,
  );
  const amount = checkedAmount(
    body,
    quoted,
    extRefId,
    isEarlier && isConverted ? rateMoves : new Big(0),
  );
  const confirmed = isQuoted(quoted.txnState) ? await confirmReceive(quoted.txnId, deps) : quoted;
  const made = { atMostMs: longestMakingMs, onChange: () => undefined, enough: isPayable };
  return { txn: await waitUntilFinal(withKnown(quoted, confirmed), made, deps), amount };
}

/** Longest wait for the invoice or address, which may follow the confirmation. */
const longestMakingMs = 60_000;

/** Whether the invoice or address exists. */
function isPayable({ sourceReq }: Transaction): boolean {
  const { paymentRequest, address } = sourceReq.reqDetails ?? {};
  return [paymentRequest, address].some((each) => typeof each === 'string' && each !== '');
}

type Found = { readonly txn: Transaction; readonly isEarlier: boolean };

/** Searches the list only after the service has refused the reference. */
async function createOrFind(
  body: CreateTransaction,
  isOwnReference: boolean,
  deps: ReceiveDeps,
): Promise<Found> {
  let mayExist = false;
  for (let tries = 1; ; tries += 1) {
    try {
      return { txn: await deps.service.createTransaction(body), isEarlier: false };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!(error instanceof NoAnswer) && error.kind !== 'temporary') {
        const use = referenceUse(error, mayExist, isOwnReference);
        const [listed] =
          use === undefined
            ? []
            : await listedUnder(
                body.extRefId ?? '',
                { since: 0, depth: use.depth, onRead: deps.onRead },
                deps.service,
              );
        if (listed === undefined) throw refused('quote', error);
        return { txn: await deps.service.transaction(listed.row.txnId), isEarlier: true };
      }
      mayExist ||= error instanceof NoAnswer && error.mayHaveArrived;
      const pause = pauseBefore(tries, error);
      if (tries >= retryPolicy.creations || pause === undefined || deps.signal.aborted)
        throw noQuote(error);
      await deps.sleep(pause, deps.signal);
    }
  }
}

/** Confirming a receive moves nothing, so after an unanswered confirmation the transaction is read and, if still quoted, confirmed again. */
export async function confirmReceive(
  txnId: string,
  deps: Pick<ReceiveDeps, 'service' | 'sleep' | 'signal'>,
): Promise<Transaction> {
  const { service, sleep, signal } = deps;
  for (let tries = 1; ; tries += 1) {
    let error: unknown;
    try {
      const txn = await service.confirmTransaction(txnId);
      if (txn.txnId === txnId && !isQuoted(txn.txnState)) return txn;
    } catch (caught) {
      error = caught;
      if (!(error instanceof Failure)) throw error;
      if (isOwnRefusal(error)) throw refused('confirmation', error, undefined, txnId);
    }
    const pause = pauseBefore(tries, error);
    if (tries >= retryPolicy.confirmations || pause === undefined || signal.aborted) {
      throw (
        error ??
        new Failure('temporary', 'The service did not confirm the request.', {
          next: { do: 'show', id: txnId },
          txnId,
        })
      );
    }
    await sleep(pause, signal).catch(() => undefined);
    const txn = await readTransaction(service, txnId).catch(() => undefined);
    if (txn !== undefined && !isQuoted(txn.txnState)) return txn;
  }
}

/** Largest plausible change of a rate while an invoice is valid, as a fraction. */
const rateMoves = new Big('0.1');

function checkedAmount(
  { sourceReq, destReq }: CreateTransaction,
  txn: Transaction,
  ref: string,
  tolerance: Big,
): Money {
  const answered = moneyFromWire(destReq.ccy, txn.destReq.amtRequested);
  const asked = new Big(destReq.amtRequested ?? 0);
  const isSame =
    txn.sourceReq.method === sourceReq.method &&
    txn.destReq.ccy === destReq.ccy &&
    answered?.value.minus(asked).abs().lte(asked.times(tolerance)) === true;
  if (answered !== undefined && isSame) return answered;
  throw new Failure(
    'refused',
    `Not usable: transaction ${txn.txnId} (${ref}) is a different request.`,
    {
      next: { do: 'show', id: txn.txnId },
      txnId: txn.txnId,
    },
  );
}
