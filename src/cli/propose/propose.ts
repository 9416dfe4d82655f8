// Proposes payments that the owner of the wallet pays or refuses. Reads the same inputs as the
// commands that pay, offline, and needs no login and no secret.
import * as v from 'valibot';
import { formatAmounts } from '../../formats/amount.js';
import { Failure, invalid } from '../../formats/failure.js';
import { jsonIn } from '../../formats/text.js';
import { checkOutbox, readOutbox, readResult, writeProposal } from '../../store/files/outbox.js';
import { commandLine } from '../../terminal/next-step.js';
import { sentenceView } from '../../terminal/cards/card.js';
import { type Instruction, readSwap } from '../../wallet/instruction/instruction.js';
import { readSendNow } from '../../wallet/instruction/send.js';
import { readPayoutFile } from '../../wallet/payout/from-file.js';
import {
  largestFile,
  readProposal,
  writtenProposal,
  type Proposal,
} from '../../wallet/proposals/proposal.js';
import { readBatch } from '../../wallet/batch/check.js';
import { readRows } from '../../wallet/batch/file.js';
import { refuseProblems, rowOptions, batchColumns, planner } from '../batch/batch-check.js';
import { defineCommand, type Deps, record } from '../define.js';
import {
  completePayout,
  readDraft,
  answerOptions,
  missingFlags,
  payoutOptions,
} from '../payout/payout-flow.js';
import { withContact } from '../payment/send-flow.js';
import { environmentOf, outboxOf, outboxOption } from '../proposals/outbox.js';
import {
  sendArguments,
  sendOptions,
  readSwapWords,
  swapArguments,
  swapOptions,
} from '../payment/payment-options.js';
import { readGivenText } from '../process.js';
import { amount, duration, file, text, type ValuesOf } from '../values.js';

const proposalOptions = {
  maxTotal: amount()
    .repeated()
    .describe('highest total with fees, in the currency of the paying wallet; one per wallet'),
  reason: text().optional().describe('why the owner should pay; shown as quoted text'),
  expires: duration()
    .otherwise(3 * 86_400_000)
    .describe('how long the proposal is valid (default 3d, at most 30d)'),
  note: text().optional().describe('a note for the owner; the recipient does not see it'),
  outbox: outboxOption(),
};

type ProposeDeps = Deps<'globals' | 'home' | 'now' | 'newId' | 'out' | 'settings'>;

interface Proposed {
  readonly id: string;
  readonly path: string | null;
  readonly expiresAt: number;
  readonly text: string;
}

const proposedView = sentenceView<Proposed>(
  ['id', 'path', 'expiresAt', 'text'],
  ({ path, text: content }) => (path === null ? content : `Proposed, in ${path}`),
  ({ id }) => id,
);

export const proposeSend = defineCommand({
  arguments: sendArguments,
  options: { ...sendOptions, ...proposalOptions },
  changes: true,
  examples: [
    [
      'svcpay propose send ada@example.com 1300sat --max-total 1500sat --reason "invoice 118"',
      'writes a proposal that the owner can pay',
    ],
  ],
  run: ({ destination, amount: given, from, spend, via, deductFees, ...flags }, context) => {
    const words = { to: destination, amount: given, from, spend, via, deductFees };
    const { instruction } = readSendNow(withContact(words, context), environmentOf(context));
    return propose([instruction], flags, context);
  },
  view: record(proposedView),
});

export const proposeSwap = defineCommand({
  arguments: swapArguments,
  options: { ...swapOptions, ...proposalOptions },
  changes: true,
  examples: [
    ['svcpay propose swap 25usdt BTC --max-total 26usdt', 'proposes to sell 25 USDT for bitcoin'],
  ],
  run: ({ words, receive, ...flags }, context: ProposeDeps) =>
    propose([readSwap(complete(readSwapWords(words ?? '', receive)), receive)], flags, context),
  view: record(proposedView),
});

export const proposePayout = defineCommand({
  options: {
    ...answerOptions,
    recipient: payoutOptions.recipient,
    from: payoutOptions.from,
    fromFile: payoutOptions.fromFile,
    ...proposalOptions,
  },
  changes: true,
  examples: [
    [
      'svcpay propose payout --from-file payout.json --max-total 25000sat',
      "proposes a payout with the JSON body of the service's create request",
    ],
  ],
  async run({ fromFile, ...flags }, context) {
    if (fromFile !== undefined) {
      const content = await readGivenText(fromFile, context);
      const { instruction } = readPayoutFile(content, context.settings.maker);
      return propose([instruction], flags, context);
    }
    const { contacts } = context.config.read();
    const draft = readDraft(flags, contacts, context.settings.profile.sender);
    const missing = missingFlags(draft);
    if (missing.length > 0) context.ask.demand(missing);
    // Offline, svcpay cannot check the institution. The owner's svcpay checks it.
    return propose([completePayout(draft)], flags, context);
  },
  view: record(proposedView),
});

