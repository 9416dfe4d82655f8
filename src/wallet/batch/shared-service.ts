// Shares the service among many concurrent payments. Reads the wallets once for all payments, and
// limits the number of create and confirm requests in flight.
import pLimit from 'p-limit';
import { nextTurn } from '../../api/timers.js';
import type { Wallet } from '../../api/types.js';
import type { PaymentService } from '../payment/model.js';

const freshMs = 2_000;

/**
 * Returns a service that answers every call of `wallets` with a recent balance, which all payments
 * share. A balance that is a few seconds old suffices, because svcpay uses the balance only to
 * avoid requests that must fail. Until the service has returned the first balance, every call of
 * `wallets` waits for the first balance. While svcpay reads a newer balance, `wallets` returns the
 * previous balance.
 * @param concurrency the maximum number of create and confirm requests in flight
 */
export function sharedService(
  service: PaymentService,
  concurrency: number,
  now: () => number,
): PaymentService {
  const oneOf = pLimit(concurrency);
  let latest: Promise<Wallet[]> | undefined;
  let readAt = 0;
  const read = (): Promise<Wallet[]> => {
    readAt = now();
    const reading = service.wallets();
    const before = latest;
    // After a failed read, svcpay continues to use the previous balance.
    reading.then(
      () => (latest = reading),
      () => (latest = before),
    );
    return reading;
  };
  let passed = Promise.resolve();
  /**
   * Passes the responses on one by one. Before each, the event loop sends the request that waited
   * for the response, because the work of a payment would delay that request.
   */
  const afterRequests = async <T>(response: Promise<T>): Promise<T> => {
    await response.catch(() => undefined);
    passed = passed.then(nextTurn).then(nextTurn);
    await passed;
    return response;
  };
  return {
    createTransaction: (body) => afterRequests(oneOf(() => service.createTransaction(body))),
    confirmTransaction: (txnId) => afterRequests(oneOf(() => service.confirmTransaction(txnId))),
    cancelTransaction: (txnId) => service.cancelTransaction(txnId),
    transaction: (txnId) => service.transaction(txnId),
    eachTransaction: (filter) => service.eachTransaction(filter),
    transactions: (filter) => service.transactions(filter),
    rates: () => service.rates(),
    serviceNow: () => service.serviceNow(),
    datedNow: () => service.datedNow(),
    wallets: () => {
      if (latest === undefined || Math.abs(now() - readAt) > freshMs) {
        const reading = read();
        latest ??= reading;
      }
      return latest;
    },
  };
}
