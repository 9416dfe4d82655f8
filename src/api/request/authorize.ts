// The token of each request, and what a refused token leads to.
import { policies } from '../../formats/policies.js';
import { poll, type Next } from '../../formats/poll.js';
import { messageOf } from '../../formats/unknown.js';
import { codeOf, reportsError, serviceError, unknownOutcome, type Answer } from '../answer.js';
import type { TokenKeeper } from './auth.js';
import type { Call, Step } from './call.js';
import { NoAnswer } from '../errors.js';
import type { ClientOptions } from '../options.js';
import { interrupted, unlessInterrupted } from './retry.js';

/**
 * Sends a request with the token, and after a 401 again with a newer one, because a refused request
 * has changed nothing. In some services a new token invalidates the previous one, so a request is
 * repeated more often if others use the key. A confirmation is repeated once.
 */
export function authorize(tokens: TokenKeeper, options: ClientOptions): Step {
  const { clock: now, sleep, random } = options;
  /** The service has accepted a token of this key. */
  let wasAccepted = false;
  return (next) => async (call) => {
    const { effect, signal } = call;
    // Others may wait for the same sign-in, so it continues without this request.
    let token = await unlessInterrupted(tokens.current, signal);
    let hasOthers = wasAccepted;
    let refusal: Answer | undefined;
    const attempt = async ({ number }: { number: number }): Promise<Next<Answer>> => {
      if (refusal !== undefined) {
        const successor = await tokens.successor(token);
        if (successor === undefined && number > 2 && !hasOthers) return { done: refusal };
        hasOthers ||= successor !== undefined;
        token = successor ?? (await unlessInterrupted(tokens.renew, signal));
      }
      const headers = { authorization: `Bearer ${token.accessToken}` };
      const answer = await next({ ...call, headers });
      if (!isTokenRefused(answer, call)) {
        wasAccepted = true;
        return { done: answer };
      }
      refusal = answer;
      // If a new token is refused, another process has signed in since, and is active now.
      return tokens.isNew(token) ? {} : { afterMs: 0 };
    };
    try {
      const policy = effect === 'payment' ? policies.tokenOfConfirmation : policies.token;
      const end = await poll(policy, attempt, { now, sleep, random, signal });
      if ('done' in end) return end.done;
      if (end.over === 'exhausted' && refusal !== undefined) return refusal;
      throw interrupted();
    } catch (error) {
      throw effect === 'payment' && refusal !== undefined ? unanswered(error, call) : error;
    }
  };
}

/**
 * The service refused the token of a confirmation, and the sign-in or the repetition failed. The
 * first confirmation has left this machine, so its outcome is unknown.
 */
function unanswered(cause: unknown, call: Call): NoAnswer {
  if (cause instanceof NoAnswer && cause.mayHaveArrived) return cause;
  const message = `The confirmation was sent, and could not be repeated: ${messageOf(cause)}`;
  return unknownOutcome(message, call, { cause });
}

/**
 * By status, or by the code of an expired token. A confirmation that a gateway refuses may have
 * reached the service, so only the service's own refusal counts.
 */
function isTokenRefused(answer: Answer, { effect }: Call): boolean {
  const { status } = answer.response;
  const isCoded = (status >= 400 && status < 500) || reportsError(answer);
  const isRefused = status === 401 || (codeOf(answer) === '1003' && isCoded);
  return isRefused && (effect !== 'payment' || serviceError(answer, 0).isOwnRefusal);
}
