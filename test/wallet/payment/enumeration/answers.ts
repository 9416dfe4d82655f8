// Everything that can come back of a step, with what it did to the transaction: the documented
// answers, the shapes of live services, no answer, an answer that was lost after the effect, and
// two copies of a request.
import { Failure } from '../../../../src/formats/failure.js';
import { readsOf, txnOf, type FactBody, type Step } from '../../../../src/wallet/payment/model.js';
import type { Core } from './runs.js';
import {
  abbreviated,
  agreed,
  attemptOf,
  becomes,
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
const amounts = { approvedTotal: '1', approvedReceives: null, spendCcy: 'BTC' };

export interface Outcome {
  readonly truth: Truth;
  readonly fact: FactBody;
}

/** @param confirmations further ones are lost */
export function outcomes(
  state: State,
  step: Step,
  confirmations: number,
  { mayAdopt }: Pick<Core, 'mayAdopt'>,
): Outcome[] {
  const { number } = attemptOf(state);
  const truth = truthOf(state, number);
  const txn = (word: string, expiresAt = beforeExpiry) => transaction(number, word, expiresAt);
  const same = (fact: FactBody): Outcome => ({ truth, fact });
  switch (step.do) {
    case 'create': {
      if (truth.real !== 'none') {
        const returned =
          truth.real === 'quoted'
            ? [same({ is: 'created', txn: txn('quoted'), funds: undefined })]
            : [];
        return [
          same({ is: 'create-refused', error: errors.used, funds: undefined }),
          same({ is: 'create-refused', error: errors.unspecific, funds: undefined }),
          ...returned,
        ];
      }
      const made = becomes(truth, 'quoted');
      const startedByItself = (isOrdered: boolean): Outcome => ({
        truth: becomes(truth, 'moving'),
        fact: {
          is: 'created',
          txn: txn('destsent'),
          funds: undefined,
          started: { isOrdered, amounts },
        },
      });
      return [
        { truth: made, fact: { is: 'created', txn: txn('quoted'), funds: undefined } },
        { truth: made, fact: { is: 'create-unanswered', error: errors.lost, mayExist: true } },
        startedByItself(true),
        startedByItself(false),
        same({ is: 'create-unanswered', error: errors.notSent, mayExist: false }),
        same({ is: 'create-refused', error: errors.refused, funds: undefined }),
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
      const knowsNothing = state.process !== undefined && txnOf(state.process.known) === undefined;
      const isEarlier = step.attempt.number !== number;
      const seen = readable(read)
        .filter((real) => real !== 'none')
        .flatMap((real): FactBody[] => {
          const expiresAt = real === 'expired' ? afterExpiry : beforeExpiry;
          const whole = transaction(step.attempt.number, wordOf(real), expiresAt);
          const fact = { is: 'read', number: step.attempt.number } as const;
          // What is missing keeps its earlier value; without one it is missing.
          const short = knowsNothing && !isEarlier ? [abbreviated(whole)] : [];
          return [whole, ...short].map((txn) => ({ ...fact, txn }));
        });
      const isNew = read.real === 'quoted' && read.ago < staleForMs;
      const known = state.process?.known;
      const isFirstFailure = known === undefined || readsOf(known)?.result !== 'unanswered';
      const failed: FactBody[] = [
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
                fact: { is: 'cancelled', txn: txn('usercanceled') },
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
          ? [same({ is: 'confirm-not-sent', error: errors.notSent } as const)]
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
      return [same({ is: 'attempt-opened', number: step.number })];
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
  const lost: FactBody = { is: 'confirm-unanswered', error: errors.lost };
  if (isLost) return [{ truth, fact: lost }];
  const answered: Outcome[] = ['quoted', 'moving', 'completed'].includes(truth.real)
    ? [{ truth: carriedOut, fact: { is: 'confirmed', txn: txn(wordOf(carriedOut.real)) } }]
    : [{ truth, fact: { is: 'confirm-unanswered', error: errors.alreadyFinal } }];
  const refused: FactBody = { is: 'confirm-refused', error: errors.refused };
  const noSignIn: FactBody = { is: 'confirm-unanswered', error: errors.signInFailed };
  return [
    ...answered,
    { truth: carriedOut, fact: lost },
    { truth, fact: lost },
    { truth: { ...truth, delayed: truth.delayed + 1 }, fact: lost },
    { truth, fact: noSignIn },
    { truth: carriedOut, fact: noSignIn },
    // In whatever words; or the first of two copies was carried out, and the second one refused.
    { truth, fact: refused },
    { truth: carriedOut, fact: refused },
  ];
}

/** A confirmation that does not leave this machine comes first, or second: later ones add nothing. */
function mayStayHere({ process }: State): boolean {
  if (process?.known.phase !== 'submitting') return false;
  const { tries, isUnanswered, refusal } = process.known.confirmation;
  return tries < 2 || (!isUnanswered && refusal === undefined);
}

/** A standing yes covers every quote, one that was given in this run those that are not worse. */
function approvals({ process }: State): FactBody[] {
  const covered: FactBody = { is: 'approved', quote: agreed, by: 'covered' };
  if (process?.wish.until === 'quoted') return [{ is: 'shown' }];
  if (process?.wish.consent === 'standing') return [covered];
  return [
    ...(process?.known.agreed === undefined ? [] : [covered]),
    { is: 'approved', quote: agreed, by: 'asked' },
    { is: 'prompt-expired' },
    { is: 'declined', failure: new Failure('declined', 'no') },
  ];
}
