// The service as shared by many payments: wallets are read once for all of them, and a limited number of requests
// that make or confirm a payment are out at a time.
import pLimit from 'p-limit';
import type { Wallet } from '../../api/types.js';
import type { PaymentService } from '../payment/contract.js';

const freshMs = 2_000;

/**
 * A balance of some seconds ago will do: it only spares the service what is hopeless, and the service itself decides about
 * the funds. Only the first that asks waits for the answer.
 *
 * @param concurrency how many creations and confirmations may be out at a time
 */
export function sharedService(service: PaymentService, concurrency: number, now: () => number): PaymentService {
  const oneOf = pLimit(concurrency);
  let latest: Promise<Wallet[]> | undefined;
  let readAt = 0;
  const read = (): Promise<Wallet[]> => {
    readAt = now();
    const reading = service.wallets();
    const before = latest;
    // A read that fails leaves what was known.
    reading.then(
      () => (latest = reading),
      () => (latest = before),
    );
    return reading;
  };
  return {
    createTransaction: (body) => oneOf(() => service.createTransaction(body)),
    confirmTransaction: (txnId) => oneOf(() => service.confirmTransaction(txnId)),
    cancelTransaction: (txnId) => service.cancelTransaction(txnId),
    transaction: (txnId) => service.transaction(txnId),
    eachTransaction: (filter) => service.eachTransaction(filter),
    transactions: (filter) => service.transactions(filter),
    rates: () => service.rates(),
    serviceNow: () => service.serviceNow(),
    confirmedNow: () => service.confirmedNow(),
    wallets: () => {
      if (latest === undefined || Math.abs(now() - readAt) > freshMs) {
        const reading = read();
        latest ??= reading;
      }
      return latest;
    },
  };
}
