// Lists, shows, pays and refuses proposals, and waits for new ones. A proposal carries no secret,
// so its file may come from another user or machine.
import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Transaction } from '../../api/types.js';
import { formatAmounts, money, type Money, fixed } from '../../formats/amount.js';
import { exitCodes, Failure, invalid, notSent } from '../../formats/failure.js';
import { writeResult } from '../../store/files/outbox.js';
import { sentenceView } from '../../terminal/cards/card.js';
import {
  proposalCard,
  proposalList,
  type ProposalView,
} from '../../terminal/views/proposal-view.js';
import { transactionList } from '../../terminal/views/transaction-view.js';
import {
  type ReadProposal,
  checkProposal,
  proposedRows,
  referenceOf,
  sendWords,
} from '../../wallet/proposals/proposal.js';
import { sumsOf, runName, type Row } from '../../wallet/batch/row.js';
import { runDraining } from '../batch/batch-flow.js';
import { batchRun, batchRunView, type BatchRun, type BatchSteps } from '../batch/batch-output.js';
import type { Context } from '../context.js';
import { defineCommand, list, record } from '../define.js';
import { flag, text, verbatim, type ValuesOf, readAll } from '../values.js';
import { findProposal, findProposals, type FoundProposal } from './find.js';
import { outboxOf, outboxOption, environmentOf } from './outbox.js';
import { mayHaveMoved, mayHavePaid, type Payment } from '../../store/journal/payment.js';
import { digestOf } from '../../wallet/instruction/instruction.js';
import { readSendNow } from '../../wallet/instruction/send.js';
import {
  checkRows,
  refuseProblems,
  type BatchSource,
  batchOptions,
  type BatchFlags,
} from '../batch/batch-check.js';
import { runPayment } from '../payment/payment-flow.js';
import { swapPresentation } from '../payment/payment-screen.js';
import { paymentOptions, aboutSwap } from '../payment/payment-options.js';
import { paySend } from '../payment/send-flow.js';
import { openLookUp, runPayoutInstruction, withInstitution } from '../payout/payout-flow.js';

const { concurrency, onError, result } = batchOptions;
const { wait, waitTimeout, retry } = paymentOptions;

/** How a proposal is paid. The proposal fixes what is paid, and up to which total. */
const howToPay = { concurrency, onError, result, wait, waitTimeout, retry };

type HowToPay = ValuesOf<typeof howToPay>;

/** A proposal that may be paid. */
type Payable = FoundProposal & ReadProposal;

/** Pays a proposal of one payment. After the expiry, only a submitted payment goes on. */
async function payOne(
  { id, proposal }: Payable,
  how: HowToPay,
  context: Context,
): Promise<Transaction> {
  const { scope, journal } = await context.account();
  const ref = referenceOf(id);
  const begun = await (await journal()).find(scope, ref);
  if (begun === undefined || !mayHavePaid(begun)) checkProposal(proposal, context.now());
  const [only] = proposal.rows;
  if (only === undefined) throw new Error('The proposal has no payment.');
  const row = await withInstitution(only, openLookUp(context));
  const flags = {
    ...readAll(paymentOptions, {}),
    ...how,
    maxTotal: proposal.maxTotal[0],
    again: true,
    ref,
    note: row.note,
    proposal: id,
  };
  switch (row.verb) {
    case 'swap':
      return runPayment(row, flags, { about: aboutSwap(row), ...swapPresentation }, context);
    case 'send':
      return paySend(readSendNow(sendWords(row), environmentOf(context)), flags, context);
    case 'payout':
      return runPayoutInstruction(row, flags, context);
  }
}

