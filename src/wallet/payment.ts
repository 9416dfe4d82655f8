// The one machine that every payment runs through: intent -> created -> confirming -> confirmed -> final, each step in
// the journal before its request goes out. Recovery after a crash is this same path, entered where it had stopped.
import type { Transaction } from '../api/types.js';
import { Failure } from '../formats/failure.js';
import { LostClaim, type Claim, type Consent, type Intent, type PaymentTerms } from '../store/journal.js';
import type { PaymentDeps, PaymentOptions, PaymentRequest } from './contract.js';
import { checkDestination } from './limits.js';
import { encodeOrder, fingerprint } from './order-record.js';
import { differentPayment } from './references.js';
import { isFinal } from './states.js';
import { advance } from './steps.js';

/**
 * Pays at most once and resolves with the transaction in its last known state.
 * Throws Failure: `payment-failed` when it ended without paying, `pending` when its outcome is not known yet.
 */
export async function pay(request: PaymentRequest, options: PaymentOptions, deps: PaymentDeps): Promise<Transaction> {
  const { order, terms, consent } = request;
  checkDestination(deps.limits, order.destination);
  const draft = {
    id: deps.newId(),
    scope: deps.scope,
    ref: request.ref ?? deps.newId(),
    kind: order.kind,
    request: encodeOrder(order),
    fingerprint: fingerprint(order),
    onceKey: order.onceKey,
    terms,
    consent,
    openedAt: deps.now(),
  };
  const { intent, found } = await deps.journal.begin(draft);
  if (found === 'ref' && intent.fingerprint !== draft.fingerprint) throw differentPayment(intent.ref, intent.txnId);
  if (found === 'once') refuseIfPaid(intent, request.ref);
  const fresh = found === 'new' && request.ref === undefined;
  return drive(intent, { fresh, renew: found === 'new' ? {} : { terms, consent } }, options, deps);
}

/** Goes on with a payment that the journal holds, with the terms and the yes that it holds or those given anew. */
export async function resume(
  intent: Intent,
  options: PaymentOptions,
  deps: PaymentDeps,
  renew: Start['renew'] = {},
): Promise<Transaction> {
  return drive(intent, { fresh: false, renew }, options, deps);
}

interface Start {
  /** Nothing under this reference can be known to the service yet. */
  readonly fresh: boolean;
  /** What a new run of the same payment says anew. */
  readonly renew: { readonly terms?: PaymentTerms; readonly consent?: Consent };
}

async function drive(opened: Intent, start: Start, options: PaymentOptions, deps: PaymentDeps): Promise<Transaction> {
  for (;;) {
    const claim = await takeOver(opened, options, deps);
    if ('txn' in claim) return claim.txn;
    try {
      return await advance(claim, { ...start, options }, deps);
    } catch (error) {
      if (!(error instanceof LostClaim)) throw error;
    } finally {
      await deps.journal.release(claim).catch(() => undefined);
    }
  }
}

const followEveryMs = 150;
const followAtMostMs = 120_000;

/** Claims the intent; while another process drives it, waits for that one and then reports what it did. */
async function takeOver(
  opened: Intent,
  options: PaymentOptions,
  deps: PaymentDeps,
): Promise<Claim | { readonly txn: Transaction }> {
  const started = deps.now();
  for (let turn = 0; ; turn += 1) {
    const claim = await deps.journal.claim(opened.id, deps.owner, deps.now());
    if (claim !== undefined) return claim;
    const intent = (await deps.journal.read(opened.id)) ?? opened;
    if (turn === 0) deps.on({ type: 'following', intent });
    if (options.wait === false && intent.step === 'confirmed' && intent.txnId !== null) {
      return { txn: await deps.service.transaction(intent.txnId) };
    }
    if (deps.signal.aborted) throw leftToOther(intent, 'you interrupted');
    if (deps.now() - started > followAtMostMs) throw leftToOther(intent, 'it takes long');
    await deps.sleep(followEveryMs, deps.signal).catch(() => undefined);
  }
}

function leftToOther(intent: Intent, why: string): Failure {
  const moved = intent.step === 'confirming' || intent.step === 'confirmed';
  const message = `another svcpay is at work on ${intent.ref}, and ${why}`;
  return moved
    ? new Failure('pending', `Not known yet: ${message}.`, { hint: `svcpay tx resume ${intent.txnId ?? intent.ref}` })
    : new Failure('temporary', `Nothing moved: ${message}.`, { hint: `svcpay tx resume ${intent.ref}` });
}

/** What can be paid once is refused when it has been, and under another reference; otherwise the earlier run goes on. */
function refuseIfPaid(intent: Intent, ref: string | undefined): void {
  const over = intent.txnState !== null && isFinal(intent.txnState);
  if (!over && ref === undefined) return;
  const state = over ? 'was already paid' : 'is already on its way';
  throw new Failure('usage', `Not sent: this invoice ${state}, under the reference ${intent.ref}.`, {
    hint: intent.txnId === null ? `svcpay tx resume ${intent.ref}` : `svcpay tx get ${intent.txnId}`,
    txnId: intent.txnId ?? undefined,
  });
}
