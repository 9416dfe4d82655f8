// Applies a fact to a run: what the journal must write, and what the run then knows. Pure. Nothing
// else changes a payment.
import type { Transaction } from '../../api/types.js';
import {
  changed,
  latest,
  requested,
  type Attempt,
  type AttemptState,
  type Payment,
  type PaymentChange,
} from '../../store/journal/payment.js';
import { withKnown } from '../transaction/read.js';
import {
  inPhaseOf,
  nothingKnown,
  readsOf,
  resultOf,
  txnOf,
  type Fact,
  type Known,
  type Phase,
  type Reads,
  type ReadResult,
  type ReportedResult,
  type Run,
  type Submitting,
} from './model.js';

export interface Applied {
  /** The run, with the payment before the change. */
  readonly run: Run;
  /** The change to write before the next step. Undefined if the fact concerns only this process. */
  readonly change?: PaymentChange | undefined;
  /**
   * Whether the change submits the attempt. The write then dates the attempt, and checks limits and
   * competing payments.
   */
  readonly submits?: 'checked' | 'already moved' | undefined;
}

/** The run with its payment as the journal has it now. */
export const withPayment = (run: Run, payment: Payment): Run => ({
  ...run,
  payment,
  attempt: latest(payment),
});

/** The run after its change, if the journal could not be written after money may have moved. */
export const unwritten = (run: Run, change: PaymentChange): Run =>
  withPayment(run, changed(run.payment, change));

const whileOpen = (to: AttemptState): Partial<Record<AttemptState, AttemptState>> => ({
  requested: to,
  quoted: to,
  submitting: to,
  'in-flight': to,
  unknown: to,
});

/**
 * The next state of an attempt after a report of the service. A state without an entry stays: reads
 * can be stale, and no state goes back.
 */
const reports: Readonly<Record<ReportedResult, Partial<Record<AttemptState, AttemptState>>>> = {
  quoted: { requested: 'quoted' },
  moving: { requested: 'in-flight', quoted: 'in-flight', submitting: 'in-flight' },
  // Also after an error, because this report is more exact.
  completed: { ...whileOpen('paid'), error: 'paid' },
  failed: { ...whileOpen('failed'), error: 'failed' },
  error: whileOpen('error'),
  // Only `next` lets an attempt lapse that was never submitted. After submission, the report proves
  // nothing.
  lapsed: { requested: 'quoted', submitting: 'unknown', 'in-flight': 'unknown' },
};

/** The attempt after the service has reported its transaction. */
function reported(attempt: Attempt, { txnId, txnState }: Transaction): Attempt {
  const result = resultOf(txnState);
  const state = reports[result][attempt.state] ?? attempt.state;
  const isNews =
    state !== attempt.state ||
    (state === 'in-flight' && result === 'moving') ||
    (state === 'quoted' && result === 'lapsed');
  return isNews ? { ...attempt, state, txnId, txnState, resolution: null } : attempt;
}

