// Pays again.
import type { CardDetail } from '../../terminal/cards/card.js';
import type { Instruction } from '../../wallet/instruction/instruction.js';
import { findMethod } from '../../wallet/payout/methods.js';
import type { Context } from '../context.js';
import { runPayment } from '../payment/payment-flow.js';
import { swapPresentation } from '../payment/payment-model.js';
import { paymentOptions } from '../payment/payment-options.js';
import { runPayoutInstruction } from '../payout/payout-flow.js';
import { readAll } from '../values.js';

export async function payAgain(instruction: Instruction, context: Context): Promise<void> {
  const flags = readAll(paymentOptions, {});
  const { verb, payout, from, to } = instruction;
  if (payout !== undefined)
    return void (await runPayoutInstruction(
      instruction,
      findMethod(payout.destReq.method),
      flags,
      context,
    ));
  const about: CardDetail =
    verb === 'swap'
      ? { label: 'Swap', value: `${from} to ${to}` }
      : { label: 'To', value: to, whole: true };
  const presentation = verb === 'swap' ? swapPresentation : {};
  await runPayment(instruction, flags, { about: [about], ...presentation }, context);
}
