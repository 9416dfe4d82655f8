// Records the answer of the service's staff, given outside the API, about a payment in `error` or
// with an unknown outcome.
import { ownReference } from '../../formats/text.js';
import { Failure } from '../../formats/failure.js';
import type { Attempt, Payment } from '../../store/journal/payment.js';
import { back } from '../../terminal/ask/ask.js';
import { sanitize } from '../../terminal/sanitize.js';
import { sentenceView } from '../../terminal/views/object-view.js';
import { resolutionText } from '../../wallet/payment/outcomes.js';
import { attemptToResolve, recordRead, recordResolution } from '../../wallet/payment/resolve.js';
import { readTransaction } from '../../wallet/transaction/read.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { record } from '../show.js';
import { flag, text, transaction, type ValuesOf } from '../values.js';
import { paymentNamed } from './resolve-id.js';

const options = {
  moved: flag().describe('the money moved'),
  notMoved: flag().describe('the money did not move'),
  note: text().optional().describe('source of the answer, e.g. a support ticket of the service'),
};

interface Resolved {
  readonly ref: string;
  readonly txnId: string | null;
  readonly txnState: string | null;
  readonly moved: boolean;
  readonly note: string;
  /** When svcpay recorded whether the money moved, in epoch ms. */
  readonly at: number;
}

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
    if (flags.moved && flags.notMoved)
      throw new Failure('usage', 'Give --moved or --not-moved, not both.');
    if (flags.note?.trim() === '')
      throw new Failure('usage', 'Nothing was recorded: --note is empty.');
    const { journal } = await context.account();
    const named = await paymentNamed(id, context, context.globals.yes);
    if (named === undefined)
      throw new Failure(
        'not-found',
        `This journal has no payment with the id or reference "${id}".`,
        {
          next: { do: 'see-open-payments' },
        },
      );
    const before = attemptToResolve(named, id);
    const payment = await readAgain(named, before.txnId ?? '', context);
    const { number, txnId, txnState } = attemptToResolve(payment, before.txnId ?? id);
    const answer = await answered(payment.ref, { ...before, txnId, txnState }, flags, context);
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
  try {
    const txn = await readTransaction(client, txnId);
    await recordRead(payment, txn, kept, context.owner);
  } catch (error) {
    if (!(error instanceof Failure) || context.signal.aborted) throw error;
    context.out.warn(`svcpay could not refresh the transaction: ${error.message}`);
  }
  return (await kept.read(payment.id)) ?? payment;
}

async function answered(
  ref: string,
  { txnId, txnState, resolution }: Attempt,
  { moved, notMoved, note }: ValuesOf<typeof options>,
  { ask, globals, out }: Context,
): Promise<{ readonly moved: boolean; readonly note: string }> {
  const isGiven = moved || notMoved;
  const missing = [
    ...(isGiven ? [] : ['--moved or --not-moved']),
    ...(note === undefined ? ['--note'] : []),
    ...(globals.yes ? [] : ['--yes']),
  ];
  if (missing.length > 0) ask.demand(missing);
  const reference = ownReference(ref);
  const named = reference === '' ? '' : ` under the reference ${reference}`;
  out.say(`The service reports ${txnState ?? 'nothing'} for transaction ${txnId ?? ''}${named}.`);
  if (resolution !== null) out.say(sanitize(resolutionText(resolution)));
  const outcome = isGiven ? moved : await askOutcome(ask);
  const because = note ?? (await askNote(ask));
  await ask.agree(
    `Record that the money ${outcome ? 'moved' : 'did not move'}?`,
    'Nothing was recorded',
  );
  return { moved: outcome, note: because.trim() };
}

async function askOutcome({ steps }: Context['ask']): Promise<boolean> {
  const answer = await steps.select({
    message: 'According to the service, did the money move?',
    flag: '--moved or --not-moved',
    choices: [
      { value: true, name: 'The money moved' },
      { value: false, name: 'The money did not move' },
    ],
    backName: 'Cancel',
  });
  if (answer === back) throw new Failure('declined', '', { money: 'Nothing was recorded' });
  return answer;
}

async function askNote({ steps }: Context['ask']): Promise<string> {
  const answer = await steps.text({
    message: 'Source of the answer',
    flag: '--note TEXT',
    example: 'e.g. ticket 4711',
  });
  if (answer === back) throw new Failure('declined', '', { money: 'Nothing was recorded' });
  return answer;
}
