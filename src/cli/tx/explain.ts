// Tells what happened to a payment, step by step, without a request to the service for a payment of
// this journal.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { latest, status, type Payment } from '../../store/journal/payment.js';
import type { TrailStep } from '../../store/journal/trail.js';
import { commandFor } from '../../terminal/next-step.js';
import { sendWord, stateWord } from '../../terminal/views/state-words.js';
import { namesOf } from '../../terminal/rows/list.js';
import {
  explainedView,
  stepList,
  storyLines,
  type Explained,
} from '../../terminal/views/story-view.js';
import { sentenceOf, storyOf, type Story } from '../../wallet/payment/story.js';
import type { Canvas } from '../../terminal/terminal.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { transaction } from '../values.js';
import { paymentNamed, resolveId } from './resolve-id.js';

export const txExplain = defineCommand({
  arguments: { id: transaction().describe('a reference, or the id (or its first characters)') },
  examples: [
    ['svcpay tx explain order-118', 'who asked for it, who approved it, and what the service did'],
    ['svcpay tx explain order-118 --json', 'prints the steps, each with its time and its actor'],
  ],
  async run({ id }, context): Promise<Result> {
    const journal = await context.journal();
    const payment = await paymentOf(id, context);
    const trail = await withNotesOf(payment, await journal.trails([payment.id]), context);
    return {
      ref: payment.ref,
      txnId: latest(payment).txnId,
      status: status(payment),
      story: storyOf(payment, trail, sendWord),
      steps: trail.map((step, index) => ({
        at: new Date(step.at).toISOString(),
        step: step.step,
        attempt: step.attempt,
        text: sentenceOf(step, sendWord, trail[index - 1], trail[index + 1]) ?? null,
        by: step.by,
        detail: step.detail,
      })),
    };
  },
  view: {
    fields: namesOf(undefined, explainedView),
    dataOf: explained,
    async print(result, _parts, context) {
      const { out } = context;
      if (out.forPeople) out.screen(drawnStory(result, context));
      else if (['tsv', 'csv'].includes(out.format) && !out.quiet)
        await out.list(result.steps, stepList);
      else await out.record(explained(result), explainedView);
    },
  },
});

/** Returns a function that draws the story. */
export function drawnStory(
  result: Result,
  { globals, now }: Pick<Context, 'globals' | 'now'>,
): (canvas: Canvas) => readonly string[] {
  const { next, ...story } = result.story;
  return (canvas) => storyLines({ ...story, command: commandFor(next, globals) }, now(), canvas);
}

type Result = Omit<Explained, 'end'> & { readonly story: Story };

function explained({ ref, txnId, status: is, story, steps }: Result): Explained {
  return { ref, txnId, status: is, end: story.end, steps };
}

/** Adds the notes of people to the steps, by their times. */
async function withNotesOf(
  { id, scope, attempts }: Payment,
  trail: readonly TrailStep[],
  context: Context,
): Promise<readonly TrailStep[]> {
  const facts = await context.facts();
  const found = await facts.of(
    scope,
    attempts.flatMap(({ txnId }) => txnId ?? []),
  );
  const notes = [...found.values()].flatMap((each) => each.notes);
  const steps = notes.map(({ note, ...each }) => ({
    ...each,
    paymentId: id,
    seq: 0,
    attempt: null,
    step: 'note',
    detail: { note },
  }));
  return [...trail, ...steps].toSorted((one, other) => one.at - other.at);
}

/** Finds the payment in the journal, and asks the service for the account only if it must. */
async function paymentOf(name: string, context: Context): Promise<Payment> {
  const journal = await context.journal();
  const [named, ...others] = await journal.named(name);
  if (named !== undefined && others.length === 0) return named;
  const found = await paymentNamed(name, context);
  if (found !== undefined) return found;
  const { txnId, ...txn } = await readElsewhere(name, context);
  throw new Failure(
    'not-found',
    'No trail of this transaction exists, because this journal did not pay it. ' +
      `The service reports ${stateWord(txn)}.`,
    { txnId, next: { do: 'show', id: txnId } },
  );
}

/** Reads a transaction that this journal did not pay, such as a receive. */
async function readElsewhere(name: string, context: Context): Promise<Transaction> {
  const { client } = await context.account();
  return client.transaction(await resolveId(name, context));
}