export function apply(run: Run, fact: Fact): Applied {
  const { attempt } = run;
  const { ms } = fact.at;
  switch (fact.is) {
    case 'created':
      return created(run, fact);
    case 'create-refused':
    case 'create-unanswered':
      return notCreated(run, fact);
    case 'found':
      return found(run, fact);
    case 'not-found':
      return knows(run, 'requesting', ({ lookup }) => ({
        lookup: { sinceMs: lookup?.sinceMs ?? ms, atMs: ms, count: (lookup?.count ?? 0) + 1 },
      }));
    case 'read':
      return read(run, fact);
    case 'read-failed':
      return fact.number === attempt.number
        ? knows(run, 'any', (known) => ({
            reads: again(readsOf(known), fact.result, ms, fact.error),
          }))
        : knows(run, 'any', ({ earlierRead }) => ({ earlierRead: [...earlierRead, fact.number] }));
    case 'shown':
      return knows(run, 'quoted', () => ({ shown: true }));
    case 'approved':
      // Time passed during the question, so the quote is read again before it is submitted.
      return knows(run, 'quoted', () => ({
        agreed: fact.quote,
        approval: fact.by,
        ...(fact.by === 'asked' && { reads: undefined }),
      }));
    case 'declined':
      return { ...stopped(run, fact.failure), change: { abandoned: true } };
    case 'prompt-expired':
      return knows(run, 'quoted', () => ({ approval: 'prompt-expired' }));
    case 'cancelled': {
      const isOver = resultOf(fact.txn.txnState) !== 'quoted';
      const after = knows(run, 'quoted', () => ({ cancel: isOver ? 'done' : 'refused' }));
      return withTransaction(after.run, attempt, fact.txn, ms);
    }
    case 'cancel-refused':
      return knows(run, 'quoted', () => ({ cancel: 'refused', reads: undefined }));
    case 'submitted':
      return submitted(run, fact);
    case 'confirmed':
      return withTransaction(confirmed(run, fact).run, attempt, fact.txn, ms);
    case 'confirm-refused':
    case 'confirm-unanswered':
      return knows(confirmed(run, fact).run, 'submitting', () => ({ reads: undefined }));
    case 'confirm-not-sent':
      return confirmed(run, fact);
    case 'withdrawn': {
      const { number, txnId, txnState } = attempt;
      const quote: Attempt = { ...requested(number), state: 'quoted', txnId, txnState };
      const { run: after } = stopped(run, fact.failure);
      return moved(after, { attempt: quote }, ms);
    }
    case 'lapsed':
      return moved(
        knows(run, 'any', () => ({ earlierRead: [] })).run,
        { attempt: { ...attempt, state: 'lapsed' } },
        ms,
      );
    case 'attempt-opened':
      return attemptOpened(run, fact);
    case 'reopened':
      return { run, change: { ...terms(fact), abandoned: false } };
    case 'abandoned':
      return { run, change: { abandoned: true } };
    case 'stopped':
      return stopped(run, fact.failure);
    case 'interrupted':
      return knows(run, 'any', () => ({ isInterrupted: true }));
    case 'waited':
      return { run };
  }
}

type FactOf<I extends Fact['is']> = Extract<Fact, { readonly is: I }>;
type KnownIn<P extends Phase> = Extract<Known, { readonly phase: P }>;

/**
 * The run with new data of its phase. Throws if the fact belongs to another phase, because `next`
 * cannot have decided the driver's step.
 */
function knows<P extends Phase>(
  run: Run,
  phase: P | 'any',
  news: (known: KnownIn<P>) => Partial<KnownIn<P>>,
): Applied {
  const { known } = run;
  if (!isIn(known, phase)) throw new Error(`a fact of ${phase} came while ${known.phase}`);
  return { run: { ...run, known: { ...known, ...news(known) } } };
}

const isIn = <P extends Phase>(known: Known, phase: P | 'any'): known is KnownIn<P> =>
  phase === 'any' || known.phase === phase;

/** Opens a further attempt, for which only the consent and the earlier reads count. */
function attemptOpened(run: Run, fact: FactOf<'attempt-opened'>): Applied {
  const { agreed, earlierRead } = run.known;
  const known = { ...nothingKnown('requested', true), agreed, earlierRead };
  const change = { ...terms(fact), abandoned: false, attempt: requested(fact.number) };
  return { run: { ...run, known }, change };
}

const stopped = (run: Run, failure: Run['known']['stopped']): Applied =>
  knows(run, 'any', () => ({ stopped: failure }));

const terms = (fact: FactOf<'attempt-opened' | 'reopened'>): PaymentChange =>
  fact.terms === undefined ? {} : { terms: fact.terms };

/** The change, with the data of the run in the phase that the attempt enters. */
function moved(run: Run, change: PaymentChange & { attempt: Attempt }, ms: number): Applied {
  return { run: { ...run, known: inPhaseOf(change.attempt.state, run.known, ms) }, change };
}

function created(run: Run, { txn, started, funds, rates, at }: FactOf<'created'>): Applied {
  const attempt = { ...run.attempt, ...started?.amounts };
  const submits = started === undefined ? undefined : 'already moved';
  const known = knows(run, 'requesting', () => ({ funds })).run;
  if (started?.isOrdered === false) {
    const { txnId, txnState } = txn;
    return {
      ...moved(known, { attempt: { ...attempt, state: 'unknown', txnId, txnState } }, at.ms),
      submits,
    };
  }
  const after = reported(attempt, txn);
  const { run: next, change } = moved(known, { attempt: after }, at.ms);
  if (next.known.phase !== 'quoted') return { ...withReport(next, txn, at.ms), change, submits };
  const isMisdated = txn.sourceReq.expiresAt != null && txn.sourceReq.expiresAt <= at.service;
  return { ...knows(next, 'quoted', () => ({ txn, rates, isMisdated })), change, submits };
}

