// Applies a fact to a run: what the journal has to write, and what the run knows from now on. Pure; nothing else changes a payment.
import type { Transaction } from '../../api/types.js';
import {
  changed,
  latest,
  requested,
  type Attempt,
  type AttemptState,
  type PaymentChange,
} from '../../store/journal/payment.js';
import { withKnown } from '../transaction/read-transaction.js';
import {
  nothingKnown,
  resultOf,
  type Fact,
  type Known,
  type ReadResult,
  type Reads,
  type Run,
} from './model.js';

export interface Applied {
  readonly run: Run;
  /** What to write before the next step; undefined if the fact concerns this process alone. */
  readonly change?: PaymentChange | undefined;
  /** The change submits the attempt: it is dated, and limits and competing payments are checked with it. */
  readonly submits?: 'checked' | 'already moved' | undefined;
}

type Reported = Exclude<ReadResult, 'not-found' | 'unreadable' | 'unanswered'>;

const whileOpen = (to: AttemptState): Partial<Record<AttemptState, AttemptState>> => ({
  requested: to,
  quoted: to,
  submitting: to,
  'in-flight': to,
  unknown: to,
});

/** Where an attempt goes when the service reports a state. What is missing stays: reads can be stale, and no state goes back. */
const reports: Readonly<Record<Reported, Partial<Record<AttemptState, AttemptState>>>> = {
  quoted: { requested: 'quoted' },
  moving: { requested: 'in-flight', quoted: 'in-flight', submitting: 'in-flight' },
  completed: whileOpen('paid'),
  failed: whileOpen('failed'),
  error: whileOpen('error'),
  // An attempt that was never submitted lapses only when `next` concludes it; after submission the report proves nothing.
  lapsed: { requested: 'quoted', submitting: 'unknown', 'in-flight': 'unknown' },
};

function reported(attempt: Attempt, { txnId, txnState }: Transaction): Attempt {
  const result = resultOf(txnState);
  const state = reports[result][attempt.state] ?? attempt.state;
  const isNews =
    state !== attempt.state ||
    (state === 'in-flight' && result === 'moving') ||
    (state === 'quoted' && result === 'lapsed');
  return isNews ? { ...attempt, state, txnId, txnState } : attempt;
}

export function apply(run: Run, fact: Fact): Applied {
  const { known } = run;
  const { ms } = fact.at;
  const attempt = latest(run.payment);
  switch (fact.is) {
    case 'created':
      return created(run, fact);
    case 'create-refused':
      return knows(run, {
        funds: fact.funds,
        creation: {
          ...known.creation,
          tries: known.creation.tries + 1,
          atMs: ms,
          refusal: fact.error,
        },
      });
    case 'create-unanswered': {
      const { tries, mayExist } = known.creation;
      return knows(run, {
        creation: {
          tries: tries + 1,
          atMs: ms,
          mayExist: mayExist || fact.mayExist,
          error: fact.error,
        },
      });
    }
    case 'found':
      return found(run, fact);
    case 'not-found':
      return knows(run, {
        lookup: {
          sinceMs: known.lookup?.sinceMs ?? ms,
          atMs: ms,
          count: (known.lookup?.count ?? 0) + 1,
        },
      });
    case 'read':
      return read(run, fact);
    case 'read-failed':
      if (fact.number !== attempt.number)
        return knows(run, { earlierRead: [...known.earlierRead, fact.number] });
      return knows(run, { reads: again(known.reads, fact.result, ms, fact.error) });
    case 'shown':
      return knows(run, { shown: true });
    case 'approved':
      // Time passed while a person was asked: the quote is read again before it is submitted.
      return knows(run, {
        agreed: fact.quote,
        approval: fact.by,
        ...(fact.by === 'asked' && { reads: undefined }),
      });
    case 'declined':
      return {
        ...knows(run, { stopped: fact.failure }),
        change: { abandoned: true, consent: 'none' },
      };
    case 'prompt-expired':
      return knows(run, { approval: 'prompt-expired' });
    case 'cancelled': {
      const isOver = resultOf(fact.txn.txnState) !== 'quoted';
      return withTransaction(run, attempt, fact.txn, ms, { cancel: isOver ? 'done' : 'refused' });
    }
    case 'cancel-refused':
      return knows(run, { cancel: 'refused', reads: undefined });
    case 'submitted': {
      const confirmation = { tries: 0, atMs: ms, isUnanswered: false };
      const submitting = { ...attempt, ...fact.amounts, state: 'submitting' as const };
      return {
        ...knows(run, { confirmation, reads: undefined }),
        change: { attempt: submitting, consent: fact.consent },
        submits: 'checked',
      };
    }
    case 'confirmed': {
      const confirmation = { ...known.confirmation, tries: known.confirmation.tries + 1, atMs: ms };
      return withTransaction(run, attempt, fact.txn, ms, { confirmation });
    }
    case 'confirm-refused':
    case 'confirm-unanswered':
    case 'confirm-not-sent':
      return knows(run, {
        confirmation: afterConfirmation(known.confirmation, fact, ms),
        ...(fact.is !== 'confirm-not-sent' && { reads: undefined }),
      });
    case 'waited':
      return { run };
    case 'concluded':
      return {
        ...knows(run, { earlierRead: [] }),
        change: { attempt: { ...attempt, state: fact.state } },
      };
    case 'begun':
      return begun(run, fact);
    case 'reopened':
      return { run, change: { ...defined(fact.renew), abandoned: false } };
    case 'abandoned':
      return { run, change: { abandoned: true, consent: 'none' } };
    case 'stopped':
      return knows(run, { stopped: fact.failure });
    case 'interrupted':
      return knows(run, { isInterrupted: true });
  }
}

