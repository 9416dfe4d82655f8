// Every result that a step can have, with its effect on the transaction: the documented answers,
// the formats of live services, no answer, an answer lost after the effect, and two copies of a
// request.
import { Failure } from '../../../../src/formats/failure.js';
import {
  readsOf,
  txnOf,
  type RunEventBody,
  type Step,
} from '../../../../src/wallet/payment/model.js';
import type { Core } from './runs.js';
import {
  abbreviated,
  approvedQuote,
  attemptOf,
  becomes,
  budget,
  errors,
  readable,
  staleForMs,
  transaction,
  truthOf,
  wordOf,
  type State,
  type Truth,
} from './world.js';

const [beforeExpiry, afterExpiry] = [2, 1];
const amounts = { approvedTotal: '1', approvedReceives: null, spendCcy: 'BTC', budget };

export interface Outcome {
  readonly truth: Truth;
  readonly event: RunEventBody;
}

/**
 * @param confirmations how many confirmations can reach the service; later confirmations are lost
 */
export function outcomes(
  state: State,
  step: Step,
  confirmations: number,
  { mayAdopt }: Pick<Core, 'mayAdopt'>,
): Outcome[] {
  const { number } = attemptOf(state);
  const truth = truthOf(state, number);
  const txn = (word: string, expiresAt = beforeExpiry) => transaction(number, word, expiresAt);
  const same = (event: RunEventBody): Outcome => ({ truth, event });
  switch (step.do) {
    case 'create': {
      if (truth.real !== 'none') {
        const returned =
          truth.real === 'quoted'
            ? [same({ is: 'created', txn: txn('quoted'), funds: undefined })]
            : [];
        return [
          same({ is: 'refused', error: errors.used, funds: undefined }),
          same({ is: 'refused', error: errors.unspecific, funds: undefined }),
          ...returned,
        ];
      }
      const made = becomes(truth, 'quoted');
      const startedByItself = (isOrdered: boolean): Outcome => ({
        truth: becomes(truth, 'moving'),
        event: {
          is: 'created',
          txn: txn('destsent'),
          funds: undefined,
          started: { isOrdered, amounts },
        },
      });
      return [
        { truth: made, event: { is: 'created', txn: txn('quoted'), funds: undefined } },
        { truth: made, event: { is: 'unanswered', error: errors.lost, mayHaveArrived: true } },
        startedByItself(true),
        startedByItself(false),
        same({ is: 'unanswered', error: errors.notSent, mayHaveArrived: false }),
        same({ is: 'refused', error: errors.refused, funds: undefined }),
      ];
    }
    case 'find': {
      const isShown =
        truth.real !== 'none' && (step.depth === 'every page' || truth.ago >= staleForMs);
      const missed =
        truth.ago < staleForMs || truth.real === 'none' ? [same({ is: 'not-found' })] : [];
      const foreign = { ...txn('completed'), txnId: 'foreign', accountId: 'other' };
      const adopted = mayAdopt(foreign) ? [same({ is: 'found', txn: foreign, number })] : [];
      return [
        ...adopted,
        ...(isShown
          ? readable(truth).map((real) => same({ is: 'found', txn: txn(wordOf(real)), number }))
          : []),
        ...missed,
      ];
    }
    case 'read': {
      const read = truthOf(state, step.attempt.number);
      const knowsNothing = state.process !== undefined && txnOf(state.process.memory) === undefined;
      const isEarlier = step.attempt.number !== number;
      const seen = readable(read)
        .filter((real) => real !== 'none')
        .flatMap((real): RunEventBody[] => {
          const expiresAt = real === 'expired' ? afterExpiry : beforeExpiry;
          const whole = transaction(step.attempt.number, wordOf(real), expiresAt);
          const event = { is: 'read', number: step.attempt.number } as const;
          // The core keeps the earlier value of a missing field, so an abbreviated answer matters
          // only before the first full answer.
          const short = knowsNothing && !isEarlier ? [abbreviated(whole)] : [];
          return [whole, ...short].map((txn) => ({ ...event, txn }));
        });
      const isNew = read.real === 'quoted' && read.ago < staleForMs;
      const memory = state.process?.memory;
      const isFirstFailure = memory === undefined || readsOf(memory)?.result !== 'unanswered';
      const failed: RunEventBody[] = [
        ...(isFirstFailure
          ? [
              {
                is: 'read-failed',
                number: step.attempt.number,
                result: 'unanswered',
                error: errors.unread,
              } as const,
            ]
          : []),
        ...(isNew
          ? [
              {
                is: 'read-failed',
                number: step.attempt.number,
                result: 'not-found',
                error: errors.missing,
              } as const,
            ]
          : []),
      ];
      return [...seen, ...failed].map(same);
    }
    case 'approve':
      return approvals(state).map(same);
    case 'cancel': {
      const cancelled =
        truth.real === 'quoted'
          ? [
              {
                truth: becomes(truth, 'expired'),
                event: { is: 'cancelled', txn: txn('usercanceled') },
              } satisfies Outcome,
            ]
          : [];
      return [...cancelled, same({ is: 'cancel-refused' })];
    }
    case 'submit':
      return [
        same({
          is: 'submitted',
          amounts,
        }),
        same({ is: 'stopped', failure: new Failure('limit', 'over') }),
      ];
    case 'confirm':
      return [
        ...(mayStayHere(state)
          ? [same({ is: 'unanswered', error: errors.notSent, mayHaveArrived: false } as const)]
          : []),
        ...confirmed(
          { ...truth, sent: Math.min(truth.sent, confirmations) + 1 },
          txn,
          truth.sent >= confirmations,
        ),
      ];
    case 'wait':
      return [same({ is: 'waited' })];
    case 'withdraw':
      return [same({ is: 'withdrawn', failure: step.failure })];
    case 'lapse':
      return [same({ is: 'lapsed' })];
    case 'open-attempt':
      return [same({ is: 'attempt-opened', number: step.number, request: '{}' })];
    case 'stop':
      return [];
  }
}

