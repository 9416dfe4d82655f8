// Triggers a webhook event, which the sandbox delivers or which svcpay signs and sends itself.
import { Failure, invalid } from '../../formats/failure.js';
import { deliveryAnswer, fieldNames } from '../../formats/sandbox/answers.js';
import { messageOf } from '../../formats/text.js';
import { transactionStates } from '../../formats/states.js';
import type { RecordView } from '../../terminal/rows/view.js';
import { sentenceView } from '../../terminal/cards/card.js';
import { payloadFields, signBody } from '../../webhooks/events.js';
import { nameOf, openForwarder, parseTarget } from '../../webhooks/targets.js';
import type { Context } from '../context.js';
import { defineCommand, record } from '../define.js';
import { controlSandbox, isRealService } from '../sandbox/control.js';
import { resolveLocally } from '../tx/resolve-id.js';
import { headerOf, secretFromStdin, webhookSecrets } from './receiving.js';
import { choice, text, transaction, word, type ValuesOf } from '../values.js';

interface Triggered {
  readonly txnId: string;
  readonly txnState: string;
}

const options = {
  to: word('URL', parseTarget)
    .optional()
    .describe('create an event and send it to this address, e.g. the address of webhook listen'),
  txn: transaction().optional().describe('the transaction of the event'),
  ref: text('REF').optional().describe('the extRefId of the event'),
  ...secretFromStdin,
};

const triggeredView: RecordView<Triggered> = {
  ...sentenceView(
    ['txnState', 'txnId'],
    ({ txnState, txnId }) => `Triggered ${txnState} for ${txnId}`,
    ({ txnId }) => txnId,
  ),
  fields: [...Object.keys(payloadFields), ...fieldNames(deliveryAnswer)],
};

export const webhookTrigger = defineCommand({
  arguments: {
    state: choice(transactionStates, 'STATE').describe('the txnState that the event reports'),
  },
  options,
  examples: [
    [
      'svcpay webhook trigger completed --sandbox',
      'lets the sandbox deliver the event to its webhook',
    ],
    [
      'svcpay webhook trigger failed --to http://127.0.0.1:4712',
      'sends an event, signed with the webhook secret, to a receiver',
    ],
  ],
  changes: true,
  async run({ state, to, ...flags }, context): Promise<Triggered> {
    if (to === undefined && isRealService(context.settings)) {
      throw invalid('svcpay cannot trigger events of a real service. Add --to URL or --sandbox.');
    }
    return to === undefined
      ? controlSandbox(context, 'POST trigger', deliveryAnswer, {
          state,
          txnId: await idOf(flags.txn, context),
          extRefId: flags.ref,
        })
      : send(to, state, flags, context);
  },
  view: record(triggeredView),
});

/**
 * Replaces a reference from the journal with the transaction id, and returns any other text
 * unchanged.
 */
const idOf = async (txn: string | undefined, context: Context): Promise<string | undefined> =>
  txn === undefined
    ? undefined
    : ((await resolveLocally(txn, context).catch(() => undefined)) ?? txn);

async function send(
  target: URL,
  state: string,
  { txn, ref, secretStdin }: Omit<ValuesOf<typeof options>, 'to'>,
  context: Context,
): Promise<Triggered> {
  const [secret] = await webhookSecrets(secretStdin, context);
  const event = {
    txnId: txn ?? context.newId(),
    ...(ref !== undefined && { extRefId: ref }),
    txnState: state,
    msg: '',
    updatedAt: context.now(),
  };
  const body = Buffer.from(JSON.stringify(event));
  const forwarder = openForwarder({ target, signatureHeader: headerOf(context.settings) });
  context.onClose(forwarder.close);
  const status = await forwarder
    .post({ body, signature: signBody(body, secret) }, context.signal)
    .catch((cause: unknown) => {
      throw new Failure(
        'temporary',
        `The event did not reach ${nameOf(target)}: ${messageOf(cause)}.`,
        { cause },
      );
    });
  if (status >= 200 && status < 300) return event;
  const isOther = status === 401 ? ' The receiver uses a different secret.' : '';
  throw new Failure(
    status >= 500 ? 'temporary' : 'refused',
    `${nameOf(target)} answered the event with ${status}.${isOther}`,
    { status },
  );
}