export const proposeBatch = defineCommand({
  arguments: { file: file().describe('CSV file as for svcpay batch, or - for stdin') },
  options: { ...rowOptions, ...proposalOptions },
  changes: true,
  examples: [
    ['svcpay propose batch payroll.csv --max-total 0.005btc', 'proposes all rows of a file'],
  ],
  async run({ file: path, name, from, ignoreColumns, ...flags }, context) {
    const text = Buffer.from(await readGivenText(path, context));
    const source = readRows(text, batchColumns(ignoreColumns));
    const plan = planner({ name, from }, context, true);
    const lookup = { name, paymentsUnder: async () => [] };
    const { rows, problems } = await readBatch(source, plan, lookup);
    const advice = { hint: 'Fix the file.' };
    refuseProblems({ problems, count: source.length }, advice, context, 'Not proposed');
    const refs = rows.map(({ isNamed, ref }) => (isNamed ? ref : null));
    const instructions = rows.map(({ instruction }) => instruction);
    return propose(instructions, flags, context, { name, refs });
  },
  view: record(proposedView),
});

interface Outcome {
  readonly id: string;
  readonly state: string;
  readonly txnId: string | null;
  readonly exitCode: number | null;
}

export const proposeStatus = defineCommand({
  arguments: { id: text('ID').describe('the whole id of a proposal') },
  options: { outbox: outboxOption() },
  examples: [['svcpay propose status "$ID"', 'shows what the owner did with a proposal, offline']],
  async run({ id, outbox }, context: ProposeDeps): Promise<Outcome> {
    const folder = outboxOf(outbox, context);
    const file = readOutbox(folder, largestFile).find((each) => each.id === id);
    if (file?.text === undefined)
      throw new Failure('not-found', `There is no proposal "${id}" in ${folder}.`);
    const answer = v.safeParse(resultSchema, jsonIn(readResult(folder, id) ?? ''));
    if (answer.success) return { id, ...answer.output };
    const { proposal } = readProposal(file.text, id, environmentOf(context));
    const state = proposal.expiresAt <= context.now() ? 'expired' : 'open';
    return { id, state, txnId: null, exitCode: null };
  },
  view: record(
    sentenceView<Outcome>(
      ['id', 'state', 'txnId', 'exitCode'],
      ({ state, txnId }) => `The proposal is ${state}${txnId === null ? '' : `: ${txnId}`}`,
      ({ state }) => state,
    ),
  ),
});

const resultSchema = v.object({
  state: v.picklist(['paid', 'refused']),
  txnId: v.nullable(v.string()),
  exitCode: v.number(),
});

function complete(words: ReturnType<typeof readSwapWords>): typeof words {
  const missing = Object.entries(words).flatMap(([name, word]) => (word === undefined ? name : []));
  if (missing.length === 0) return words;
  throw invalid(`the swap lacks ${missing.join(', ')}.`, {
    money: 'Not proposed',
    hint: 'For example',
    next: { do: 'run', command: 'propose swap 25usdt BTC --max-total 26usdt' },
  });
}

async function propose(
  instructions: readonly Instruction[],
  { note, maxTotal, reason, expires, outbox }: ValuesOf<typeof proposalOptions>,
  context: ProposeDeps,
  batch: Proposal['batch'] = null,
): Promise<Proposed> {
  const { globals, now, newId, out } = context;
  if (maxTotal.length === 0)
    throw invalid('--max-total is missing.', {
      money: 'Not proposed',
      hint: 'Write the highest total with fees, such as --max-total 20000sat.',
    });
  const expiresAt = now() + expires;
  const proposal: Proposal = {
    account: globals.account ?? null,
    // The owner is shown the destination, and a name of the proposer's address book only beside it.
    rows: instructions.map((each) => ({ ...each, ...(note && { note: each.note ?? note }) })),
    batch,
    maxTotal,
    expiresAt,
    reason: reason ?? null,
    nonce: newId().replaceAll('-', ''),
  };
  const { id, text: content } = writtenProposal(proposal, environmentOf(context));
  if (outbox === '-') return { id, path: null, expiresAt, text: content };
  const folder = outboxOf(outbox, context);
  checkOutbox(folder);
  const path = writeProposal(folder, id, content);
  const command = commandLine({ command: 'proposals pay', argument: id }, globals);
  out.advise(`  To pay at most ${formatAmounts(maxTotal)}, the owner runs: ${command}`);
  return { id, path, expiresAt, text: content };
}
