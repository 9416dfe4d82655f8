// Brings about an event: lets the sandbox deliver one, or sends one that is made and signed here.
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { transactionStates } from '../../formats/states.js';
import { fieldColumns } from '../../terminal/rows/cell.js';
import { nameOf, openForwarder, parseTarget, reasonOf } from '../../webhooks/forward.js';
import { signBody } from '../../webhooks/sign.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { controlSandbox, isRealService } from '../sandbox/control.js';
import { resolveLocally } from '../history/resolve-id.js';
import { headerOf } from './receiving.js';
import { choice, text, transaction, word, type ValuesOf } from '../values.js';
import { findWebhookSecret, secretFromStdin } from './webhook-secret.js';

const triggeredSchema = v.looseObject({ txnId: v.string(), txnState: v.string() });
type Triggered = v.InferOutput<typeof triggeredSchema>;

const options = {
  to: word('URL', parseTarget).optional().describe('send an event made here to this address, such as that of webhook listen'),
  txn: transaction().optional().describe('the transaction that it speaks of'),
  ref: text('REF').optional().describe('the extRefId that it carries'),
  ...secretFromStdin,
};

export const triggerWebhook = defineCommand({
  fields: ['txnId', 'extRefId', 'txnState', 'msg', 'updatedAt'],
  arguments: { state: choice(transactionStates, 'STATE').describe('the txnState that the event reports') },
  options,
  examples: [
    ['svcpay webhook trigger completed --sandbox', 'the sandbox delivers it to the webhook that is set there'],
    ['svcpay webhook trigger failed --to http://127.0.0.1:4712', 'signed with the webhook secret, to a listener'],
  ],
  async run({ state, to, ...flags }, context) {
    if (to === undefined && isRealService(context.settings)) {
      throw new Failure('usage', 'A real service brings about its own events. Give --to, or --sandbox.');
    }
    const triggered =
      to === undefined
        ? await controlSandbox(context, 'POST', 'trigger', triggeredSchema, { state, txnId: await idOf(flags.txn, context), extRefId: flags.ref })
        : await send(to, state, flags, context);
    await context.out.record(triggered, {
      screen: () => [`  Triggered ${triggered.txnState} for ${triggered.txnId}`],
      columns: fieldColumns(['txnState', 'txnId']),
      quiet: ({ txnId }) => txnId,
    });
  },
});

/** A reference that this machine knows stands for its transaction; anything else is taken as it is. */
const idOf = async (txn: string | undefined, context: Context): Promise<string | undefined> =>
  txn === undefined ? undefined : ((await resolveLocally(txn, context).catch(() => undefined)) ?? txn);

async function send(
  target: URL, state: string, { txn, ref, secretStdin }: Omit<ValuesOf<typeof options>, 'to'>,
  context: Context,
): Promise<Triggered> {
  const secret = await findWebhookSecret(secretStdin, context);
  const event = {
    txnId: txn ?? context.newId(),
    ...(ref !== undefined && { extRefId: ref }),
    txnState: state,
    msg: '',
    updatedAt: context.now(),
  };
  const body = Buffer.from(JSON.stringify(event));
  const forwarder = openForwarder({ target, signatureHeader: headerOf(context.settings), connections: 1 });
  context.onClose(() => forwarder.close());
  const status = await forwarder.post({ body, signature: signBody(body, secret) }, context.signal).catch((cause: unknown) => {
    throw new Failure('temporary', `The event did not get to ${nameOf(target)}: ${reasonOf(cause)}.`, { cause });
  });
  if (status >= 200 && status < 300) return event;
  const isOther = status === 401 ? ' It checks with another secret.' : '';
  throw new Failure(status >= 500 ? 'temporary' : 'refused', `${nameOf(target)} answers ${status} to the event.${isOther}`, { status });
}