/** Pays the rows of a proposed batch, and continues a batch that an earlier run began. */
async function* payMany(read: Payable, how: HowToPay, context: Context): BatchSteps {
  const refs = new Set(proposedRows(read, environmentOf(context)).map(({ ref }) => ref));
  const isOwn = ({ ref }: Payment): boolean => refs.has(ref);
  const steps = runDraining(isOwn, context, async (nested) => {
    const defaults = readAll(batchOptions, {});
    const flags = {
      ...defaults,
      ...how,
      name: read.proposal.batch?.name ?? '',
      waitTimeout: how.waitTimeout ?? defaults.waitTimeout,
      // With --yes, --digest approves exactly these rows.
      acceptChanges: true,
    };
    return { source: await sourceOf(read, flags, nested), flags };
  });
  await keep(read, null, undefined, context);
  try {
    const end = yield* steps;
    if (end.summary.paid === end.summary.rows) reportPaid(read.view, null);
    return end;
  } catch (error) {
    throw await declined(read, error, context);
  }
}

async function sourceOf(
  { id, proposal, text: file }: Payable,
  flags: BatchFlags,
  context: Context,
): Promise<BatchSource> {
  const lookUp = openLookUp(context);
  const checked = await Promise.all(proposal.rows.map((each) => withInstitution(each, lookUp)));
  const named = { ...proposal, rows: checked };
  const rows = proposedRows({ id, text: file, proposal: named }, environmentOf(context));
  const check = await checkRows(rows, flags, context, async (row) => row);
  const refusal = { do: 'run', command: 'proposals refuse', argument: id } as const;
  refuseProblems(check, { hint: 'To refuse the proposal', next: refusal }, context);
  if (check.toPay.length > 0) checkProposal(proposal, context.now());
  const title = `proposal ${id.slice(0, 8)}`;
  const { name, result: path = null } = flags;
  const { maxTotal } = proposal;
  return {
    check,
    file: title,
    name,
    run: check.run ?? runName(context.now(), name || title),
    result: path,
    retry: { command: 'proposals pay', argument: id, options: { '--retry': true } },
    approved: {
      proposal: id,
      rest: restOf(maxTotal, check.rows),
      // Several homes that pay the proposal at the same time charge one sum.
      budget: {
        name: referenceOf(id),
        total: Object.fromEntries(maxTotal.map(({ ccy, value }) => [ccy, fixed(value)])),
      },
    },
  };
}

/** The rest of the highest total after the attempts that may have moved money. */
function restOf(maxTotal: readonly Money[], rows: readonly Row[]): Money[] {
  const moved = rows.flatMap(({ payment }) => payment?.attempts.filter(mayHaveMoved) ?? []);
  const spent = moved.flatMap(({ spendCcy, approvedTotal }) =>
    spendCcy === null ? [] : money(spendCcy, `-${approvedTotal ?? 0}`),
  );
  return sumsOf([...maxTotal, ...spent]);
}

const id = () => text('ID').describe('id of a proposal, or at least its first 6 characters');

export const proposals = defineCommand({
  arguments: { folder: outboxOption() },
  options: { all: flag().describe('also those that were paid or refused, or that expired') },
  examples: [
    ['svcpay proposals', 'lists the proposals that wait for you'],
    ['svcpay proposals /srv/outbox --all', 'lists all proposals in a folder'],
  ],
  async run({ folder, all }, context) {
    const found = await reported(folder, context);
    return found.filter(({ state }) => all || state === 'open' || state === 'paying');
  },
  view: list(proposalList),
});

/** Finds the proposals of the folder, and reports those that were settled after their run. */
async function reported(
  folder: string | undefined,
  context: Context,
): Promise<readonly ProposalView[]> {
  const found = await findProposals(outboxOf(folder, context), context);
  for (const { view, txnId } of found) if (view.state === 'paid') reportPaid(view, txnId);
  return found.map(({ view }) => view);
}

export const proposalsShow = defineCommand({
  arguments: { id: id() },
  options: { outbox: outboxOption() },
  examples: [['svcpay proposals show 5f0c91ab', 'shows a proposal and what is unusual about it']],
  run: async ({ id: name, outbox }, context) => (await findProposal(name, outbox, context)).view,
  view: record(proposalCard),
});

