// Commands about one transaction: confirms, cancels, resolves, explains and annotates it.
import type { Transaction } from '../../api/types.js';
import { decodeInvoice } from '../../formats/bolt11/decode.js';
import { Failure, ifAvailable, invalid, isUnknown } from '../../formats/failure.js';
import { sentenceView } from '../../terminal/cards/card.js';
import { receiptView, sideLines } from '../../terminal/cards/receipt.js';
import { sendWord, stateWord } from '../../terminal/cards/steps.js';
import {
  transactionKind,
  explainedView,
  stepList,
  storyLines,
  type Explained,
} from '../../terminal/views/transaction-view.js';
import {
  directionOf,
  transactionConcerned,
  readTransaction,
} from '../../wallet/transaction/read.js';
import { confirmReceive } from '../../wallet/receive/request.js';
import { concernedBy, journalFirst } from '../../wallet/payment/pay.js';
import { confirmQuote } from '../../wallet/payment/resume.js';
import { hasLapsed, isFinal, isQuoted } from '../../formats/states.js';
import type { Context } from '../context.js';
import { defineCommand, record } from '../define.js';
import { namesOf } from '../../terminal/rows/list.js';
import type { RecordView } from '../../terminal/rows/view.js';
import { showPayment, paidView } from '../payment/payment-flow.js';
import { paymentOptions, termsOf, waitOf, type PaymentFlags } from '../payment/payment-options.js';
import { endedFailure, paymentOf } from './payments.js';
import { resolveId, pickId, paymentNamed } from './resolve-id.js';
import { transaction, flag, text, type ValuesOf } from '../values.js';
import { aboutInvoice } from '../payment/send-flow.js';
import { swapPresentation, type Presentation } from '../payment/payment-screen.js';
import {
  cancelQuote,
  attemptToResolve,
  recordRead,
  recordResolution,
} from '../../wallet/payment/record.js';
import { ownReference } from '../../formats/text.js';
import {
  type Attempt,
  type Payment,
  type Resolution,
  latest,
  status,
} from '../../store/journal/payment.js';
import { anyText, back, stepFor, walk } from '../../terminal/ask/questions.js';
import { sanitize } from '../../terminal/text.js';
import { resolutionText } from '../../wallet/payment/outcomes.js';
import type { TrailStep } from '../../store/journal/steps.js';
import { commandFor } from '../../terminal/next-step.js';
import { sentenceOf, storyOf, type Story } from '../../wallet/payment/story.js';
import type { Canvas } from '../../terminal/terminal.js';

const { maxFee, maxRateLoss, wait, waitTimeout } = paymentOptions;

export const txConfirm = defineCommand({
  arguments: {
    id: transaction().describe(
      'reference or id of a quote; without --yes, the first 6 characters are enough',
    ),
  },
  options: { maxFee, maxRateLoss, wait, waitTimeout },
  examples: [
    ['svcpay tx confirm ID', 'shows the full cost, then asks for approval'],
    [
      'svcpay send lightning lnbc25u1… --quote-only -q | xargs svcpay tx confirm --yes',
      'quotes and pays in two steps, in a script',
    ],
  ],
  changes: true,
  run: (given, context) =>
    journalFirst(concernedBy(given.id), context.journal, () => confirm(given, context)),
  view: record(paidView, ({ txn }: Confirmed) => txn),
  adapt: ({ receipt }) => receipt ?? {},
});

interface Confirmed {
  readonly txn: Transaction;
  /** The view of a transaction whose confirmation the live line has not shown. */
  readonly receipt?: RecordView<Transaction>;
}

type Given = { readonly id: string } & Pick<
  PaymentFlags,
  'maxFee' | 'maxRateLoss' | 'wait' | 'waitTimeout'
>;

