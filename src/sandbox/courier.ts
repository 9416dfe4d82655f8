// Posts the deliveries whose moment has come: outside the database, one after the other per webhook, never in the way.
import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { type Context, randomHex } from './context.js';
import { recordAttempt, type Attempt } from './deliveries.js';
import type { Poster } from './post.js';
import { deliveries } from './unspecified.js';
import { readWebhookOptions } from './webhook-options.js';

export interface CourierOptions {
  /** Work on the database at the moment it counts as, answered after its commit. */
  readonly write: <T>(job: (ctx: Context) => T) => Promise<T>;
  /** Looks into the database, without changing it. */
  readonly read: <T>(job: (ctx: Context) => T) => T;
  /** The machine's time, epoch ms. */
  readonly machineTime: () => number;
  readonly post: Poster['post'];
  readonly onError: (error: unknown) => void;
}

export interface Courier {
  /** Begins to post what is ready, if it is not posting yet. Returns at once. */
  kick(): void;
  /** Resolves when nothing is ready and nothing under way. */
  settled(): Promise<void>;
  /** Gives what is under way a moment, then breaks it off: it stays ready for whoever opens the file next. */
  close(): Promise<void>;
}

/** A claim keeps other processes away for so long; one that was killed holds up its deliveries no longer. */
const claimMs = deliveries.timeout + 5_000;
const atOnce = 50;
const graceMs = 500;

const readyRow = v.object({ id: v.number(), dueAt: v.number(), body: v.string() });
const idRow = v.object({ id: v.string() });
const targetRow = v.object({ callback: v.string(), secret: v.string() });

type Ready = v.InferOutput<typeof readyRow>;

/** Deliveries of one webhook, which this process holds until a moment of the machine's clock. */
interface Batch {
  readonly claim: string;
  readonly until: number;
  readonly ready: readonly Ready[];
}

export function createCourier(options: CourierOptions): Courier {
  const { write, read, machineTime, post } = options;
  const closing = new AbortController();
  const rounds = new Set<Promise<unknown>>();
  let claiming = false;

  function kick(): void {
    if (claiming || closing.signal.aborted || read((ctx) => freeWebhooks(ctx, machineTime(), 1)).length === 0) return;
    claiming = true;
    run(async () => {
      const batches = await write((ctx) => claimReady(ctx, machineTime())).finally(() => (claiming = false));
      for (const batch of batches) run(() => carry(batch));
    });
  }

  /** Follows a piece of work to its end, and looks for more after it. */
  function run(work: () => Promise<void>): void {
    const round = finish(work).finally(() => rounds.delete(round)).then((well) => well && kick());
    rounds.add(round);
  }

  /** Says whether it went well: after a failure the next look is left to the clock. */
  async function finish(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      options.onError(error);
      return false;
    }
  }

  async function carry({ claim, until, ready }: Batch): Promise<void> {
    const written: Promise<void>[] = [];
    for (const delivery of ready) {
      if (closing.signal.aborted || machineTime() + deliveries.timeout > until) break;
      const attempt = await postOnce(delivery, claim);
      if (attempt !== undefined) written.push(write((ctx) => note(ctx, delivery.id, claim, attempt)));
    }
    await Promise.all(written);
    await write(({ store }) => {
      store.run('UPDATE webhook SET claim = NULL, claimed_until = NULL WHERE claim = ?', claim);
    });
  }

  /** Undefined when it was not to be posted any more, or was broken off. */
  async function postOnce({ id, body, dueAt }: Ready, claim: string): Promise<Attempt | undefined> {
    const target = read((ctx) => findTarget(ctx, id, claim));
    if (target === undefined) return undefined;
    const { callback, secret, ca, signatureHeader } = target;
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const begun = performance.now();
    const result = await post({
      url: callback,
      headers: { 'content-type': 'application/json', [signatureHeader]: signature },
      body,
      ca,
      signal: AbortSignal.any([closing.signal, AbortSignal.timeout(deliveries.timeout)]),
    });
    if (closing.signal.aborted) return undefined;
    return { at: dueAt, callback, signature, ...result, durationMs: Math.round(performance.now() - begun) };
  }

  async function settled(): Promise<void> {
    for (kick(); rounds.size > 0; kick()) await Promise.all(rounds);
  }

  return {
    kick,
    settled,
    async close() {
      const patience = new AbortController();
      const enough = delay(graceMs, undefined, { signal: patience.signal }).catch(() => undefined);
      await Promise.race([settled(), enough]);
      patience.abort();
      closing.abort();
      await Promise.all(rounds);
    },
  };
}

/** Webhooks that have something ready and that no process holds. */
function freeWebhooks({ store }: Context, machine: number, limit: number): string[] {
  return store.all(
    idRow,
    `SELECT id FROM webhook WHERE coalesce(claimed_until, 0) <= ?
       AND EXISTS (SELECT 1 FROM delivery WHERE webhook_id = webhook.id AND status = 'sending') LIMIT ?`,
    machine, limit,
  ).map(({ id }) => id);
}

function claimReady(ctx: Context, machine: number): Batch[] {
  return freeWebhooks(ctx, machine, atOnce).map((webhookId) => {
    const [claim, until] = [randomHex(ctx.random, 8), machine + claimMs];
    ctx.store.run('UPDATE webhook SET claim = ?, claimed_until = ? WHERE id = ?', claim, until, webhookId);
    const ready = ctx.store.all(
      readyRow,
      `SELECT id, due_at AS dueAt, body FROM delivery WHERE webhook_id = ? AND status = 'sending'
       ORDER BY due_at, id LIMIT ?`, webhookId, atOnce,
    );
    return { claim, until, ready };
  });
}

/** Where a delivery goes now, and signed with what. Undefined once it is not this claim's to post any more. */
function findTarget({ store, maker }: Context, id: number, claim: string) {
  const target = store.one(
    targetRow,
    `SELECT callback, secret FROM delivery JOIN webhook ON webhook.id = webhook_id
     WHERE delivery.id = ? AND delivery.status = 'sending' AND claim = ?`, id, claim,
  );
  return target && { ...target, ca: readWebhookOptions(store).ca, signatureHeader: maker.signatureHeader };
}

function note(ctx: Context, id: number, claim: string, attempt: Attempt): void {
  if (findTarget(ctx, id, claim) !== undefined) recordAttempt(ctx, id, attempt);
}
