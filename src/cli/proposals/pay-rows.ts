// Pays the rows of a proposal through the payment core, each row once under its own reference.
import type { Big } from 'big.js';
import type { Transaction } from '../../api/types.js';
import { money, type Money } from '../../formats/amount.js';
import { besideSubmitted, Failure } from '../../formats/failure.js';
import { latest, mayHavePaid } from '../../store/journal/payment.js';
import type { Instruction } from '../../wallet/instruction/instruction.js';
import { readSendNow } from '../../wallet/instruction/send.js';
import { methodOf } from '../../wallet/payout/payee.js';
import {
  checkProposal,
  rowReference,
  sendWords,
  type ReadProposal,
} from '../../wallet/proposals/proposal.js';
import type { Context } from '../context.js';
import { runPayment } from '../payment/payment-flow.js';
import { swapPresentation } from '../payment/payment-model.js';
import type { PaymentFlags } from '../payment/payment-options.js';
import { paySend } from '../payment/send-flow.js';
import { runPayoutInstruction } from '../payout/payout-flow.js';
import { aboutSwap } from '../swap/swap-words.js';

/** The payment flags of a proposal, which fixes everything but the wait. */
export type WaitFlags = Pick<PaymentFlags, 'wait' | 'waitTimeout'>;

/**
 * Pays all rows, and returns their transactions. After the expiry, only a submitted row goes on.
 * The cost of earlier rows is subtracted from the highest total of the proposal.
 */
export async function payRows(
  read: ReadProposal,
  flags: WaitFlags,
  context: Context,
): Promise<readonly Transaction[]> {
  const { id, proposal } = read;
  const { scope, journal } = await context.account();
  const kept = await journal();
  const paid: Transaction[] = [];
  for (const [index, row] of proposal.rows.entries()) {
    const ref = rowReference(id, proposal, index);
    const begun = await kept.find(scope, ref);
    try {
      if (begun === undefined || !mayHavePaid(begun)) checkProposal(proposal, context.now());
      const maxTotal = await restOf(read, index, context);
      const document = `proposal ${id}`;
      const given = { ...fixedFlags, ...flags, ref, maxTotal, note: row.note, document };
      paid.push(await payRow(row, given, context));
    } catch (error) {
      if (!(error instanceof Failure) || paid.length === 0) throw error;
      const money = `${paid.length} of ${proposal.rows.length} rows were sent`;
      throw error.saying(error.why, { kind: besideSubmitted(error.kind), money });
    }
  }
  return paid;
}

const fixedFlags = {
  maxFee: undefined,
  maxRateLoss: undefined,
  quoteOnly: false,
  again: true,
  retry: false,
};

/** The rest of the highest total after the rows before `index`. */
async function restOf(
  { id, proposal }: ReadProposal,
  index: number,
  context: Context,
): Promise<Money> {
  const { scope, journal } = await context.account();
  const kept = await journal();
  let rest: Big = proposal.maxTotal.value;
  for (let row = 0; row < index; row += 1) {
    const payment = await kept.find(scope, rowReference(id, proposal, row));
    rest = rest.minus((payment && latest(payment).approvedTotal) ?? 0);
  }
  return money(proposal.maxTotal.ccy, rest);
}

async function payRow(
  row: Instruction,
  flags: PaymentFlags,
  context: Context,
): Promise<Transaction> {
  switch (row.verb) {
    case 'swap':
      return runPayment(row, flags, { about: aboutSwap(row), ...swapPresentation }, context);
    case 'send': {
      const environment = { network: context.settings.network, now: context.now() };
      return paySend(readSendNow(sendWords(row), environment), flags, context);
    }
    case 'payout': {
      const method = row.payout && methodOf(row.payout.destReq);
      if (method === undefined)
        throw new Failure('usage', 'unknown payout method.', { money: 'Not sent' });
      return runPayoutInstruction(row, method, flags, context);
    }
  }
}
