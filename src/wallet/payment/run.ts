// One run of the payment machine over one intent: what it knows, and how it writes to the journal.
import type { Transaction } from '../../api/types.js';
import type { Money } from '../../formats/amount.js';
import { Failure, type FailureKind } from '../../formats/failure.js';
import {
  LostClaim, type Claim, type Consent, type Doubt, type Intent, type IntentChange, type PaymentTerms,
} from '../../store/journal/journal.js';
import type { Mode, PaymentDeps, PaymentOptions } from './contract.js';
import type { History } from './history.js';
import { lastDoubt, wasConfirmed } from '../../store/journal/rules.js';
import { decodeOrder } from './order-record.js';
import { differentPayment } from './references.js';
import type { Order } from './orders.js';
import type { Quote } from '../quote/quote.js';
import { readTransaction, withKnown } from '../transaction/read-transaction.js';
import { hasLapsed, isQuoted, movedNothing } from '../../formats/states.js';

export interface RunOptions {
  readonly mode: Mode;
  /** The transaction that `this-quote` means. */
  readonly quoteId?: string;
  /**
   * Who else can use the reference: nobody, because it was made up for this run (`own`); whoever pays for the same thing
   * (`once`); whoever knows it (`given`).
   */
  readonly reference: 'own' | 'once' | 'given';
  /** What a new run of the same payment says anew. */
  readonly renew: { readonly terms?: PaymentTerms; readonly consent?: Consent };
  /** Another process was followed: what it brought about is reported, not begun again. */
  readonly followed: boolean;
  readonly options: PaymentOptions;
}

export interface Run {
  /** The intent as the journal has it. */
  claim: Claim;
  readonly order: Order;
  readonly start: RunOptions;
  readonly deps: PaymentDeps;
  readonly history: History;
  /** What is to be written with the next attempt, because the present one was agreed to already. */
  renew: RunOptions['renew'];
  /** The transaction as last read, once there is one. */
  txn: Transaction | undefined;
  /** Nobody but this run can have used the reference. */
  ours: boolean;
  /** A run that was cut off may have sent the creation. */
  readonly mayBeSent: boolean;
  /** The transaction was made by this run: nobody else can have moved it on. */
  createdHere: boolean;
  /** The source wallet before this run's quote. */
  available: Money | undefined;
  /** The quote that a person agreed to in this run. */
  agreed: Quote | undefined;
  /** This run let the money go, so that no confirmation can have been sent before its own. */
  confirmedHere: boolean;
  /** This run saw the attempt end: what came of it is reported, not tried again. */
  witnessed: boolean;
  /** Only a quote is wanted of a payment that was open before: it stays as it is. */
  readonly lookingOnly: boolean;
  /** The attempt before, which may have paid: it counts again if the present one comes to nothing. */
  doubt: Doubt | undefined;
  /** Transactions of earlier attempts that this run read as over, without having paid. */
  readonly over: Set<string>;
  /** How often this run has had it quoted. */
  requotes: number;
  /** The journal could not be written after the confirmation: go on without it, the truth is at the service. */
  journalLost: boolean;
}

/** A payment that was given up is begun again only by whoever asks for it anew. */
export function givenUp({ ref, txnId }: Intent): Failure {
  return new Failure('usage', `Not sent: the payment ${ref} was given up before anything moved.`, {
    hint: `Run it again, with the reference ${ref}, if it is still wanted.`,
    txnId: txnId ?? undefined,
  });
}

/** Whether a confirmation was or may have been sent for the present attempt. */
export const isLetGo = ({ step }: Intent): boolean => step === 'confirming' || step === 'confirmed';

