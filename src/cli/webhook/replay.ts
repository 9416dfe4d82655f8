// Sends stored events again, with unchanged bytes, to an address or to the local receiver.
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { Failure, invalid } from '../../formats/failure.js';
import { jsonIn, messageOf } from '../../formats/text.js';
import { receiverFile, type Home } from '../../store/files/home.js';
import type { EventStore, StoredEvent } from '../../store/events/event-store.js';
import { eventStream, type EventRow, eventFields } from '../../terminal/views/webhook-view.js';
import { type Forwarder, nameOf, openForwarder, parseTarget } from '../../webhooks/targets.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { resolveLocally } from '../tx/resolve-id.js';
import { eventRow, defaultListenUrl, headerOf } from './receiving.js';
import { duration, text, word } from '../values.js';

export const webhookReplay = defineCommand({
  arguments: {
    ids: text('ID')
      .repeated()
      .optional()
      .describe('number of an event, or id of a transaction for all of its events'),
  },
  options: {
    since: duration().optional().describe('replay all events received within this time'),
    to: word('URL', parseTarget)
      .optional()
      .describe(
        `address to send to (default: webhook listen of this home, or ${defaultListenUrl})`,
      ),
  },
  examples: [
    [
      'svcpay webhook replay 17 18 --to http://localhost:3000/hooks',
      'sends two events again, verbatim, with their signatures',
    ],
    [
      'svcpay webhook replay --since 10m',
      'sends the events of the last ten minutes to the receiver on this machine',
    ],
  ],
  changes: true,
  async run({ ids = [], since, to: given }, context) {
    if ((ids.length === 0) === (since === undefined)) {
      throw invalid('Name the events by number, or with --since DURATION.', {
        next: { do: 'run', command: 'webhook replay --since 10m' },
      });
    }
    const to = given ?? (await receiverOf(context.home)) ?? new URL(defaultListenUrl);
    const store = await context.events();
    const events =
      since === undefined
        ? await eventsOf(ids, store, context)
        : await all(store.since(context.now() - since));
    if (events.length === 0)
      throw new Failure('not-found', 'No event was received within the time of --since.');
    const forwarder = openForwarder({ target: to, signatureHeader: headerOf(context.settings) });
    context.onClose(forwarder.close);
    return rows(events, forwarder, to);
  },
  view: { fields: eventFields, dataOf: (replayed) => replayed, print },
});

/**
 * Prints each result as soon as it arrives. With `-o json`, the results are one document, which
 * svcpay prints only if every replay succeeds.
 */
async function print(
  replayed: AsyncIterable<EventRow>,
  _parts: object,
  { out }: Context,
): Promise<void> {
  if (out.format !== 'json') return out.stream(replayed, eventStream);
  await out.list(await all(replayed), { ...eventStream, empty: '' });
}

const receiver = v.object({ url: v.pipe(v.string(), v.url()) });

/**
 * Returns the address of this home's `webhook listen`, or undefined if `webhook listen` is not
 * running.
 */
async function receiverOf(home: Home): Promise<URL | undefined> {
  const text = await readFile(receiverFile(home), 'utf8').catch(() => '');
  const read = v.safeParse(receiver, jsonIn(text));
  return read.success ? new URL(read.output.url) : undefined;
}

/**
 * Returns each event with one of the given numbers, transaction ids and references once, in the
 * order of arrival. Throws Failure `not-found` if any of `ids` matches no event.
 */
async function eventsOf(
  ids: readonly string[],
  store: EventStore,
  context: Context,
): Promise<StoredEvent[]> {
  const found = new Map<number, StoredEvent>();
  for (const id of ids) {
    const event = /^\d{1,15}$/.test(id) ? await store.read(Number(id)) : undefined;
    const events = event === undefined ? await eventsNamed(id, store, context) : [event];
    if (events.length === 0)
      throw new Failure(
        'not-found',
        `This home has no event with the number or transaction id "${id}".`,
      );
    for (const each of events) found.set(each.id, each);
  }
  return [...found.values()].toSorted((a, b) => a.id - b.id);
}

/** Finds events by transaction id, or by a reference in the journal. */
async function eventsNamed(
  name: string,
  store: EventStore,
  context: Context,
): Promise<readonly StoredEvent[]> {
  const events = await store.ofTransaction(name);
  if (events.length > 0) return events;
  const txnId = await resolveLocally(name, context).catch(() => undefined);
  return txnId === undefined ? [] : store.ofTransaction(txnId);
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Sends each event again, and yields the result. Throws a failure after the last if one failed. */
async function* rows(
  events: readonly StoredEvent[],
  { post }: Forwarder,
  to: URL,
): AsyncGenerator<EventRow> {
  const failed: Pick<EventRow, 'status' | 'error'>[] = [];
  for (const event of events) {
    const result = await post(event).then(
      (status) => ({ status }),
      (error: unknown) => ({ status: null, error: messageOf(error) }),
    );
    if (result.status === null || result.status < 200 || result.status > 299) failed.push(result);
    yield { ...eventRow(event), ...result };
  }
  const [first] = failed;
  if (first === undefined) return;
  const { status = null, error = 'no response' } = first;
  const isRefusal = failed.every(
    (each) => each.status != null && Math.floor(each.status / 100) === 4,
  );
  throw new Failure(
    isRefusal ? 'refused' : 'temporary',
    `${failed.length} of ${events.length} events were not delivered to ${nameOf(to)}: ` +
      `${status === null ? error : `it answered ${status}`}.`,
    status === null ? {} : { status },
  );
}