function notCreated(run: Run, fact: FactOf<'create-refused' | 'create-unanswered'>): Applied {
  return knows(run, 'requesting', ({ creation, funds }) => {
    const tried = { ...creation, tries: creation.tries + 1, atMs: fact.at.ms };
    return fact.is === 'create-refused'
      ? { funds: fact.funds, creation: { ...tried, refusal: fact.error } }
      : {
          funds,
          creation: {
            ...tried,
            mayExist: creation.mayExist || fact.mayExist,
            error: fact.error,
          },
        };
  });
}

function found(run: Run, { txn, number, started, at }: FactOf<'found'>): Applied {
  const own = number === run.attempt.number ? run.attempt : requested(number);
  return {
    ...withTransaction(run, { ...own, ...started?.amounts }, txn, at.ms),
    submits: started === undefined ? undefined : 'already moved',
  };
}

function read(run: Run, { number, txn, at }: FactOf<'read'>): Applied {
  const attempt = run.payment.attempts.find((each) => each.number === number) ?? run.attempt;
  if (attempt.number === run.attempt.number) return withTransaction(run, attempt, txn, at.ms);
  const after = reported(attempt, txn);
  return {
    ...knows(run, 'any', ({ earlierRead }) => ({
      earlierRead: [...earlierRead, number],
      ...(after.state === 'paid' && { earlierPaid: txn }),
    })),
    change: after === attempt ? undefined : { attempt: after },
  };
}

/** The change that a report of the latest attempt causes. */
function withTransaction(run: Run, attempt: Attempt, txn: Transaction, ms: number): Applied {
  const after = reported(attempt, txn);
  const isNew = !run.payment.attempts.includes(attempt);
  const { run: next } = moved(run, { attempt: after }, ms);
  const hasFailed = after.state === 'failed' && attempt.state !== 'failed';
  // The attempt failed, so earlier unknown attempts decide, and are read once more.
  const { run: fresh } = hasFailed
    ? knows(next, 'any', () => ({ earlierRead: [] }))
    : { run: next };
  return {
    ...withReport(fresh, txn, ms),
    change: after === attempt && !isNew ? undefined : { attempt: after },
  };
}

const withReport = (run: Run, txn: Transaction, ms: number): Applied =>
  knows(run, 'any', (known) => {
    const before = txnOf(known);
    return {
      txn: before === undefined ? txn : withKnown(before, txn),
      reads: again(readsOf(known), resultOf(txn.txnState), ms),
    };
  });

const again = (
  reads: Reads | undefined,
  result: ReadResult,
  atMs: number,
  error?: Reads['error'],
): Reads =>
  reads?.result === result
    ? { ...reads, atMs, count: reads.count + 1, error }
    : { result, sinceMs: atMs, atMs, count: 1, error };

function submitted(run: Run, { amounts, at }: FactOf<'submitted'>): Applied {
  const attempt: Attempt = { ...run.attempt, ...amounts, state: 'submitting' };
  const { run: next, change } = moved(run, { attempt }, at.ms);
  const confirmation = { tries: 0, atMs: at.ms, isUnanswered: false };
  return {
    ...knows(next, 'submitting', () => ({ confirmation, reads: undefined })),
    change,
    submits: 'checked',
  };
}

/** Counts a confirmation that was sent, or that could not be sent. */
const confirmed = (
  run: Run,
  fact: FactOf<'confirmed' | 'confirm-refused' | 'confirm-unanswered' | 'confirm-not-sent'>,
): Applied =>
  knows(run, 'submitting', ({ confirmation }): Partial<Submitting> => ({
    submittedHere: true,
    confirmation: {
      tries: confirmation.tries + 1,
      atMs: fact.at.ms,
      isUnanswered: confirmation.isUnanswered || fact.is === 'confirm-unanswered',
      refusal: fact.is === 'confirm-refused' ? fact.error : confirmation.refusal,
      error: fact.is === 'confirmed' ? confirmation.error : fact.error,
    },
  }));