export function openRun(claim: Claim, start: RunOptions, deps: PaymentDeps, history: History): Run {
  const { intent } = claim;
  if (intent.closed && start.mode === 'resume') throw givenUp(intent);
  const order = decodeOrder(intent.request);
  const isFirst = claim.fence === 1;
  const isLooking = start.mode === 'look';
  const isBegun = isLetGo(intent) || intent.step === 'final';
  return {
    claim,
    order,
    start,
    deps,
    history,
    renew: isBegun ? start.renew : {},
    txn: undefined,
    ours: isFirst && start.reference === 'own',
    mayBeSent: !isFirst && intent.step === 'intent' && !intent.closed,
    createdHere: false,
    available: undefined,
    agreed: undefined,
    confirmedHere: false,
    witnessed: intent.step === 'final' && (start.mode === 'resume' || start.followed),
    lookingOnly: isLooking && !isFirst && !intent.closed && ['intent', 'created'].includes(intent.step),
    doubt: lastDoubt(intent),
    over: new Set(),
    requotes: 0,
    journalLost: false,
  };
}

/** Where one quote was meant, nothing is done with what stands in its place. Throws Failure `usage`. */
export function checkMeant({ claim: { intent }, start }: Run): void {
  if (start.quoteId !== undefined && intent.txnId !== start.quoteId) throw differentPayment(intent.ref, intent.txnId);
}

/** What a new run says anew of a payment that was not let go yet; one that was given up is wanted again. */
export async function beginRun(run: Run): Promise<void> {
  const { intent } = run.claim;
  const isBegun = isLetGo(intent) || intent.step === 'final';
  const { mode, renew } = run.start;
  // A yes to one quote is no yes to the payment, whose next attempt could have another.
  const said = mode === 'this-quote' ? { ...(renew.terms !== undefined && { terms: renew.terms }) } : renew;
  const change: IntentChange = { ...(!isBegun && said), ...(intent.closed && { closed: false }) };
  if (Object.keys(change).length > 0 && mode !== 'look') await write(run, change);
}

export async function write(run: Run, change: IntentChange): Promise<void> {
  run.claim = await run.deps.journal.write(run.claim, change);
}

/** After the confirmation the journal follows what the service says; when it cannot be written the payment still goes on. */
export async function writeAfterMoney(run: Run, change: IntentChange): Promise<void> {
  try {
    if (!run.journalLost) return await write(run, change);
  } catch (error) {
    if (error instanceof LostClaim) throw error;
    run.journalLost = true;
    if (error instanceof Failure) run.deps.on({ type: 'journal-failed', error });
  }
  run.claim = { ...run.claim, intent: { ...run.claim.intent, ...change } };
}

/** Nothing can have moved while this runs: a failure closes the intent, so that no later resume pays it. */
export async function beforeMoney<T>(run: Run, action: (run: Run) => Promise<T>): Promise<T> {
  try {
    if (run.deps.signal.aborted) throw interrupted();
    return await action(run);
  } catch (error) {
    if (error instanceof LostClaim) throw error;
    throw await closing(run, run.deps.signal.aborted ? interrupted() : error);
  }
}

/** What passes by itself, or asks for a person: an open payment that is resumed stays open for the next time. */
const passing: ReadonlySet<FailureKind> = new Set(['temporary', 'authentication', 'interrupted', 'declined']);

/** Another process may have taken the payment over meanwhile: then what it does is followed. */
async function closing(run: Run, error: unknown): Promise<unknown> {
  const kind = error instanceof Failure ? error.kind : undefined;
  const isPassing = run.start.mode === 'resume' && kind !== undefined && passing.has(kind);
  const stays = kind === 'pending' || isPassing || run.lookingOnly;
  try {
    await (stays ? run.deps.journal.renew(run.claim) : close(run));
  } catch (trouble) {
    if (trouble instanceof LostClaim) return trouble;
  }
  return error;
}

/** Ends the payment without anything having moved. Whoever wants it after all says so anew. */
export async function close(run: Run): Promise<void> {
  if (run.lookingOnly || isLetGo(run.claim.intent) || run.claim.intent.step === 'final') return;
  await write(run, run.doubt === undefined ? { closed: true, consent: 'none' } : asBefore(run.doubt));
}