function confirmed(
  truth: Truth,
  txn: (word: string) => ReturnType<typeof transaction>,
  isLost: boolean,
): Outcome[] {
  const carriedOut = truth.real === 'quoted' ? becomes(truth, 'moving') : truth;
  const lost: RunEventBody = { is: 'unanswered', error: errors.lost, mayHaveArrived: true };
  if (isLost) return [{ truth, event: lost }];
  const answered: Outcome[] = ['quoted', 'moving', 'completed'].includes(truth.real)
    ? [{ truth: carriedOut, event: { is: 'confirmed', txn: txn(wordOf(carriedOut.real)) } }]
    : [{ truth, event: { is: 'unanswered', error: errors.alreadyFinal, mayHaveArrived: true } }];
  const refused: RunEventBody = { is: 'refused', error: errors.refused };
  const noSignIn: RunEventBody = {
    is: 'unanswered',
    error: errors.signInFailed,
    mayHaveArrived: true,
  };
  return [
    ...answered,
    { truth: carriedOut, event: lost },
    { truth, event: lost },
    { truth: { ...truth, delayed: truth.delayed + 1 }, event: lost },
    { truth, event: noSignIn },
    { truth: carriedOut, event: noSignIn },
    // After a refusal, another copy of the confirmation may still have taken effect, so the search
    // tries both cases.
    { truth, event: refused },
    { truth: carriedOut, event: refused },
  ];
}

/**
 * The search lets only the first two confirmations fail before they are sent, because later
 * failures of this type add no new states.
 */
function mayStayHere({ process }: State): boolean {
  if (process?.memory.phase !== 'submitting') return false;
  const { tries, isUnanswered, refusal } = process.memory.sending;
  return tries < 2 || (!isUnanswered && refusal === undefined);
}

/**
 * Returns the events that can follow when the core asks for the approval of a quote. An approval in
 * advance (`--yes`) covers every quote. After a person has approved a quote in this run, this
 * approval covers a later quote unless the later quote is worse.
 */
function approvals({ process }: State): RunEventBody[] {
  const covered: RunEventBody = { is: 'approved', quote: approvedQuote, by: 'covered' };
  if (process?.goal.until === 'quoted') return [{ is: 'shown' }];
  if (process?.goal.consent.by === 'yes') return [covered];
  return [
    ...(process?.memory.approvedQuote === undefined ? [] : [covered]),
    { is: 'approved', quote: approvedQuote, by: 'asked' },
    { is: 'prompt-expired' },
    { is: 'declined', failure: new Failure('declined', 'no') },
  ];
}