async function confirm({ id: named, ...given }: Given, context: Context): Promise<Confirmed> {
  const { agent, ask, globals, out } = context;
  const { client: service } = await context.account();
  const id = await resolveId(named, context, globals.yes);
  const txn = await service.transaction(id);
  const receipt = receiptView({ now: service.serviceNow() });
  if (isFinal(txn.txnState)) {
    const unpaid = endedFailure(txn, await paymentOf(id, context), context);
    if (unpaid !== undefined)
      throw hasLapsed(txn.txnState) && !isUnknown(unpaid) ? lapsedQuote(txn) : unpaid;
    if (txn.txnState === 'completed')
      out.say('Nothing moved: this transaction was already completed.');
    return { txn, receipt };
  }
  if (directionOf(txn) === 'receive') {
    if (agent?.admit !== undefined)
      throw invalid(`transaction ${id} receives money and cannot be paid.`, {
        money: 'Not sent',
        ...transactionConcerned(txn),
      });
    const isOpen = isQuoted(txn.txnState);
    return { txn: isOpen ? await confirmReceive(txn, { ...context, service }) : txn, receipt };
  }
  if (!globals.yes) ask.demand(['--yes']);
  const from = txn.sourceReq.ccy ?? '';
  const { method } = txn.destReq;
  const flags = (await agent?.admit?.({ from, method, txn }, given)) ?? given;
  const request = { terms: termsOf(flags, from), wait: waitOf(flags) };
  const paid = await showPayment(
    { ...aboutQuote(txn), ...(method === 'servicepay' && swapPresentation) },
    (deps, consent) => confirmQuote(txn, { ...request, consent }, deps),
    context,
  );
  return { txn: paid };
}

const lapsedQuote = (txn: Transaction): Failure =>
  new Failure('payment-failed', `this quote is ${sendWord(txn.txnState)}. Request a new quote.`, {
    money: 'Nothing moved',
    next: { do: 'show', id: txn.txnId },
    ...transactionConcerned(txn),
  });

function aboutQuote(txn: Transaction): Presentation {
  const { paymentRequest } = txn.destReq.reqDetails ?? {};
  if (typeof paymentRequest !== 'string')
    return {
      about: [{ label: 'What', value: transactionKind(txn) }, ...sideLines('To', txn.destReq)],
    };
  const invoice = decodeInvoice(paymentRequest);
  return { about: aboutInvoice(invoice), expiresAt: invoice.expiresAt };
}

export const txCancel = defineCommand({
  arguments: {
    id: transaction().optional().describe('id (or its first 6 characters) or reference of a quote'),
  },
  examples: [['svcpay tx cancel ID', 'cancels a quote; a cancelled quote cannot be confirmed']],
  changes: true,
  async run({ id: named }, context) {
    const id = named ?? (await pickId('Which quote do you want to cancel?', ['quoted'], context));
    const { client: service, scope, journal } = await context.account();
    const txn = await cancelQuote(await resolveId(id, context), {
      service,
      journal: await journal(),
      scope,
      owner: context.owner,
    });
    if (txn.txnState !== 'usercanceled')
      context.out.say('This quote had already expired or been cancelled.');
    return txn;
  },
  view: record((now) => receiptView({ now })),
});

const options = {
  moved: flag().describe('the money moved'),
  notMoved: flag().describe('the money did not move'),
  note: text().optional().describe('source of the answer, e.g. a support ticket of the service'),
};

type Resolved = Resolution & Pick<Payment, 'ref'> & Pick<Attempt, 'txnId' | 'txnState'>;

const resolvedView = sentenceView<Resolved>(
  ['ref', 'txnId', 'txnState', 'moved', 'note', 'at'],
  resolutionText,
  ({ moved }) => (moved ? 'moved' : 'not-moved'),
);