/** Another try came to nothing: what may have paid is what the journal holds, and a person has to ask again. */
export const asBefore = ({ attempt, txnId, txnState, approvedTotal, approvedReceives, spendCcy, approvedAt }: Doubt): IntentChange => ({
  step: 'confirmed', attempt, txnId, txnState, approvedTotal, approvedReceives, spendCcy, approvedAt, closed: false, consent: 'none',
});

/** That nothing moved, or how it ended, is true of the try alone. */
export function stillInDoubt({ ref }: Intent, { txnId, txnState }: Doubt, error: unknown): unknown {
  if (!(error instanceof Failure) || error.kind === 'pending') return error;
  const message = `Not known yet: the attempt before may still have paid (the service says ${txnState ?? 'nothing'}). ${error.message}`;
  return new Failure('pending', message, { next: { do: 'retry', id: ref }, txnId: txnId ?? undefined, cause: error });
}

/** Trouble with the journal says nothing of a payment that was let go, or is over. */
export function notTold({ ref, txnId, txnState }: Intent, cause: unknown): unknown {
  if (!(cause instanceof Failure)) return cause;
  const last = txnState === null ? '' : `, last seen as ${txnState}`;
  return new Failure('pending', `Not known yet: the payment was let go${last}. ${cause.message}`, {
    next: { do: 'resume', id: txnId ?? ref },
    txnId: txnId ?? undefined,
    cause,
  });
}

export const interrupted = (): Failure => new Failure('interrupted', 'Interrupted: nothing moved.');

/** Entered after the journal was restored: another try could ask for something else than the first. */
const toldInPart = ({ ref, txnId }: Intent): Failure =>
  new Failure('usage', `Not sent: of the payment ${ref} only what the service told is known, which is not enough for another try.`, {
    hint: 'Pay it under a new reference.',
    txnId: txnId ?? undefined,
  });

/** How long what the service tells may lag behind what it has told before, in ms, look by look. */
export const lagPauses: readonly number[] = [500, 1_000, 2_000, 4_000];

export async function reread(run: Run): Promise<Transaction> {
  const txn = await readTransaction(run.deps.service, run.claim.intent.txnId ?? '');
  run.txn = run.txn === undefined ? txn : withKnown(run.txn, txn);
  return run.txn;
}

/** What was reported of a quote that a read calls lapsed is not taken back by it: somebody else has let it go. */
export async function wasReportedLater({ deps }: Run, { txnId, txnState }: Transaction): Promise<boolean> {
  if (!hasLapsed(txnState) || deps.reported === undefined) return false;
  return (await deps.reported(txnId)).some((state) => !isQuoted(state) && !movedNothing(state));
}

/** The attempt ended without a confirmation: it is quoted anew, unless this one quote was meant. */
export async function afterLapse(run: Run, { txnState }: Transaction): Promise<void> {
  if (run.start.mode !== 'this-quote') return nextAttempt(run);
  run.witnessed = true;
  return write(run, { step: 'final', txnState, approvedAt: null });
}

/**
 * The next attempt has a reference of its own. Only after a fresh read that says that the one before is over and moved
 * nothing; once a confirmation was sent for that one, only when a person asks for it (`despiteDoubt`).
 */
export async function nextAttempt(run: Run, despiteDoubt = false): Promise<void> {
  if (run.order.told === true) throw toldInPart(run.claim.intent);
  const attempt = run.claim.intent.attempt + 1;
  const asked: IntentChange = run.start.mode === 'look' ? { closed: true, consent: 'none' } : run.renew;
  const before = run.claim.intent;
  await write(run, { ...asked, step: 'intent', attempt, txnId: null, txnState: null, approvedAt: null }).catch((error: unknown) => {
    throw wasConfirmed(before) ? notTold(before, error) : error;
  });
  if (despiteDoubt) run.doubt = before;
  run.renew = {};
  run.txn = undefined;
  run.createdHere = false;
  run.confirmedHere = false;
  run.witnessed = false;
}
