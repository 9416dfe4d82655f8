// Asks before svcpay repeats the same payment, or refuses the payment if svcpay cannot ask.
import { Failure } from '../../formats/failure.js';
import { decisive, type AttemptState } from '../../store/journal/payment.js';
import { back, type Back } from '../../terminal/ask/questions.js';
import { relativeTime } from '../../terminal/time.js';
import { instructionOf } from '../../wallet/instruction/instruction.js';
import { amountAsked, payeeInWords } from '../../wallet/instruction/words.js';
import type { EarlierPayment } from '../../wallet/instruction/same-again.js';
import { concerned } from '../../wallet/payment/outcomes.js';
import type { Context } from '../context.js';

const unknown = 'The outcome of the earlier payment is not known yet.';

/** What is known of an unfinished payment. */
const progress: Readonly<Partial<Record<AttemptState, string>>> = {
  'in-flight': 'The service has accepted it, and it is on its way.',
};

/**
 * Asks the person whether to repeat a payment. With `--yes`, throws Failure `usage` if the payment
 * to repeat is unfinished, because a script that runs twice would pay twice. At the submission,
 * nobody can be asked, so svcpay refuses the second of two payments at once. Throws Failure
 * `declined` if the person declines to repeat the payment.
 */
export async function askAgain(
  earlier: EarlierPayment,
  at: 'start' | 'submission',
  { ask, globals, now, out }: Pick<Context, 'ask' | 'globals' | 'now' | 'out'>,
): Promise<'follow' | 'another'> {
  const { payment, is } = earlier;
  const instruction = instructionOf(payment);
  const isOpen = is === 'unfinished';
  const sentence =
    `sent ${amountAsked(instruction)} to ${payeeInWords(instruction)} ` +
    `${relativeTime(earlier.at, now())}.` +
    (isOpen ? ` ${progress[decisive(payment).state] ?? unknown}` : '');
  if (globals.yes && !isOpen) return 'another';
  if (globals.yes || at === 'submission') {
    throw new Failure('usage', `you ${sentence}`, {
      money: 'Not sent',
      hint: 'To send the same amount again, add --again. To follow the earlier payment',
      next: { do: 'resume', id: decisive(payment).txnId ?? payment.ref },
      ...concerned(payment, decisive(payment)),
    });
  }
  out.say(`  You ${sentence}`);
  const answer = await ask.steps.select<'follow' | 'another' | Back>({
    message: 'What now?',
    flag: '--again',
    choices: [
      { value: 'follow', name: isOpen ? 'Follow that payment' : 'Show that payment' },
      { value: 'another', name: `Send another ${amountAsked(instruction)}` },
    ],
    default: isOpen ? 'follow' : back,
    backName: 'Cancel',
  });
  if (answer === back) throw new Failure('declined', '', { money: 'Not sent' });
  return answer;
}
