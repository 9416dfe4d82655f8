// The steps of a payment, one function each. Whatever throws before `confirming` closes the intent: nothing has moved.
import Big from 'big.js';
import type { Transaction } from '../api/types.js';
import { fixed, type Money } from '../formats/amount.js';
import { Failure } from '../formats/failure.js';
import { LostClaim, type Claim, type Consent, type IntentChange, type PaymentTerms } from '../store/journal.js';
import { availableIn, notEnough } from './balance.js';
import { confirmOnce } from './confirm.js';
import type { Approval, PaymentDeps, PaymentOptions } from './contract.js';
import { checkSpend, limitWindowMs } from './limits.js';
import { decodeOrder } from './order-record.js';
import type { Order } from './orders.js';
import { createOnce, explainRefusal } from './create.js';
import { checkEcho, checkMaxFee, isWorse, readQuote, type Quote } from './quote.js';
import { attemptRef, differentPayment, latestAttempt } from './references.js';
import { hasLapsed, isFinal, isQuoted, isRetriable } from './states.js';
import { waitUntilFinal } from './wait.js';

export interface RunOptions {
  readonly fresh: boolean;
  readonly renew: { readonly terms?: PaymentTerms; readonly consent?: Consent };
  readonly options: PaymentOptions;
}

/** A run of the machine: the intent as the journal has it, and what this process knows besides. */
interface Run {
  claim: Claim;
  readonly order: Order;
  readonly options: PaymentOptions;
  readonly deps: PaymentDeps;
  /** The transaction as last read, once there is one. */
  txn: Transaction | undefined;
  /** Nothing under the current reference can be known to the service. */
  fresh: boolean;
  /** The source wallet before this run's quote. */
  available: Money | undefined;
  /** The quote that a person agreed to in this run. */
  agreed: Quote | undefined;
  /** This process sent the confirmation, so that a lapsed quote may be quoted anew. */
  confirmedHere: boolean;
  /** This run saw the attempt end: what came of it is reported, not tried again. */
  witnessed: boolean;
  /** The journal could not be written after the confirmation: go on without it, the truth is at the service. */
  journalLost: boolean;
}

const mostQuotes = 5;

/** Carries the intent on from the step it stands at. Throws LostClaim when another process took it over. */
export async function advance(claim: Claim, start: RunOptions, deps: PaymentDeps): Promise<Transaction> {
  const run = await openRun(claim, start, deps);
  const firstAttempt = run.claim.intent.attempt;
  for (;;) {
    const { step, attempt } = run.claim.intent;
    if (attempt - firstAttempt >= mostQuotes) throw await closing(run, tooManyQuotes(run));
    if (step === 'intent') await beforeMoney(run, createQuote);
    else if (step === 'confirming') await confirm(run);
    else if (step === 'final') {
      if (!(await startAgain(run))) return reportFinal(run);
    } else {
      const enough = step === 'created' ? await beforeMoney(run, agree) : await settle(run);
      if (enough !== undefined) return enough;
    }
  }
}

async function openRun(claim: Claim, { fresh, renew, options }: RunOptions, deps: PaymentDeps): Promise<Run> {
  const { intent } = claim;
  const order = decodeOrder(intent.request);
  const state = { txn: undefined, available: undefined, agreed: undefined };
  const flags = { confirmedHere: false, witnessed: false, journalLost: false };
  const change: IntentChange = { ...renew, ...(intent.closed && { closed: false }) };
  const opened = Object.keys(change).length === 0 ? claim : await deps.journal.write(claim, change, deps.now());
  return { claim: opened, order, options, deps, fresh, ...state, ...flags };
}

/** Nothing can have moved while this runs: a failure closes the intent, so that no later resume pays it. */
async function beforeMoney<T>(run: Run, action: (run: Run) => Promise<T>): Promise<T> {
  try {
    if (run.deps.signal.aborted) throw interrupted();
    return await action(run);
  } catch (error) {
    if (error instanceof LostClaim || run.claim.intent.step === 'confirming') throw error;
    throw await closing(run, run.deps.signal.aborted ? interrupted() : error);
  }
}

async function closing(run: Run, error: unknown): Promise<unknown> {
  await run.deps.journal.write(run.claim, { closed: true }, run.deps.now()).catch(() => undefined);
  return error;
}

async function write(run: Run, change: IntentChange): Promise<void> {
  run.claim = await run.deps.journal.write(run.claim, change, run.deps.now());
}

