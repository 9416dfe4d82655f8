// The steps of every send: the confirmation reserves the money, the transfer starts, then the
// transfer arrives or fails.
import type { Context } from '../world/context.js';
import { completeSend, confirmSend, endSend, move, returnSend } from '../service/engine.js';
import {
  plannedEndingOf,
  plannedReturn,
  type Ending,
  type PlannedEnding,
} from '../service/endings.js';
import { schedule } from '../world/schedule.js';
import { requireTransaction, type Transaction } from '../service/transactions.js';
import type { Kind } from './kind.js';

interface SendSteps {
  readonly name: string;
  /** Milliseconds from the client's confirmation of the send until the transfer is in flight. */
  readonly startAfter: number;
  /**
   * Milliseconds from the start of the transfer until its arrival, or undefined if the transfer
   * waits for blockchain confirmations.
   */
  readonly settleAfter?: ((txn: Transaction) => number) | undefined;
  /**
   * Returns the reason why the transfer cannot start or arrive, or undefined if nothing prevents
   * the transfer.
   */
  readonly obstacle?: (ctx: Context, txn: Transaction) => string | undefined;
  /** Called when the transfer starts. */
  readonly send?: (ctx: Context, txn: Transaction) => void;
  /** Credits the recipient. */
  readonly deliver?: (ctx: Context, txn: Transaction) => void;
}

/** Builds a send kind except for `serves` and `quote`. */
export function sending(steps: SendSteps): Omit<Kind, 'serves' | 'quote'> {
  const [start, settle] = [startAction(steps.name), `${steps.name}.settle`];
  const returnAction = `${steps.name}.return`;

  const ending = (
    ctx: Context,
    txn: Transaction,
    moment: PlannedEnding['instead'],
  ): Ending | undefined => {
    const msg = steps.obstacle?.(ctx, txn);
    return msg === undefined ? plannedEndingOf(txn, moment) : { state: 'failed', msg };
  };

  const arrive = (ctx: Context, txn: Transaction): void => {
    // With `settle`, a block may confirm a transfer that has already arrived.
    if (txn.state === 'completed') return;
    const bad = ending(ctx, txn, 'settle');
    if (bad !== undefined) return void endSend(ctx, txn, bad);
    steps.deliver?.(ctx, txn);
    completeSend(ctx, txn);
    const back = plannedReturn(txn);
    if (back !== undefined) schedule(ctx, returnAction, txn.id, ctx.now + back.delay);
  };

  return {
    name: steps.name,
    flow: 'send',
    confirm(ctx, txn) {
      const confirmed = confirmSend(ctx, txn);
      if (confirmed.state === 'srccreated')
        schedule(ctx, start, txn.id, ctx.now + within(ctx, steps.startAfter));
      return confirmed;
    },
    onConfirmed: arrive,
    due: {
      [start](ctx, txnId) {
        const txn = requireTransaction(ctx.store, txnId);
        const bad = ending(ctx, txn, 'start');
        if (bad !== undefined) return void endSend(ctx, txn, bad);
        const moved = move(ctx, 'send', txn, 'start');
        steps.send?.(ctx, moved);
        const after = steps.settleAfter?.(moved) ?? ctx.settleMs;
        if (after !== undefined) schedule(ctx, settle, txnId, ctx.now + within(ctx, after));
      },
      [returnAction](ctx, txnId) {
        const txn = requireTransaction(ctx.store, txnId);
        const back = plannedReturn(txn);
        if (back !== undefined) returnSend(ctx, txn, back);
      },
      [settle]: (ctx, txnId) => arrive(ctx, requireTransaction(ctx.store, txnId)),
    },
  };
}

const within = ({ settleMs = Infinity }: Context, ms: number): number => Math.min(settleMs, ms);

export const startAction = (kind: string): string => `${kind}.start`;
