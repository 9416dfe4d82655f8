// What a payment asks the service for: the creation body of each kind, by the rules of specification endpoint 6.
import type { CreateTransaction } from '../api/types.js';
import type Big from 'big.js';
import { btcFromMsat, type Money } from '../formats/amount.js';
import type { Invoice } from '../formats/bolt11.js';

/** A payment as it was asked for, before the service has quoted it. */
export interface Order {
  /** In words, as in `send lightning`. */
  readonly kind: string;
  readonly body: CreateTransaction;
  /** What can be paid once only: a payment hash. */
  readonly onceKey: string | null;
  /** Where the money goes, for limits on destinations. */
  readonly destination: string;
  /** The exact amount that the recipient must get, where the order fixes it. */
  readonly receives: Money | undefined;
}

const servicepay = 'servicepay';

/** Rule 2: no amount on either side, the invoice carries it. */
export function lightningOrder(invoice: Invoice, from: string): Order {
  return {
    kind: 'send lightning',
    body: {
      sourceReq: { ccy: from, method: servicepay, reqDetails: {} },
      destReq: { ccy: 'BTC', method: 'lightning', reqDetails: { paymentRequest: invoice.invoice } },
    },
    onceKey: `bolt11:${invoice.paymentHash}`,
    destination: invoice.payee,
    receives: invoice.amountMsat === null ? undefined : { ccy: 'BTC', value: btcFromMsat(invoice.amountMsat) },
  };
}

/** Rule 8: both methods are the internal wallet; rule 1: the amount stands on one side only. */
export function swapOrder(from: string, to: string, amount: Money, side: 'source' | 'dest'): Order {
  return {
    kind: 'swap',
    body: {
      sourceReq: { ccy: from, method: servicepay, reqDetails: {}, ...(side === 'source' && onSide(amount.value)) },
      destReq: { ccy: to, method: servicepay, reqDetails: {}, ...(side === 'dest' && onSide(amount.value)) },
    },
    onceKey: null,
    destination: to,
    receives: side === 'dest' ? amount : undefined,
  };
}

/** Rule 4: the amount stands on the destination, whose method is the internal wallet. */
export function receiveBody(method: 'lightning' | 'on-chain', amount: Money): CreateTransaction {
  return {
    sourceReq: { ccy: amount.ccy, method, reqDetails: {} },
    destReq: { ccy: amount.ccy, method: servicepay, reqDetails: {}, ...onSide(amount.value) },
  };
}

const onSide = (amtRequested: Big): { amtRequested: Big } => ({ amtRequested });