const payOptions = {
  digest: text('ID').optional().describe('the whole id, which --yes requires (in CI)'),
  ...howToPay,
  outbox: outboxOption(),
};

type Paid = { readonly transactions: readonly Transaction[] } | { readonly batch: BatchRun };

const payments = list(transactionList);

export const proposalsPay = defineCommand({
  arguments: { ids: id().repeated() },
  options: payOptions,
  changes: true,
  examples: [
    ['svcpay proposals pay 5f0c91ab', 'shows the proposal with its cost, and asks'],
    [
      'svcpay proposals pay "$ID" --digest "$ID" --yes --json',
      'pays exactly this proposal, in a protected job',
    ],
  ],
  run: payProposals,
  view: {
    fields: [...new Set([...payments.fields, ...batchRunView.fields])],
    dataOf: (paid: Paid) => ('batch' in paid ? batchRunView.dataOf(paid.batch) : paid.transactions),
    print: (paid, _parts, context) =>
      'batch' in paid
        ? batchRunView.print(paid.batch, {}, context)
        : payments.print(paid.transactions, {}, context),
  },
  failure: (paid) => ('batch' in paid ? paid.batch.end().failure : undefined),
});

/** The most proposals that one question approves. */
const mostTogether = 20;

async function payProposals(
  { ids, digest, outbox, ...how }: { ids: string[] } & ValuesOf<typeof payOptions>,
  context: Context,
): Promise<Paid> {
  const { globals, ask, out, now } = context;
  const found = await Promise.all(ids.map((name) => findProposal(name, outbox, context)));
  const payable = found.map((each) => payableOf(each, context));
  if (globals.yes && (digest === undefined || ids.length > 1 || payable[0]?.id !== digest))
    throw notSent('with --yes, --digest must be the whole id of one proposal', {
      hint: 'Review the proposal',
      next: { do: 'run', command: 'proposals show ID' },
    });
  const show = ({ view }: Payable): boolean =>
    out.card((canvas) => ['', ...proposalCard(now()).screen(canvas, view)]);
  const batch = payable.find(({ proposal }) => proposal.batch !== null);
  if (batch !== undefined) {
    if (found.length > 1)
      throw notSent('the proposal of a batch must be paid alone', {
        next: { do: 'run', command: 'proposals pay', argument: batch.id },
      });
    show(batch);
    return { batch: batchRun(payMany(batch, how, context)) };
  }
  const isPlain = ({ view }: FoundProposal): boolean => view.remarks.length === 0;
  const together = found.length > 1 && found.length <= mostTogether && found.every(isPlain);
  if (together && !globals.yes) {
    for (const { view } of found)
      out.say(`  ${view.what.join(', ')}: at most ${formatAmounts(view.maxTotal)}`);
    const total = formatAmounts(sumsOf(found.flatMap(({ view }) => view.maxTotal)));
    await ask.agree(`Pay these ${found.length} proposals, at most ${total} in all?`, 'Not sent');
  }
  const agreed = together ? { ...context, globals: { ...globals, yes: true } } : context;
  const transactions: Transaction[] = [];
  for (const each of payable) {
    if (!together) show(each);
    await keep(each, null, undefined, agreed);
    const txn = await payOne(each, how, agreed).catch(async (error: unknown) => {
      throw await declined(each, error, agreed);
    });
    if (txn.txnState === 'completed') reportPaid(each.view, txn.txnId);
    transactions.push(txn);
  }
  return { transactions };
}

/** Throws Failure if a proposal must not be paid. A run of an earlier payment may continue. */
function payableOf(found: FoundProposal, { settings }: Context): Payable {
  const { view, read } = found;
  const why = {
    void: view.why ?? 'its file is not valid',
    refused: 'it was refused',
    expired: 'it has expired',
    open: undefined,
    paying: undefined,
    paid: undefined,
  }[view.state];
  const isOwn = view.isOwn && settings.profile.refuseOwnProposals === true;
  const reason = why ?? (isOwn ? 'you wrote it yourself (refuse-own-proposals)' : undefined);
  if (reason !== undefined || read === undefined)
    throw new Failure('usage', `the proposal ${view.id.slice(0, 8)}… cannot be paid: ${reason}`, {
      money: 'Not sent',
    });
  return { ...found, ...read };
}

