// Pays a proposal: one payment through the payment core, and the rows of a batch as svcpay batch
// does, each once under its own reference.
import type { Transaction } from '../../api/types.js';
import { fixed, money, type Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { mayHaveMoved, mayHavePaid, type Payment } from '../../store/journal/payment.js';
import { runName } from '../../wallet/batch/status.js';
import { unfinished, journalFirst } from '../../wallet/payment/journal-first.js';
import type { Instruction } from '../../wallet/instruction/instruction.js';
import { readSendNow } from '../../wallet/instruction/send.js';
import { methodOf } from '../../wallet/payout/payee.js';
import {
  checkProposal,
  proposedRows,
  referenceOf,
  sendWords,
  type Proposal,
  type ReadProposal,
} from '../../wallet/proposals/proposal.js';
import { checkRows, refuseProblems, type BatchSource } from '../batch/batch-check.js';
import { runRows, type BatchResult } from '../batch/batch-flow.js';
import { batchOptions, type BatchFlags } from '../batch/batch-options.js';
import { draining } from '../batch/drain.js';
import type { Context } from '../context.js';
import { runPayment } from '../payment/payment-flow.js';
import { swapPresentation } from '../payment/payment-model.js';
import { paymentOptions, type PaymentFlags } from '../payment/payment-options.js';
import { paySend } from '../payment/send-flow.js';
import { runPayoutInstruction, withInstitutions } from '../payout/payout-flow.js';
import { aboutSwap } from '../swap/swap-words.js';
import { readAll, type ValuesOf } from '../values.js';
import { environmentOf } from './outbox.js';

/** How a proposal is paid. The proposal fixes what is paid, and up to which total. */
export const howToPay = {
  concurrency: batchOptions.concurrency,
  onError: batchOptions.onError,
  result: batchOptions.result,
  wait: paymentOptions.wait,
  waitTimeout: paymentOptions.waitTimeout,
  retry: paymentOptions.retry,
};

export type HowToPay = ValuesOf<typeof howToPay>;

/** Pays a proposal of one payment. After the expiry, only a submitted payment goes on. */
export async function payOne(
  { id, proposal }: ReadProposal,
  { wait, waitTimeout, retry }: HowToPay,
  context: Context,
): Promise<Transaction> {
  const { scope, journal } = await context.account();
  const ref = referenceOf(id);
  const begun = await (await journal()).find(scope, ref);
  if (begun === undefined || !mayHavePaid(begun)) checkProposal(proposal, context.now());
  const {
    maxTotal: [maxTotal],
  } = proposal;
  const [row] = await withInstitutions(proposal.rows, context);
  if (row === undefined) throw new Error('The proposal has no payment.');
  const given = { ...fixedFlags, wait, waitTimeout, retry, ref, maxTotal, note: row.note };
  return payRow(row, { ...given, proposal: id }, context);
}

const fixedFlags = {
  maxFee: undefined,
  maxRateLoss: undefined,
  quoteOnly: false,
  again: true,
};

async function payRow(
  row: Instruction,
  flags: PaymentFlags,
  context: Context,
): Promise<Transaction> {
  switch (row.verb) {
    case 'swap':
      return runPayment(row, flags, { about: aboutSwap(row), ...swapPresentation }, context);
    case 'send':
      return paySend(readSendNow(sendWords(row), environmentOf(context)), flags, context);
    case 'payout': {
      const method = row.payout && methodOf(row.payout.destReq);
      if (method === undefined)
        throw new Failure('usage', 'unknown payout method.', { money: 'Not sent' });
      return runPayoutInstruction(row, method, flags, context);
    }
  }
}

/** Pays the rows of a proposed batch, and continues a batch that an earlier run began. */
export const payMany = (
  read: ReadProposal,
  how: HowToPay,
  context: Context,
): Promise<BatchResult> =>
  draining(context, (drain, nested) => {
    const refs = new Set(proposedRows(read, environmentOf(context)).map(({ ref }) => ref));
    return journalFirst(
      unfinished(({ ref }) => refs.has(ref)),
      context.journal,
      async () => {
        const flags = flagsOf(read, how);
        return runRows(await sourceOf(read, flags, nested), flags, drain, nested);
      },
    );
  });

function flagsOf({ proposal }: ReadProposal, { waitTimeout, ...how }: HowToPay): BatchFlags {
  const defaults = readAll(batchOptions, {});
  return {
    ...defaults,
    ...how,
    name: proposal.batch?.name ?? '',
    waitTimeout: waitTimeout ?? defaults.waitTimeout,
    // With --yes, --digest approves exactly these rows.
    acceptChanges: true,
  };
}

async function sourceOf(
  read: ReadProposal,
  flags: BatchFlags,
  context: Context,
): Promise<BatchSource> {
  const { id, proposal } = read;
  const named = { ...proposal, rows: await withInstitutions(proposal.rows, context) };
  const rows = proposedRows({ ...read, proposal: named }, environmentOf(context));
  const check = await checkRows(rows, flags, context, async (row) => row);
  const refusal = { do: 'run', command: 'proposals refuse', argument: id } as const;
  refuseProblems(check, { hint: 'To refuse the proposal', next: refusal }, context);
  if (check.toPay.length > 0) checkProposal(proposal, context.now());
  const file = `proposal ${id.slice(0, 8)}`;
  const { name, result = null } = flags;
  return {
    check,
    file,
    name,
    run: check.run ?? runName(context.now(), name === '' ? file : name),
    result,
    again: (options) => ({ command: 'proposals pay', argument: id, options }),
    approved: {
      proposal: id,
      rest: restOf(proposal, check.rows),
      // Several homes that pay the proposal at the same time charge one sum.
      budget: {
        name: referenceOf(id),
        total: Object.fromEntries(proposal.maxTotal.map(({ ccy, value }) => [ccy, fixed(value)])),
      },
    },
  };
}

/** The rest of the highest total after the attempts that may have moved money. */
const restOf = (
  { maxTotal }: Proposal,
  rows: readonly { readonly payment?: Payment | undefined }[],
): Money[] => {
  const moved = rows.flatMap(({ payment }) => payment?.attempts.filter(mayHaveMoved) ?? []);
  return maxTotal.map(({ ccy, value }) =>
    moved
      .filter(({ spendCcy }) => spendCcy === ccy)
      .reduce((rest, each) => money(ccy, rest.value.minus(each.approvedTotal ?? 0)), {
        ccy,
        value,
      }),
  );
};
