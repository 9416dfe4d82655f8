// The one machine that every payment runs through: intent -> created -> confirming -> confirmed -> final, each step in
// the journal before its request goes out. Recovery after a crash is this same path, entered where it had stopped.
import type { Transaction } from '../../api/types.js';
import { LostClaim, type Intent } from '../../store/journal/journal.js';
import type { PaymentDeps, PaymentOptions, PaymentRequest } from './contract.js';
import { takeOver } from './follow.js';
import { encodeOrder, fingerprint } from './order-record.js';
import { alreadyPaid, differentPayment } from './references.js';
import { givenUp, type RunOptions } from './run.js';
import { isFinal } from '../../formats/states.js';
import { advance } from './steps.js';

/**
 * Pays at most once and resolves with the transaction in its last known state.
 * Throws Failure: `payment-failed` when it ended without paying, `pending` when its outcome is not known yet.
 */
export async function pay(request: PaymentRequest, options: PaymentOptions, deps: PaymentDeps): Promise<Transaction> {
  const { order, terms } = request;
  const consent = options.quoteOnly ? 'none' : request.consent;
  const draft = {
    id: deps.newId(),
    scope: deps.scope,
    account: deps.account,
    ref: request.ref ?? deps.newId(),
    kind: order.kind,
    request: encodeOrder(order),
    fingerprint: fingerprint(order),
    onceKey: order.onceKey,
    terms,
    consent,
  };
  const { intent, found } = await deps.journal.begin(draft);
  if (found === 'ref' && intent.fingerprint !== draft.fingerprint) throw differentPayment(intent.ref, intent.txnId);
  // The same invoice without a reference is the same payment run again; all else about it must be the same too.
  const isSame = request.ref === undefined && intent.fingerprint === draft.fingerprint && !isOver(intent);
  if (found === 'once' && !isSame) throw alreadyPaid(intent);
  return drive(
    intent,
    {
      reference: request.unseen === true ? 'unseen' : found === 'new' && request.ref === undefined ? 'ours' : 'given',
      renew: found === 'new' ? {} : { terms, consent },
      resumed: false,
      options,
    },
    deps,
  );
}

const isOver = ({ txnState }: Intent): boolean => txnState !== null && isFinal(txnState);

/**
 * Goes on with a payment that the journal holds, with the terms and the yes that it holds, or reports how it ended.
 * Throws Failure like `pay`; `usage` for one that was given up before anything moved.
 */
export async function resume(intent: Intent, options: PaymentOptions, deps: PaymentDeps): Promise<Transaction> {
  if (intent.closed) throw givenUp(intent);
  return drive(intent, { reference: 'given', renew: {}, resumed: true, options }, deps);
}

/** Goes on with a payment that the journal holds as if it were asked for anew, also with one that was given up. */
export async function payAnew(
  intent: Intent,
  renew: RunOptions['renew'],
  options: PaymentOptions,
  deps: PaymentDeps,
): Promise<Transaction> {
  return drive(intent, { reference: 'given', renew, resumed: false, options }, deps);
}

async function drive(opened: Intent, start: RunOptions, deps: PaymentDeps): Promise<Transaction> {
  // Two runs in one process must not take each other for the same.
  const owner = `${deps.owner} ${deps.newId()}`;
  for (;;) {
    const taken = await takeOver(opened, start.options, { ...deps, owner });
    if ('txn' in taken) return taken.txn;
    const { claim, followed } = taken;
    try {
      return await advance(claim, { ...start, followed }, deps);
    } catch (error) {
      if (!(error instanceof LostClaim)) throw error;
    } finally {
      await deps.journal.release(claim).catch(() => undefined);
    }
  }
}
