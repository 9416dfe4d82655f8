// The payments of this wallet: each runs through the one machine, each step in the journal before its request goes out.
// Recovery after a crash is this same path, entered where it had stopped.
import type { Transaction } from '../../api/types.js';
import { leaseMs, type Claim, type Intent } from '../../store/journal/journal.js';
import { wasEverLetGo } from '../../store/journal/rules.js';
import { isFinal } from '../../formats/states.js';
import type { PaymentDeps, PaymentOptions, PaymentRequest } from './contract.js';
import { openHistory } from './history.js';
import { advance } from './machine.js';
import { isForOrder, isTold, recordOf } from './order-record.js';
import type { Order } from './orders.js';
import { alreadyPaid, differentPayment, onceRef } from './references.js';
import { echoes } from '../quote/echo.js';
import { readTransaction } from '../transaction/read-transaction.js';
import { givenUp, notTold, type RunOptions } from './run.js';
import { takeOver } from './take-over.js';

/**
 * Pays at most once and resolves with the transaction in its last known state.
 * Throws Failure: `payment-failed` when it ended without paying, `pending` when its outcome is not known yet.
 */
export async function pay(request: PaymentRequest, options: PaymentOptions, deps: PaymentDeps): Promise<Transaction> {
  const { order, terms } = request;
  const { onceKey } = order;
  const consent = options.mode === 'look' ? 'none' : request.consent;
  const draft = {
    id: deps.newId(),
    scope: deps.scope,
    account: deps.account,
    ref: request.ref ?? refByItself(order) ?? deps.newId(),
    ...recordOf(order),
    terms,
    consent,
  };
  const { intent, found } = await deps.journal.begin(draft);
  // A bitcoin: URI is planned by its other way once its invoice has expired.
  const isOtherWay = onceKey !== null && intent.onceKey === onceKey && wasEverLetGo(intent);
  const isSame =
    found === 'new' || isForOrder(intent, order) || (found === 'ref' && (isOtherWay || (await isToldAlike(intent, order, deps))));
  const isPaid = intent.txnState === 'completed' || intent.txnState === 'error';
  if (found === 'ref' && !isSame) throw differentPayment(intent.ref, intent.txnId);
  // The same invoice without a reference is the same payment run again, until it is over.
  if (found === 'once' && (request.ref !== undefined || !isSame || isOver(intent))) throw alreadyPaid(intent);
  if (found === 'ref' && request.ref === undefined && intent.step === 'final' && isPaid) throw alreadyPaid(intent);
  return drive(
    intent,
    {
      mode: options.mode,
      reference: request.ref !== undefined ? 'given' : onceKey !== null ? 'once' : 'own',
      renew: found === 'new' ? {} : { terms, consent },
      options,
    },
    deps,
  );
}

/** What is known of a payment from the service alone is compared with what the service says of it. */
async function isToldAlike(intent: Intent, order: Order, { service }: PaymentDeps): Promise<boolean> {
  if (!isTold(intent)) return false;
  const txn = await readTransaction(service, intent.txnId ?? '').catch((error: unknown) => {
    throw notTold(intent, error);
  });
  return echoes(order, txn);
}

/** An invoice is paid under the same reference wherever it is paid; another way to pay the same has one of its own. */
const refByItself = ({ onceKey, body }: Order): string | undefined =>
  onceKey !== null && body.destReq.method === 'lightning' ? onceRef(onceKey) : undefined;

const isOver = ({ txnState }: Intent): boolean => txnState !== null && isFinal(txnState);

/**
 * Goes on with a payment that the journal holds, with the terms and the yes that it holds, or reports how it ended.
 * Throws Failure like `pay`; `usage` for one that was given up before anything moved.
 */
export async function resume(
  intent: Intent,
  options: Omit<PaymentOptions, 'mode'>,
  deps: PaymentDeps,
): Promise<Transaction> {
  if (intent.closed) throw givenUp(intent);
  const resumed = { ...options, mode: 'pay' } as const;
  return drive(intent, { mode: 'resume', reference: 'given', renew: {}, options: resumed }, deps);
}

/** Makes another attempt at a payment that failed, or that may have paid, because a person says so. */
export async function tryAgain(
  intent: Intent,
  renew: RunOptions['renew'],
  options: Omit<PaymentOptions, 'mode' | 'retry'>,
  deps: PaymentDeps,
): Promise<Transaction> {
  const again = { ...options, mode: 'pay', retry: true } as const;
  return drive(intent, { mode: 'pay', reference: 'given', renew, options: again }, deps);
}

/** Lets the quote that the journal holds become a payment, that one and no other, also one that was given up. */
export async function payThisQuote(
  quoteId: string,
  intent: Intent,
  renew: RunOptions['renew'],
  options: PaymentOptions,
  deps: PaymentDeps,
): Promise<Transaction> {
  return drive(intent, { mode: 'this-quote', quoteId, reference: 'given', renew, options }, deps);
}

async function drive(opened: Intent, start: Omit<RunOptions, 'followed'>, deps: PaymentDeps): Promise<Transaction> {
  // Two runs in one process must not take each other for the same.
  const own = { ...deps, owner: `${deps.owner} ${deps.newId()}` };
  const history = deps.history ?? historyFor(deps);
  let known = opened;
  for (;;) {
    const taken = await takeOver(known, start.options, own);
    if ('txn' in taken) return taken.txn;
    const { claim, followed } = taken;
    const letGo = keepLease(claim, deps);
    try {
      const end = await advance(claim, { ...start, followed }, deps, history);
      if ('txn' in end) return end.txn;
      known = end.lost;
    } finally {
      letGo();
      await deps.journal.release(claim).catch(() => undefined);
    }
  }
}

/** An answer may take longer than a lease lasts: who waits for it must not be taken for dead. */
function keepLease(claim: Claim, { every, journal }: PaymentDeps): () => void {
  // One that was lost is found out with the next write.
  return every(leaseMs / 3, () => void journal.renew(claim).catch(() => undefined));
}

/** What is known of the service's list, for one payment or for many that share it. */
export const historyFor = ({ service, journal, scope, on }: Pick<PaymentDeps, 'service' | 'journal' | 'scope' | 'on'>) =>
  openHistory({
    service,
    references: journal.references,
    scope,
    onRead: (count) => on({ type: 'reading-history', count }),
  });
