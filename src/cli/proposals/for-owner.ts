// Proposes to the owner what a budget does not allow. The nonce of the proposal derives from the
// reference of the payment, so that the same reference finds what the owner decided.
import { createHash } from 'node:crypto';
import { decimalsOf, money, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { checkOutbox, writeProposal } from '../../store/files/outbox.js';
import type { ProposalRecord } from '../../store/journal/records.js';
import { mayHavePaid, status, type Payment } from '../../store/journal/payment.js';
import { instructionOf } from '../../wallet/instruction/instruction.js';
import type { BudgetOfRun, Owner } from '../../wallet/payment/model.js';
import { differentPayment } from '../../wallet/payment/outcomes.js';
import {
  readProposal,
  referenceOf,
  writtenProposal,
  type Proposal,
} from '../../wallet/proposals/proposal.js';
import type { Context } from '../context.js';
import { environmentOf, outboxOf } from './outbox.js';

const validMs = 3 * 86_400_000;

/** The budget that the run charges, whose owner decides by proposals. */
export const budgetOf = (context: Context): BudgetOfRun | undefined => {
  const { budget } = context.settings;
  return budget === undefined ? undefined : { name: budget, owner: ownerOf(budget, context) };
};

const ownerOf = (budget: string, context: Context): Owner => ({
  decided: (payment) => decided(payment, budget, context),
  async propose(payment, { clause, forOwner }) {
    const earlier = await decided(payment, budget, context);
    if (earlier !== undefined)
      return new Failure('temporary', 'the owner decided meanwhile.', { money: 'Not sent' });
    const { scope, id: account } = await context.account();
    const proposal: Proposal = {
      account,
      rows: [instructionOf(payment)],
      batch: null,
      maxTotal: forOwner === undefined ? [] : [withMargin(forOwner)],
      expiresAt: context.now() + validMs,
      reason: clause,
      nonce: nonceOf(payment),
    };
    const { id, text } = writtenProposal(proposal, environmentOf(context));
    checkOutbox(await folderOf(budget, context));
    // The record comes first: a crash leaves a proposal that nobody has seen, and never two.
    const record = { id, text, digests: payment.digest, refusedAt: null, note: null };
    await (await context.proposals()).keep(scope, record);
    return awaiting(record, payment, budget, context, `${clause}. `);
  },
});

/** 2 % above the quote, because the price may change until the owner decides. */
const withMargin = ({ ccy, value }: Money): Money =>
  money(ccy, value.times('1.02').round(decimalsOf(ccy), 3));

const nonceOf = ({ scope, ref }: Pick<Payment, 'scope' | 'ref'>): string =>
  createHash('sha256').update(`${scope} ${ref}`).digest('hex').slice(0, 32);

async function decided(
  payment: Parameters<Owner['decided']>[0],
  budget: string,
  context: Context,
): Promise<Payment | undefined> {
  const { scope, journal } = await context.account();
  const nonce = `"nonce":"${nonceOf(payment)}"`;
  const records = await (await context.proposals()).all(scope);
  for (const record of records.filter(({ text }) => text.includes(nonce))) {
    const { id, refusedAt, digests } = record;
    const { proposal } = readProposal(record.text, id, environmentOf(context));
    const paid = await (await journal()).find(scope, referenceOf(id));
    const isBegun = paid !== undefined && status(paid) !== 'abandoned';
    const isOver = proposal.expiresAt <= context.now() && !isBegun;
    const isSame = digests === payment.digest;
    if (paid !== undefined && mayHavePaid(paid)) {
      if (isSame) return paid;
      throw differentPayment(paid, instructionOf(payment));
    }
    if (refusedAt !== null && isSame)
      throw new Failure('declined', `the owner refused the proposal ${id}.`, {
        money: 'Not sent',
        ref: payment.ref,
      });
    if (refusedAt === null && !isOver) throw await awaiting(record, payment, budget, context);
  }
  return undefined;
}

/** Writes the file of the proposal where it is missing. Returns the failure of the run. */
async function awaiting(
  { id, text }: ProposalRecord,
  { ref }: Pick<Payment, 'ref'>,
  budget: string,
  context: Context,
  why = '',
): Promise<Failure> {
  const folder = await folderOf(budget, context);
  writeProposal(folder, id, text);
  const options = folder === outboxOf(undefined, context) ? {} : { '--outbox': folder };
  return new Failure('limit', `${why}The owner decides about the proposal ${id}.`, {
    money: 'Not sent yet',
    proposal: id,
    ref,
    hint: 'Once the owner has paid it, the same reference reports the payment. The owner runs',
    next: { do: 'run', command: 'proposals pay', argument: id, options },
  });
}

async function folderOf(name: string, context: Context): Promise<string> {
  const { id, client } = await context.account();
  const budget = await (await context.budgets()).one(id, name, client.datedNow());
  return outboxOf(budget?.rules.outbox ?? undefined, context);
}
