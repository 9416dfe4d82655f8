// Determines whether a transaction sends or receives money, from the methods of its two sides.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { methodProperties } from '../../formats/rails.js';
import { clip } from '../../formats/text.js';

const wallet = 'servicepay';

/**
 * Determines the direction of a transaction. The direction is `receive` only if the destination is
 * the account's own wallet and the source is a method by which svcpay requests money. Throws
 * Failure `refused` if a method is missing or unrecognized.
 */
export function directionOf({ txnId, sourceReq, destReq }: Transaction): 'payment' | 'receive' {
  const [source, destination] = [sourceReq.method, destReq.method];
  if (source == null || destination == null) {
    const missing =
      source == null ? 'the source of the transaction' : 'the destination of the transaction';
    throw unclear(txnId, `the service's answer does not show ${missing}`);
  }
  if (source === wallet) return 'payment';
  if (destination === wallet && methodProperties(source)?.isRequested === true) return 'receive';
  throw unclear(txnId, `svcpay does not recognize the source "${clip(source)}"`, {
    hint: 'Check SVCPAY_MAKER. If the service names itself acmepay, set SVCPAY_MAKER=acme.',
  });
}

const unclear = (txnId: string, why: string, advice: { hint?: string } = {}): Failure =>
  new Failure('refused', `${why}, so transaction ${txnId} could send money.`, {
    money: 'Not confirmed',
    txnId,
    ...advice,
  });