export const txResolve = defineCommand({
  arguments: {
    id: transaction().describe('a reference, or the id (or its first 6 characters) of an attempt'),
  },
  options,
  examples: [
    ['svcpay tx resolve order-118', 'asks whether the money moved, and who confirmed that'],
    [
      'svcpay tx resolve order-118 --not-moved --note "ticket 4711" --yes',
      'records the answer in a script; moves no money and changes no limit',
    ],
  ],
  changes: true,
  async run({ id, ...flags }, context) {
    if (flags.moved && flags.notMoved) throw invalid('Give --moved or --not-moved, not both.');
    if (flags.note?.trim() === '') throw invalid('Nothing was recorded: --note is empty.');
    const { journal } = await context.account();
    const named = await paymentNamed(id, context, context.globals.yes);
    if (named === undefined)
      throw new Failure(
        'not-found',
        `This journal has no payment with the id or reference "${id}".`,
        { next: { do: 'see-open-payments' } },
      );
    const before = attemptToResolve(named, id);
    const payment = await readAgain(named, before.txnId ?? '', context);
    const { number, txnId, txnState } = attemptToResolve(payment, before.txnId ?? id);
    const asked = { ...before, txnId, txnState };
    const answer = await answered(payment.ref, asked, flags, context);
    const resolution = { ...answer, at: context.now() };
    await recordResolution(payment, number, resolution, await journal(), context.owner);
    return { ref: payment.ref, txnId, txnState, ...resolution };
  },
  view: record(resolvedView),
});

/**
 * Re-reads the transaction, because the service's report may be more exact than a person's answer.
 * If svcpay cannot read the transaction, svcpay records only the person's answer.
 */
async function readAgain(payment: Payment, txnId: string, context: Context): Promise<Payment> {
  const { client, journal } = await context.account();
  const kept = await journal();
  const reading = readTransaction(client, txnId).then((txn) =>
    recordRead(payment, txn, kept, context.owner),
  );
  await ifAvailable(reading, (why) =>
    context.out.warn(`svcpay could not refresh the transaction: ${why}`),
  );
  return (await kept.read(payment.id)) ?? payment;
}

interface Answers {
  readonly moved: boolean | undefined;
  readonly note: string | undefined;
}

const step = stepFor<Answers>();

const steps = [
  step('moved', () => ({
    message: 'According to the service, did the money move?',
    flag: '--moved or --not-moved',
    choices: [
      { value: true, name: 'The money moved' },
      { value: false, name: 'The money did not move' },
    ],
    backName: 'Cancel',
  })),
  step('note', () => ({
    message: 'Source of the answer',
    flag: '--note TEXT',
    example: 'e.g. ticket 4711',
    parse: anyText,
  })),
];

async function answered(
  ref: string,
  { txnId, txnState, resolution }: Attempt,
  flags: ValuesOf<typeof options>,
  { ask, globals, out }: Context,
): Promise<{ readonly moved: boolean; readonly note: string }> {
  const isGiven = flags.moved || flags.notMoved;
  const missing = [
    ...(isGiven ? [] : ['--moved or --not-moved']),
    ...(flags.note === undefined ? ['--note'] : []),
    ...(globals.yes ? [] : ['--yes']),
  ];
  if (missing.length > 0) ask.demand(missing);
  const reference = ownReference(ref);
  const named = reference === '' ? '' : ` under the reference ${reference}`;
  out.say(`The service reports ${txnState ?? 'nothing'} for transaction ${txnId ?? ''}${named}.`);
  if (resolution !== null) out.say(sanitize(resolutionText(resolution)));
  const start = { moved: isGiven ? flags.moved : undefined, note: flags.note };
  const answers = await walk(ask.pose, start, steps);
  if (answers === back || answers.moved === undefined)
    throw new Failure('declined', '', { money: nothingRecorded });
  const { moved, note = '' } = answers;
  await ask.agree(`Record that the money ${moved ? 'moved' : 'did not move'}?`, nothingRecorded);
  return { moved, note: note.trim() };
}

const nothingRecorded = 'Nothing was recorded';

const longest = 500;

type Noted = Readonly<Record<'txnId' | 'note', string>>;