/** After the confirmation the journal follows what the service says; when it cannot be written the payment still goes on. */
async function writeAfterMoney(run: Run, change: IntentChange): Promise<void> {
  try {
    if (!run.journalLost) return await write(run, change);
  } catch (error) {
    run.journalLost = true;
    if (error instanceof Failure) run.deps.on({ type: 'journal-failed', error });
  }
  run.claim = { ...run.claim, intent: { ...run.claim.intent, ...withoutUndefined(change) } };
}

const withoutUndefined = (change: IntentChange): Partial<Claim['intent']> =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));

// intent -> created

async function createQuote(run: Run): Promise<void> {
  const known = run.fresh ? undefined : await findEarlier(run);
  if (known === undefined) await checkBalanceFirst(run);
  const txn = known ?? (await createFresh(run));
  if (known !== undefined) checkSamePayment(run, known);
  run.txn = txn;
  await write(run, { step: 'created', txnId: txn.txnId, txnState: txn.txnState });
}

async function createFresh(run: Run): Promise<Transaction> {
  const { intent } = run.claim;
  const body = { ...run.order.body, extRefId: attemptRef(intent.ref, intent.attempt) };
  try {
    return await createOnce(body, run.fresh, () => findEarlier(run), run.deps);
  } catch (error) {
    throw explainRefusal(error, run.available);
  } finally {
    run.fresh = false;
  }
}

function checkSamePayment(run: Run, known: Transaction): void {
  try {
    checkEcho(run.order, known);
  } catch {
    throw differentPayment(run.claim.intent.ref, known.txnId);
  }
  run.deps.on({ type: 'found', txn: known });
}

/** An earlier attempt under this reference, made by a lost request, another machine or a journal since removed. */
async function findEarlier(run: Run): Promise<Transaction | undefined> {
  const { intent } = run.claim;
  const latest = await latestAttempt(intent.ref, 0, run.deps.service);
  if (latest === undefined || latest.number < intent.attempt) return undefined;
  const txn = await run.deps.service.transaction(latest.txnId);
  if (latest.number > intent.attempt) await write(run, { attempt: latest.number });
  return txn;
}

/** The wallet before the quote: some services reserve the funds with it. */
async function checkBalanceFirst(run: Run): Promise<void> {
  const { sourceReq, destReq } = run.order.body;
  run.available = await availableIn(sourceReq.ccy, run.deps.service);
  const asked = sourceReq.amtRequested ?? (sourceReq.ccy === destReq.ccy ? run.order.receives?.value : undefined);
  if (asked === undefined) return;
  const needed = { ccy: sourceReq.ccy, value: new Big(asked) };
  if (run.available === undefined || needed.value.gt(run.available.value)) throw notEnough(needed, run.available);
}

// created -> confirming

/** Resolves with the transaction when only a quote was wanted. */
async function agree(run: Run): Promise<Transaction | undefined> {
  const txn = run.txn ?? (await reread(run));
  if (hasLapsed(txn.txnState)) {
    await afterLapse(run, txn);
    return undefined;
  }
  if (!isQuoted(txn.txnState)) {
    await write(run, { step: isFinal(txn.txnState) ? 'final' : 'confirmed', txnState: txn.txnState });
    return undefined;
  }
  const quote = checkedQuote(run, txn);
  const approval = { order: run.order, quote, txn, available: run.available, worse: isWorseThanAgreed(run, quote) };
  run.deps.on({ type: 'quoted', approval });
  if (run.options.quoteOnly) {
    await write(run, { closed: true });
    return txn;
  }
  await letGo(run, approval);
  return undefined;
}

function checkedQuote(run: Run, txn: Transaction): Quote {
  checkEcho(run.order, txn);
  const quote = readQuote(run.order, txn);
  checkMaxFee(run.claim.intent.terms, quote);
  if (run.available !== undefined && quote.total.value.gt(run.available.value)) {
    throw notEnough(quote.total, run.available);
  }
  checkSpend(run.deps.limits, quote.total, []);
  return quote;
}

function isWorseThanAgreed(run: Run, quote: Quote): boolean {
  if (run.agreed !== undefined) {
    return isWorse(quote, { total: run.agreed.total.value, receives: run.agreed.receives?.value });
  }
  const { approvedTotal } = run.claim.intent;
  return approvedTotal !== null && isWorse(quote, { total: new Big(approvedTotal), receives: undefined });
}

