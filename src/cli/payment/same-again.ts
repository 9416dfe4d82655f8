// Asks before svcpay repeats an identical payment, or refuses the payment if svcpay cannot ask.
import { Failure } from '../../formats/failure.js';
import { latest } from '../../store/journal/payment.js';
import { back, type Back } from '../../terminal/ask/ask.js';
import { relativeTime } from '../../terminal/time.js';
import { shortAmount } from '../../terminal/views/transaction-view.js';
import { knownAmounts } from '../../wallet/limits/limits.js';
import { decodeOrder } from '../../wallet/order/orders.js';
import type { EarlierPayment } from '../../wallet/payment/same-again.js';
import type { Context } from '../context.js';

/**
 * Asks the person whether to repeat a payment. With `--yes`, throws Failure `usage` if the payment
 * to repeat is unfinished, because a script that runs twice would pay twice. Throws Failure
 * `declined` if the person declines to repeat the payment.
 */
export async function askAgain(
  earlier: EarlierPayment,
  { ask, globals, now, out }: Pick<Context, 'ask' | 'globals' | 'now' | 'out'>,
): Promise<'follow' | 'another'> {
  const { amount, sentence } = inWords(earlier, now());
  const isOpen = earlier.is === 'unfinished';
  if (globals.yes) {
    if (!isOpen) return 'another';
    throw new Failure('usage', `Not sent: ${sentence.replace('You', 'you')}`, {
      hint: 'To send the same amount again, add --again. To follow the earlier payment',
      next: { do: 'resume', id: latest(earlier.payment).txnId ?? earlier.payment.ref },
    });
  }
  out.say(`  ${sentence}`);
  const answer = await ask.steps.select<'follow' | 'another' | Back>({
    message: 'What now?',
    flag: '--again',
    choices: [
      { value: 'follow', name: isOpen ? 'Follow that payment' : 'Show that payment' },
      { value: 'another', name: `Send another ${amount}` },
    ],
    default: isOpen ? 'follow' : back,
    backName: 'Cancel',
  });
  if (answer === back) throw new Failure('declined', 'Not sent.');
  return answer;
}

function inWords(
  { payment, is, at }: EarlierPayment,
  now: number,
): { readonly amount: string; readonly sentence: string } {
  const order = decodeOrder(payment.request);
  const [money] = knownAmounts(order);
  const amount = money === undefined ? undefined : shortAmount(money);
  const end = is === 'paid' ? '' : ' The outcome of the earlier payment is not known yet.';
  const sent = `You sent ${amount ?? 'a payment'} to ${order.destination}`;
  const sentence = `${sent} ${relativeTime(at, now)}.${end}`;
  return { amount: amount ?? 'payment', sentence };
}
