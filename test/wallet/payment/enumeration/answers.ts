// Everything that can come back of a step, with what it did to the transaction: the documented answers, the shapes of live services,
// no answer, an answer that was lost after the effect, and two copies of a request.
import { Failure } from '../../../../src/formats/failure.js';
import type { FactBody, Step } from '../../../../src/wallet/payment/model.js';
import {
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

export interface Outcome {
  readonly truth: Truth;
  readonly fact: FactBody;
}

/** @param confirmations further ones are lost */
export function outcomes(state: State, step: Step, confirmations: number): Outcome[] {
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
          same({ is: 'create-refused', error: errors.otherWords, funds: undefined }),
          ...returned,
        ];
      }
      const made = becomes(truth, 'quoted');
      return [
        { truth: made, fact: { is: 'created', txn: txn('quoted'), funds: undefined } },
        { truth: made, fact: { is: 'create-unanswered', error: errors.lost, mayExist: true } },
        {
          truth: becomes(truth, 'moving'),
          fact: {
            is: 'created',
            txn: txn('destsent'),
            funds: undefined,
            started: {
              isOrdered: true,
              amounts: { approvedTotal: '1', approvedReceives: null, spendCcy: 'BTC' },
            },
          },
        },
        same({ is: 'create-unanswered', error: errors.notSent, mayExist: false }),
        same({ is: 'create-refused', error: errors.insufficient, funds: undefined }),
      ];
    }
    case 'find': {
      const isShown =
        truth.real !== 'none' && (step.depth === 'every page' || truth.ago >= staleForMs);
      const missed =
        truth.ago < staleForMs || truth.real === 'none' ? [same({ is: 'not-found' })] : [];
      return [
        ...(isShown
          ? readable(truth).map((real) => same({ is: 'found', txn: txn(wordOf(real)), number }))
          : []),
        ...missed,
      ];
    }
    case 'read': {
      const read = truthOf(state, step.attempt.number);
      const seen = readable(read)
        .filter((real) => real !== 'none')
        .map((real): FactBody => ({
          is: 'read',
          number: step.attempt.number,
          txn: transaction(
            step.attempt.number,
            wordOf(real),
            real === 'expired' ? afterExpiry : beforeExpiry,
          ),
        }));
      const isNew = read.real === 'quoted' && read.ago < staleForMs;
      const isFirstFailure = state.process?.known.reads?.result !== 'unanswered';
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
      return (
        [
          { is: 'approved', quote: agreed, by: 'covered' },
          { is: 'approved', quote: agreed, by: 'asked' },
          { is: 'prompt-expired' },
          { is: 'declined', failure: new Failure('declined', 'no') },
        ] satisfies FactBody[]
      ).map(same);
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
          amounts: { approvedTotal: '1', approvedReceives: null, spendCcy: 'BTC' },
          consent: 'standing',
        }),
        same({ is: 'stopped', failure: new Failure('limit', 'over') }),
      ];
    case 'confirm':
      return confirmed(
        { ...truth, sent: Math.min(truth.sent, confirmations) + 1 },
        txn,
        truth.sent >= confirmations,
      );
    case 'wait':
      return [same({ is: 'waited' })];
    case 'conclude':
      return [same({ is: 'concluded', state: step.state })];
    case 'begin':
      return [same({ is: 'begun', number: step.number, renew: {} })];
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
  const refused: Outcome[] =
    truth.real === 'quoted'
      ? [{ truth, fact: { is: 'confirm-refused', error: errors.insufficient } }]
      : [];
  return [
    ...answered,
    { truth: carriedOut, fact: lost },
    { truth, fact: lost },
    { truth: { ...truth, delayed: truth.delayed + 1 }, fact: lost },
    { truth, fact: { is: 'confirm-not-sent', error: errors.notSent } },
    ...refused,
    // Refused in other words; or the first of two copies was carried out, and the second one refused.
    { truth, fact: { is: 'confirm-refused', error: errors.otherWords } },
    { truth: carriedOut, fact: { is: 'confirm-refused', error: errors.otherWords } },
  ];
}