/** The last moment before money can move: a yes that covers this quote, the limits, and both in the journal. */
async function letGo(run: Run, approval: Approval): Promise<void> {
  const { consent } = run.claim.intent;
  const covered = consent === 'standing' || (consent === 'quote' && !approval.worse);
  if (!covered && !(await run.deps.approve(approval))) throw declined(approval.quote);
  if (run.deps.signal.aborted) throw interrupted();
  const { total } = approval.quote;
  const now = run.deps.now();
  run.agreed = approval.quote;
  run.claim = await run.deps.journal.spend(
    run.claim,
    {
      step: 'confirming',
      consent: consent === 'standing' ? 'standing' : 'quote',
      approvedTotal: fixed(total.value),
      spendCcy: total.ccy,
      approvedAt: now,
    },
    { since: now - limitWindowMs, now },
    (spent) => checkSpend(run.deps.limits, total, spent),
  );
  run.confirmedHere = true;
}

// confirming -> confirmed

async function confirm(run: Run): Promise<void> {
  const txnId = run.claim.intent.txnId ?? '';
  try {
    run.txn = await confirmOnce(txnId, !run.confirmedHere, run.deps);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'pending') throw error;
    // The service has refused for certain: the quote will lapse, nothing moved.
    await writeAfterMoney(run, { step: 'created', closed: true });
    throw explainRefusal(error, undefined, txnId);
  }
  run.witnessed = true;
  run.deps.on({ type: 'state', txn: run.txn });
  if (hasLapsed(run.txn.txnState) && !run.journalLost) {
    await afterLapse(run, run.txn);
    return;
  }
  const step = isFinal(run.txn.txnState) ? 'final' : 'confirmed';
  await writeAfterMoney(run, { step, txnState: run.txn.txnState });
}

async function afterLapse(run: Run, { txnState }: Transaction): Promise<void> {
  if (run.options.thisQuoteOnly !== true) return nextAttempt(run);
  run.witnessed = true;
  return write(run, { step: 'final', txnState });
}

/** The service itself says that the attempt moved nothing; the next one has a reference of its own. */
async function nextAttempt(run: Run): Promise<void> {
  const attempt = run.claim.intent.attempt + 1;
  await write(run, { step: 'intent', attempt, txnId: null, txnState: null });
  run.txn = undefined;
  run.confirmedHere = false;
  run.witnessed = false;
}

// confirmed -> final

/** Resolves with the transaction when it need not be waited for. */
async function settle(run: Run): Promise<Transaction | undefined> {
  run.witnessed = true;
  const txn = run.txn ?? (await reread(run));
  const { wait } = run.options;
  if (wait === false && !isFinal(txn.txnState)) return txn;
  const until = typeof wait === 'number' ? run.deps.now() + wait : undefined;
  const onChange = async (next: Transaction): Promise<void> => {
    run.txn = next;
    run.deps.on({ type: 'state', txn: next });
    if (!isFinal(next.txnState)) await writeAfterMoney(run, { txnState: next.txnState });
  };
  run.txn = await waitUntilFinal(txn, { until, onChange }, run.deps);
  await writeAfterMoney(run, { step: 'final', txnState: run.txn.txnState });
  return undefined;
}

async function reread(run: Run): Promise<Transaction> {
  run.txn = await run.deps.service.transaction(run.claim.intent.txnId ?? '');
  return run.txn;
}

// final

/** A payment that is run again after it ended without paying: by itself where it lapsed, with `--retry` where it failed. */
async function startAgain(run: Run): Promise<boolean> {
  if (run.witnessed) return false;
  const { txnState } = run.claim.intent;
  const again = txnState !== null && (hasLapsed(txnState) || (run.options.retry && isRetriable(txnState)));
  if (again) await nextAttempt(run);
  return again;
}

async function reportFinal(run: Run): Promise<Transaction> {
  const txn = run.txn ?? (await reread(run));
  if (txn.txnState === 'completed') return txn;
  throw new Failure('payment-failed', `Not paid: the transaction ended as ${txn.txnState}.`, {
    hint: isRetriable(txn.txnState) ? 'Add --retry to try once more.' : `svcpay tx get ${txn.txnId}`,
    txnId: txn.txnId,
  });
}

const interrupted = (): Failure => new Failure('interrupted', 'Interrupted: nothing moved.');

function declined({ txnId, expiresAt }: Quote): Failure {
  const lapses = expiresAt === undefined ? 'by itself' : `by itself at ${new Date(expiresAt).toISOString()}`;
  return new Failure('declined', `Not sent: you said no. The quote lapses ${lapses}.`, { txnId });
}

function tooManyQuotes(run: Run): Failure {
  return new Failure('temporary', 'Nothing moved: every quote lapsed before it was confirmed.', {
    hint: `svcpay tx resume ${run.claim.intent.ref}`,
  });
}
