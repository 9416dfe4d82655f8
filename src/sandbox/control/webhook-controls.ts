// The `/_sandbox/` control endpoints for webhooks: test events, deliveries and options.
import * as v from 'valibot';
import { randomId } from '../world/context.js';
import { enqueue, listDeliveries, replay, showDelivery } from '../deliveries/deliveries.js';
import {
  control,
  idParam,
  readBody,
  wholeNumber,
  type RoutedRequest,
  type Route,
} from '../http/routing.js';
import { badRequest, notFound } from '../wire/refusal.js';
import { requireSetting } from '../storage/settings.js';
import { findTransaction } from '../service/transactions.js';
import { states } from '../wire/states.js';
import { changeWebhookOptions, readWebhookOptions } from '../deliveries/webhooks.js';

const triggerBody = v.object({
  state: v.picklist(states),
  /**
   * The id of the transaction that the test event names. Without an id, the test event names a
   * transaction that does not exist.
   */
  txnId: v.optional(v.string()),
  extRefId: v.optional(v.string()),
  msg: v.optional(v.string(), ''),
  /**
   * The account whose webhook gets the test event, by default the main account. If `txnId` is
   * given, the service ignores `accountId`.
   */
  accountId: v.optional(v.string()),
});

const optionsBody = v.object({ allowHttpLoopback: v.boolean() });

export function webhookControls(): Route[] {
  return [
    control('POST', 'trigger', trigger),
    control('GET', 'deliveries', ({ ctx, query }) => ({
      data: listDeliveries(ctx.store, {
        txnId: query.get('txnId') ?? undefined,
        status: query.get('status') ?? undefined,
        limit: wholeNumber(query, 'limit'),
      }),
    })),
    control('POST', 'deliveries/:id/replay', (call) => {
      replay(call.ctx, idParam(call));
      return showDelivery(call.ctx.store, idParam(call));
    }),
    control('PUT', 'webhook-options', ({ ctx, incoming }) => {
      changeWebhookOptions(ctx.store, readBody(incoming, optionsBody));
      return readWebhookOptions(ctx.store);
    }),
  ];
}

/** Sends a test event. The state in the test event can differ from the state of the transaction. */
function trigger({ ctx, incoming }: RoutedRequest): unknown {
  const { state, txnId, extRefId, msg, accountId } = readBody(incoming, triggerBody);
  const txn = txnId === undefined ? undefined : findTransaction(ctx.store, txnId);
  if (txnId !== undefined && txn === undefined) throw notFound();
  if (txn !== undefined && extRefId !== undefined)
    throw badRequest(
      'extRefId must not be set, because the event has the extRefId of the transaction',
    );
  const event = {
    txnId: txn?.id ?? randomId(ctx.random),
    extRefId: txn?.extRefId ?? extRefId,
    txnState: state,
    msg,
    updatedAt: ctx.now,
  };
  const owner = txn?.accountId ?? accountId ?? requireSetting(ctx.store, 'mainAccount');
  return showDelivery(ctx.store, enqueue(ctx, owner, event, ctx.now));
}