/** After a person's no, asks whether to refuse the proposal for good. Returns the error. */
async function declined(found: Payable, error: unknown, context: Context): Promise<unknown> {
  if (error instanceof Failure && error.kind === 'declined' && context.terminal.canPrompt) {
    const isFinal = await context.ask.confirm('Refuse this proposal for good?');
    if (isFinal) await refuse(found, undefined, context);
  }
  return error;
}

/** Tells the proposer, beside the proposal, what became of it. */
const report = ({ id: name, path }: ProposalView, result: object): void =>
  void writeResult(dirname(path), name, `${JSON.stringify(result)}\n`);

const reportPaid = (view: ProposalView, txnId: string | null): void =>
  report(view, { state: 'paid', txnId, exitCode: 0 });

/** Records the proposal, with the time at which a person refused it. */
async function keep(
  { id: name, text: file, proposal }: ReadProposal,
  refusedAt: number | null,
  note: string | undefined,
  context: Context,
): Promise<void> {
  const { scope } = await context.account();
  const digests = proposal.rows.map(digestOf).join(' ');
  const record = { id: name, digests, text: file, refusedAt, note: note ?? null };
  await (await context.proposals()).keep(scope, record);
}

export const proposalsRefuse = defineCommand({
  arguments: { id: id() },
  options: {
    note: text().optional().describe('why, for your own records'),
    outbox: outboxOption(),
  },
  changes: true,
  examples: [['svcpay proposals refuse 5f0c91ab --note "paid in cash"', 'refuses it for good']],
  async run({ id: name, note, outbox }, context) {
    const found = await findProposal(name, outbox, context);
    const { view, read } = found;
    const isSent = view.state === 'paying' && read?.proposal.batch === null;
    if (read === undefined || view.state === 'paid' || isSent)
      throw invalid(`Not refused: the proposal is ${view.state}.`);
    await refuse({ ...found, ...read }, note, context);
    return { id: view.id, state: 'refused' };
  },
  view: record(
    sentenceView<{ readonly id: string; readonly state: string }>(
      ['id', 'state'],
      ({ id: name }) => `Refused for good: ${name}`,
      ({ id: name }) => name,
    ),
  ),
});

async function refuse(found: Payable, note: string | undefined, context: Context): Promise<void> {
  await keep(found, context.now(), note, context);
  report(found.view, { state: 'refused', txnId: null, exitCode: exitCodes.declined });
}

const pauseMs = 2_000;

export const proposalsWatch = defineCommand({
  arguments: { folder: outboxOption() },
  options: {
    exec: verbatim('CMD').optional().describe('run CMD for each new proposal: id, amount, count'),
  },
  examples: [
    [
      'svcpay proposals watch --exec notify-send',
      'passes id, highest total and count to a program, and no text of the file',
    ],
  ],
  run: async ({ folder, exec }, context) => watch(folder, exec, context),
  view: list(proposalList),
});

async function* watch(
  folder: string | undefined,
  exec: string | undefined,
  context: Context,
): AsyncGenerator<ProposalView> {
  const seen = new Set<string>();
  while (!context.signal.aborted) {
    const open = (await reported(folder, context)).filter(({ state }) => state === 'open');
    for (const view of open.filter(({ id: each }) => !seen.has(each))) {
      seen.add(view.id);
      yield view;
      if (exec === undefined) continue;
      const most = formatAmounts(view.maxTotal);
      await promisify(execFile)(exec, [view.id, most, String(open.length)]);
    }
    await context.sleep(pauseMs, context.signal).catch(() => undefined);
  }
}