export const txNote = defineCommand({
  arguments: {
    id: transaction().describe('id (or its first characters) or reference of a transaction'),
    note: text('TEXT').describe('at most 500 characters'),
  },
  examples: [
    ['svcpay tx note order-118 "invoice 4711"', 'lists, search and exports show the note'],
  ],
  changes: true,
  async run({ id, note: given }, context): Promise<Noted> {
    const note = given.trim();
    if (note === '') throw invalid('Nothing was noted: the text is empty.');
    if (note.length > longest)
      throw invalid(`Nothing was noted: the text is over ${longest} characters.`);
    const txnId = await resolveId(id, context);
    const { scope } = await context.account();
    await (await context.facts()).note(scope, txnId, note);
    return { txnId, note };
  },
  view: record(
    sentenceView<Noted>(
      ['txnId', 'note'],
      ({ txnId, note }) => `Noted for ${txnId}: ${sanitize(note)}`,
      ({ txnId }) => txnId,
    ),
  ),
});

interface Told extends Explained {
  readonly story: Story;
}

const dataOf = ({ story: _story, ...explained }: Told): Explained => explained;

export const txExplain = defineCommand({
  arguments: { id: transaction().describe('a reference, or the id (or its first characters)') },
  examples: [
    ['svcpay tx explain order-118', 'who asked for it, who approved it, and what the service did'],
    ['svcpay tx explain order-118 --json', 'prints the steps, each with its time and its actor'],
  ],
  async run({ id }, context): Promise<Told> {
    const journal = await context.journal();
    const payment = await explainable(id, context);
    const trail = await withNotesOf(payment, await journal.trails([payment.id]), context);
    const story = storyOf(payment, trail, sendWord);
    return {
      ref: payment.ref,
      txnId: latest(payment).txnId,
      status: status(payment),
      end: story.end,
      steps: trail.map((told, index) => {
        const { at, step, attempt, by, detail } = told;
        const text = sentenceOf(told, sendWord, trail[index - 1], trail[index + 1]) ?? null;
        return { at: new Date(at).toISOString(), step, attempt, text, by, detail };
      }),
      story,
    };
  },
  view: {
    fields: namesOf(undefined, explainedView),
    dataOf,
    async print(result, _parts, context) {
      const { out } = context;
      if (out.forPeople) out.screen(drawnStory(result, context));
      else if (['tsv', 'csv'].includes(out.format) && !out.quiet)
        await out.list(result.steps, stepList);
      else await out.record(dataOf(result), explainedView);
    },
  },
});

/** Returns a function that draws the story. */
export function drawnStory(
  { story }: Told,
  { globals, now }: Pick<Context, 'globals' | 'now'>,
): (canvas: Canvas) => readonly string[] {
  const command = commandFor(story.next, globals);
  return (canvas) => storyLines(story, command, now(), canvas);
}

/** Adds the notes of people to the steps, by their times. */
async function withNotesOf(
  { id, scope, attempts }: Payment,
  trail: readonly TrailStep[],
  context: Context,
): Promise<readonly TrailStep[]> {
  const ids = attempts.flatMap(({ txnId }) => txnId ?? []);
  const facts = await (await context.facts()).of(scope, ids);
  const steps = [...facts.values()].flatMap(({ notes }) =>
    notes.map(({ at, by, note }) => ({
      at,
      by,
      paymentId: id,
      seq: 0,
      attempt: null,
      step: 'note',
      detail: { note },
    })),
  );
  return [...trail, ...steps].toSorted((one, other) => one.at - other.at);
}

/** Finds the payment in the journal, and asks the service for the account only if it must. */
async function explainable(name: string, context: Context): Promise<Payment> {
  const journal = await context.journal();
  const [named, ...others] = await journal.named(name);
  if (named !== undefined && others.length === 0) return named;
  const found = await paymentNamed(name, context);
  if (found !== undefined) return found;
  // The transaction is not a payment of this journal, such as a receive.
  const { client } = await context.account();
  const { txnId, ...txn } = await client.transaction(await resolveId(name, context));
  throw new Failure(
    'not-found',
    'No trail of this transaction exists, because this journal did not pay it. ' +
      `The service reports ${stateWord(txn)}.`,
    { txnId, next: { do: 'show', id: txnId } },
  );
}
