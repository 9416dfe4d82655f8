// Creation along the rules that keep a reference to one transaction: after a lost answer it is looked for before it is
// asked for again, under the same reference.
import { NoAnswer, ServiceError } from '../../api/errors.js';
import type { CreateTransaction, Transaction } from '../../api/types.js';
import { formatAmount, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { pauseBefore } from '../transaction/backoff.js';

export interface CreateDeps {
  readonly service: { createTransaction(body: CreateTransaction): Promise<Transaction> };
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

const tries = 4;

/**
 * Throws the service's refusal, or Failure `temporary` when no answer came: a quote moves nothing either way.
 *
 * @param ours nobody else can have used `body.extRefId`, so that a refusal needs no look-up.
 * @param find looks for a transaction that an earlier request under the same reference made.
 * @param onLost an answer was lost: from now on the service may know the reference from this very call.
 */
export async function createOnce(
  body: CreateTransaction,
  ours: boolean,
  find: () => Promise<Transaction | undefined>,
  onLost: (mayHaveArrived: boolean) => void,
  { service, sleep, signal }: CreateDeps,
): Promise<Transaction> {
  let unknown = ours;
  for (let attempt = 1; ; attempt += 1) {
    let error: unknown;
    try {
      return await service.createTransaction(body);
    } catch (caught) {
      error = caught;
    }
    onLost(mayHaveArrived(error));
    unknown &&= !mayHaveArrived(error);
    const again = isTemporary(error);
    if (again) {
      const pause = pauseBefore(attempt, error);
      if (attempt >= tries || pause === undefined || signal.aborted) throw nothingMoved(error);
      await sleep(pause, signal);
    }
    // What is refused after another try may be refused for what that try has made, whatever its answer said.
    const earlier = unknown && (again || attempt === 1) ? undefined : await find();
    if (earlier !== undefined) return earlier;
    if (!again) throw error;
  }
}

const isTemporary = (error: unknown): boolean =>
  error instanceof NoAnswer || (error instanceof Failure && error.kind === 'temporary');

const mayHaveArrived = (error: unknown): boolean => error instanceof NoAnswer && error.mayHaveArrived;

function nothingMoved(error: unknown): unknown {
  if (!(error instanceof Failure) || error.kind === 'temporary') return error;
  return new Failure('temporary', 'Nothing moved: the service did not answer the request for a quote.', {
    hint: 'Run the same command again.',
    status: error.status,
    cause: error,
  });
}

/** The specification gives no code for a balance that is too small, only these words; a code that is known decides. */
const saysInsufficient = ({ code, reason }: ServiceError): boolean =>
  !/^(?:100[1-3]|200[1-7]|300[12])$/.test(code ?? '') && /insufficient/i.test(reason);

/** A refusal of the service in words that say first that nothing moved; exit 7 where the funds are too small. */
export function explainRefusal(error: unknown, available: Money | undefined, txnId?: string): unknown {
  if (!(error instanceof ServiceError) || (error.kind !== 'refused' && error.kind !== 'limit')) return error;
  const poor = error.kind === 'limit' || saysInsufficient(error);
  const have = poor && available !== undefined ? ` You have ${formatAmount(available)}.` : '';
  const what = txnId === undefined ? 'quote' : 'confirmation';
  const where = error.code === undefined ? error.status : `${error.status}, code ${error.code}`;
  const message = `Nothing moved: the service refused the ${what}: ${error.reason} (${where}).${have}`;
  return new Failure(poor ? 'limit' : 'refused', message, {
    status: error.status,
    code: error.code,
    txnId,
    cause: error,
  });
}
