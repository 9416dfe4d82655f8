// The service as many payments at once use it: the wallets are read once for all that ask within a moment.
import type { PaymentService } from '../contract.js';

const freshMs = 2_000;

/** The service itself decides about the funds; a balance of a moment ago only spares it what is hopeless. */
export function frugal(service: PaymentService, now: () => number): PaymentService {
  let latest: { readonly at: number; readonly wallets: ReturnType<PaymentService['wallets']> } | undefined;
  return {
    createTransaction: (body) => service.createTransaction(body),
    confirmTransaction: (txnId) => service.confirmTransaction(txnId),
    transaction: (txnId) => service.transaction(txnId),
    eachTransaction: (filter) => service.eachTransaction(filter),
    serviceNow: () => service.serviceNow(),
    wallets: () => {
      if (latest === undefined || now() - latest.at > freshMs || now() < latest.at) {
        const wallets = service.wallets();
        latest = { at: now(), wallets };
        wallets.catch(() => (latest = undefined));
      }
      return latest.wallets;
    },
  };
}
