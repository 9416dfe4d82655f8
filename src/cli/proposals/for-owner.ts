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
import { readBudget } from '../limits/in-force.js';
import { environmentOf, outboxOf } from './outbox.js';

const validMs = 3 * 86_400_000;

/** The budget that the run charges, whose owner decides by proposals. */
export function budgetOf(context: Context): BudgetOfRun | undefined {
  const { budget: name } = context.settings;
  if (name === undefined) return undefined;
  const { now } = context;
  const folderOf = async (): Promise<string> => {
    const budget = await readBudget(name, context);
    return outboxOf(budget?.rules.outbox ?? undefined, context);
  };
  /** Writes the file of the proposal where it is missing. Returns the failure of the run. */
  const awaiting = async (
    { id, text }: Pick<ProposalRecord, 'id' | 'text'>,
    { ref }: Pick<Payment, 'ref'>,
    why = '',
  ): Promise<Failure> => {
    const folder = await folderOf();
    writeProposal(folder, id, text);
    const options = folder === outboxOf(undefined, context) ? {} : { '--outbox': folder };
    return new Failure('limit', `${why}The owner decides about the proposal ${id}.`, {
      money: 'Not sent yet',
      proposal: id,
      ref,
      hint: 'Once the owner has paid it, the same reference reports the payment. The owner runs',
      next: { do: 'run', command: 'proposals pay', argument: id, options },
    });
  };
  const decided: Owner['decided'] = async (payment) => {
    const { scope, journal } = await context.account();
    const nonce = `"nonce":"${nonceOf(payment)}"`;
    for (const record of await (await context.proposals()).all(scope)) {
      const { id, text, refusedAt, digests } = record;
      if (!text.includes(nonce)) continue;
      const { proposal } = readProposal(text, id, environmentOf(context));
      const paid = await (await journal()).find(scope, referenceOf(id));
      const isBegun = paid !== undefined && status(paid) !== 'abandoned';
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
      if (refusedAt === null && (isBegun || proposal.expiresAt > now()))
        throw await awaiting(record, payment);
    }
    return undefined;
  };
  const propose: Owner['propose'] = async (payment, { clause, forOwner }) => {
    if ((await decided(payment)) !== undefined)
      return new Failure('temporary', 'the owner decided meanwhile.', { money: 'Not sent' });
    const { scope, id: account } = await context.account();
    const proposal: Proposal = {
      account,
      rows: [instructionOf(payment)],
      batch: null,
      maxTotal: forOwner === undefined ? [] : [withMargin(forOwner)],
      expiresAt: now() + validMs,
      reason: clause,
      nonce: nonceOf(payment),
    };
    const { id, text } = writtenProposal(proposal, environmentOf(context));
    checkOutbox(await folderOf());
    // The record comes first: a crash leaves a proposal that nobody has seen, and never two.
    const record = { id, text, digests: payment.digest, refusedAt: null, note: null };
    await (await context.proposals()).keep(scope, record);
    return awaiting(record, payment, `${clause}. `);
  };
  return { name, owner: { decided, propose } };
}

/** 2 % above the quote, because the price may change until the owner decides. */
const withMargin = ({ ccy, value }: Money): Money =>
  money(ccy, value.times('1.02').round(decimalsOf(ccy), 3));

const nonceOf = ({ scope, ref }: Pick<Payment, 'scope' | 'ref'>): string =>
  createHash('sha256').update(`${scope} ${ref}`).digest('hex').slice(0, 32);
