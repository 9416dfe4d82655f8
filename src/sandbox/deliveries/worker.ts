// Posts due deliveries in the background. Each webhook gets its deliveries in order.
import { createHmac } from 'node:crypto';
import { setImmediate } from 'node:timers';
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import type { Attempt } from '../../formats/sandbox/answers.js';
import type { Store } from '../storage/database.js';
import type { Context } from '../world/context.js';
import { recordAttempt } from './deliveries.js';
import type { Poster } from './post.js';
import { deliveries } from '../unspecified.js';
import { readWebhookOptions } from './webhooks.js';

export interface WorkerDeps {
  /** Runs a job in a database transaction, and resolves after the commit. */
  readonly write: <T>(job: (ctx: Context) => T) => Promise<T>;
  readonly read: <T>(job: (ctx: Context) => T) => T;
  readonly machineTime: () => number;
  readonly post: Poster['post'];
  readonly onError: (error: unknown) => void;
}

/**
 * The lifetime of a claim in ms. When the claim of a killed process expires, another process takes
 * over the webhook.
 */
const claimMs = deliveries.timeout + 5_000;
const claimedAtOnce = 50;
const graceMs = 500;

const readyRow = v.object({ id: v.number(), dueAt: v.number(), body: v.string() });
const targetRow = v.object({ callback: v.string(), secret: v.string() });

type Ready = v.InferOutput<typeof readyRow>;

/**
 * A claim of a process on a webhook. Each claim has a higher number than all earlier claims on the
 * webhook.
 */
const claimRow = v.object({ webhookId: v.string(), number: v.number() });
type Claim = v.InferOutput<typeof claimRow>;

/**
 * The deliveries of one webhook that are ready to post, and the claim of this process on the
 * webhook. According to the machine's clock, the claim ends at `until`.
 */
interface Batch {
  readonly claim: Claim;
  readonly until: number;
  readonly ready: readonly Ready[];
}

/**
 * Posts ready deliveries, separately for each webhook, so that a silent receiver does not delay
 * other receivers.
 */
export function createDeliveryWorker(deps: WorkerDeps) {
  const { write, read, machineTime, onError } = deps;
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  let isClaiming = false;
  let isKicked = false;

  function deliverReady(): void {
    if (isClaiming || closing.signal.aborted) return;
    if (!read(({ store }) => hasReady(store, machineTime()))) return;
    isClaiming = true;
    run(async () => {
      const batches = await write((ctx) => claimReady(ctx, machineTime())).finally(
        () => (isClaiming = false),
      );
      for (const batch of batches) run(() => deliverBatch(deps, batch, closing.signal));
    });
  }

  /**
   * Runs a job, then posts the deliveries that are ready. If the job fails, the timer posts the
   * ready deliveries later.
   */
  function run(work: () => Promise<void>): void {
    const started = work()
      .finally(() => running.delete(started))
      .then(deliverReady, onError);
    running.add(started);
  }

  /** Resolves once no delivery is ready or in flight. */
  async function settled(): Promise<void> {
    for (deliverReady(); running.size > 0; deliverReady()) await Promise.all(running);
  }

  return {
    /** Starts posting ready deliveries, once per turn of the event loop. */
    kick(): void {
      if (isKicked) return;
      isKicked = true;
      setImmediate(() => {
        isKicked = false;
        deliverReady();
      });
    },
    settled,
    /**
     * Waits briefly for the posts in flight, then aborts the remaining posts. Aborted deliveries
     * stay ready for the next process.
     */
    async close(): Promise<void> {
      await Promise.race([settled(), delay(graceMs, undefined, { ref: false })]);
      closing.abort();
      await Promise.all(running);
    },
  };
}

async function deliverBatch(
  deps: WorkerDeps,
  { claim, until, ready }: Batch,
  closing: AbortSignal,
): Promise<void> {
  const { write, machineTime } = deps;
  for (const delivery of ready) {
    if (closing.aborted || machineTime() + deliveries.timeout > until) break;
    const attempt = await postOnce(deps, delivery, claim, closing);
    if (attempt !== undefined) await write((ctx) => note(ctx, delivery.id, claim, attempt));
  }
  await write(({ store }) => {
    const { webhookId, number } = claim;
    store.run('UPDATE webhook SET claimed_until = 0 WHERE id = ? AND claim = ?', webhookId, number);
  });
}

/**
 * Posts a delivery. Resolves with undefined if this process lost the claim or the worker is
 * closing.
 */
async function postOnce(
  { read, post }: WorkerDeps,
  { id, body, dueAt }: Ready,
  claim: Claim,
  closing: AbortSignal,
): Promise<Attempt | undefined> {
  const target = read((ctx) => findTarget(ctx, id, claim));
  if (target === undefined) return undefined;
  const { callback, secret, ca, method, signatureHeader } = target;
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const startedAt = performance.now();
  const result = await post({
    method,
    url: callback,
    headers: { 'content-type': 'application/json', [signatureHeader]: signature },
    body,
    ca,
    signal: AbortSignal.any([closing, AbortSignal.timeout(deliveries.timeout)]),
  });
  if (closing.aborted) return undefined;
  return {
    at: dueAt,
    callback,
    signature,
    ...result,
    durationMs: Math.round(performance.now() - startedAt),
  };
}

/**
 * Selects unclaimed webhooks that have ready deliveries, each with the number of its last claim.
 */
const freeWebhooks = `SELECT id AS webhook_id, claim AS number FROM webhook WHERE claimed_until <= ?
  AND EXISTS (SELECT 1 FROM delivery WHERE webhook_id = webhook.id AND status = 'sending') LIMIT ?`;

const hasReady = (store: Store, machine: number): boolean =>
  store.one(claimRow, freeWebhooks, machine, 1) !== undefined;

function claimReady(ctx: Context, machine: number): Batch[] {
  return ctx.store
    .all(claimRow, freeWebhooks, machine, claimedAtOnce)
    .map(({ webhookId, number: last }) => {
      const [number, until] = [Math.max(last + 1, machine), machine + claimMs];
      ctx.store.run(
        'UPDATE webhook SET claim = ?, claimed_until = ? WHERE id = ?',
        number,
        until,
        webhookId,
      );
      const ready = ctx.store.all(
        readyRow,
        `SELECT id, due_at, body FROM delivery WHERE webhook_id = ? AND status = 'sending'
       ORDER BY due_at, id LIMIT ?`,
        webhookId,
        claimedAtOnce,
      );
      return { claim: { webhookId, number }, until, ready };
    });
}

/**
 * Returns the callback, the secret and the webhook options for a delivery. Returns undefined if the
 * delivery has ended, or if the worker's claim on the webhook is no longer valid.
 */
function findTarget(ctx: Context, id: number, { webhookId, number }: Claim) {
  const target = ctx.store.one(
    targetRow,
    `SELECT callback, secret FROM delivery JOIN webhook ON webhook.id = webhook_id
     WHERE delivery.id = ? AND delivery.status = 'sending' AND webhook.id = ? AND claim = ?`,
    id,
    webhookId,
    number,
  );
  if (target === undefined) return undefined;
  const { ca, method } = readWebhookOptions(ctx.store);
  return { ...target, ca, method, signatureHeader: ctx.wireNames.signatureHeader };
}

function note(ctx: Context, id: number, claim: Claim, attempt: Attempt): void {
  if (findTarget(ctx, id, claim) !== undefined) recordAttempt(ctx, id, attempt);
}