/** The run after its change was written, or could not be written after money may have moved. */
export const recorded = (run: Run, change: PaymentChange | undefined): Run =>
  change === undefined ? run : { ...run, payment: changed(run.payment, change) };

const knows = (run: Run, news: Partial<Known>): Applied => ({
  run: { ...run, known: { ...run.known, ...news } },
});

type FactOf<I extends Fact['is']> = Extract<Fact, { readonly is: I }>;

function created(run: Run, { txn, started, funds, rates, at }: FactOf<'created'>): Applied {
  const attempt = { ...latest(run.payment), ...started?.amounts };
  if (started?.isOrdered === false) {
    const unordered = {
      ...attempt,
      state: 'unknown' as const,
      txnId: txn.txnId,
      txnState: txn.txnState,
    };
    return {
      ...knows(run, { funds, rates }),
      change: { attempt: unordered },
      submits: 'already moved',
    };
  }
  const after = reported(attempt, txn);
  const isMisdated = txn.sourceReq.expiresAt != null && txn.sourceReq.expiresAt <= at.service;
  const hasMoved = after.state !== 'quoted';
  return {
    ...knows(run, {
      txn,
      funds,
      rates,
      isMisdated,
      ...(hasMoved && {
        settlingSinceMs: at.ms,
        reads: again(undefined, resultOf(txn.txnState), at.ms),
      }),
    }),
    change: { attempt: after },
    submits: started === undefined ? undefined : 'already moved',
  };
}

function found(run: Run, { txn, number, started, at }: FactOf<'found'>): Applied {
  const attempt = latest(run.payment);
  const one = { ...(number === attempt.number ? attempt : requested(number)), ...started?.amounts };
  return {
    ...withTransaction(run, one, txn, at.ms, { lookup: undefined }),
    submits: started === undefined ? undefined : 'already moved',
  };
}

function read(run: Run, { number, txn, at }: FactOf<'read'>): Applied {
  const attempt =
    run.payment.attempts.find((each) => each.number === number) ?? latest(run.payment);
  if (attempt.number === latest(run.payment).number)
    return withTransaction(run, attempt, txn, at.ms, {});
  const after = reported(attempt, txn);
  const news = {
    earlierRead: [...run.known.earlierRead, number],
    ...(after.state === 'paid' && { txn }),
  };
  return { ...knows(run, news), change: after === attempt ? undefined : { attempt: after } };
}

function withTransaction(
  run: Run,
  attempt: Attempt,
  txn: Transaction,
  ms: number,
  news: Partial<Known>,
): Applied {
  const { known } = run;
  const after = reported(attempt, txn);
  const isSettling = after.state !== 'requested' && after.state !== 'quoted';
  const whole = known.txn === undefined ? txn : withKnown(known.txn, txn);
  return {
    ...knows(run, {
      txn: whole,
      reads: again(known.reads, resultOf(txn.txnState), ms),
      ...(isSettling && { settlingSinceMs: known.settlingSinceMs ?? ms }),
      // It came to nothing: earlier attempts that are unknown decide, and are read once more.
      ...(after.state === 'failed' && attempt.state !== 'failed' && { earlierRead: [] }),
      ...news,
    }),
    change:
      after === attempt && run.payment.attempts.includes(attempt) ? undefined : { attempt: after },
  };
}

const again = (
  reads: Reads | undefined,
  result: ReadResult,
  atMs: number,
  error?: Reads['error'],
): Reads =>
  reads?.result === result
    ? { ...reads, atMs, count: reads.count + 1, error }
    : { result, sinceMs: atMs, atMs, count: 1, error };

function afterConfirmation(
  { tries, isUnanswered, refusal }: Known['confirmation'],
  { is, error }: FactOf<'confirm-refused' | 'confirm-unanswered' | 'confirm-not-sent'>,
  atMs: number,
): Known['confirmation'] {
  return {
    tries: tries + 1,
    atMs,
    isUnanswered: isUnanswered || is === 'confirm-unanswered',
    refusal: is === 'confirm-refused' ? error : refusal,
    error,
  };
}

function begun(run: Run, { number, renew }: FactOf<'begun'>): Applied {
  const known: Known = {
    ...nothingKnown('requested', true),
    agreed: run.known.agreed,
    earlierRead: run.known.earlierRead,
  };
  return {
    run: { ...run, known },
    change: { ...defined(renew), abandoned: false, attempt: requested(number) },
  };
}

const defined = ({
  terms,
  consent,
}: {
  terms?: PaymentChange['terms'] | undefined;
  consent?: PaymentChange['consent'] | undefined;
}): PaymentChange => ({
  ...(terms !== undefined && { terms }),
  ...(consent !== undefined && { consent }),
});
