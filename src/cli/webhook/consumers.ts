// Lists, renames and removes the consumers of the inbox. A consumer is a name under which events
// wait for a target of `webhook listen`.
import { Failure, invalid } from '../../formats/failure.js';
import { formatDuration } from '../../formats/calendar.js';
import { counted } from '../../formats/text.js';
import { isFormer, type Consumer, type EventStore } from '../../store/events/event-store.js';
import type { ListView } from '../../terminal/rows/view.js';
import { sanitize } from '../../terminal/text.js';
import { sentenceView } from '../../terminal/cards/card.js';
import { defineCommand, type Deps, list, record } from '../define.js';
import { text, word } from '../values.js';

/**
 * The argument type of consumer names. Every valid consumer name can be a label value in metrics.
 */
export const consumerName = (placeholder = 'NAME') =>
  word(placeholder, (given) => {
    if (/^[a-z0-9][\w.-]{0,62}$/i.test(given)) return given;
    throw invalid(
      `"${given}" is not a consumer name. Use at most 63 letters, digits, dots, dashes and ` +
        'underscores, and start with a letter or digit.',
    );
  });

const ago = (seconds: number | null): string =>
  seconds === null ? '' : `${formatDuration(seconds * 1_000)} ago`;

const consumerList: ListView<Consumer> = {
  columns: [
    { name: 'consumer', title: 'Consumer', shrinks: true },
    { name: 'count', title: 'Waiting', align: 'right' },
    {
      name: 'oldestSeconds',
      title: 'Oldest',
      text: ({ oldestSeconds }) => ago(oldestSeconds),
    },
    {
      name: 'servedSeconds',
      title: 'Served',
      text: (each) =>
        `${ago(each.servedSeconds)}${isFormer(each) ? ', no receiver since then' : ''}`,
    },
  ],
  quiet: ({ consumer }) => consumer,
  empty: 'No consumers yet. Add a consumer',
  next: { command: 'webhook listen --forward-to URL --consumer NAME' },
};

export const webhookConsumersList = defineCommand({
  examples: [
    [
      'svcpay webhook consumers list --json',
      'lists how many events wait for each consumer, and when a receiver last ran for it',
    ],
  ],
  run: async (_inputs, { events }: Deps<'events'>) => (await events()).consumers.list(),
  view: list(consumerList),
});

const name = text('NAME').describe('consumer name, as shown by svcpay webhook consumers list');

export const webhookConsumersRemove = defineCommand({
  arguments: { name },
  examples: [
    [
      'svcpay webhook consumers remove old-app',
      'asks for confirmation, then drops the waiting events',
    ],
  ],
  changes: true,
  async run({ name: consumer }, { events, ask }: Deps<'events' | 'ask'>) {
    const store = await events();
    const { count } = await known(consumer, store);
    const what =
      count === 0
        ? 'No events wait for this consumer'
        : `This drops ${counted(count, 'waiting event')}`;
    await ask.agree(`Remove ${sanitize(consumer)}? ${what}.`, 'Nothing was removed');
    return { consumer, dropped: await store.consumers.remove(consumer) };
  },
  view: record<{ consumer: string; dropped: number }>(
    sentenceView(
      ['consumer', 'dropped'],
      ({ consumer, dropped }) =>
        `Removed ${consumer} and dropped ${counted(dropped, 'waiting event')}.`,
      ({ dropped }) => String(dropped),
    ),
  ),
});

export const webhookConsumersRename = defineCommand({
  arguments: {
    name,
    to: consumerName('NEW-NAME').describe('new name of the consumer, for use with --consumer'),
  },
  examples: [
    [
      'svcpay webhook consumers rename http://app:3000/hook app',
      'renames the consumer; then start the receivers with --consumer app',
    ],
  ],
  changes: true,
  async run({ name: consumer, to }, { events }: Deps<'events'>) {
    const store = await events();
    const { count } = await known(consumer, store);
    await store.consumers.rename(consumer, to);
    return { consumer: to, count };
  },
  view: record<{ consumer: string; count: number }>(
    sentenceView(
      ['consumer', 'count'],
      ({ consumer, count }) =>
        `The consumer is now ${consumer}, with ${counted(count, 'waiting event')}.`,
      ({ consumer }) => consumer,
    ),
  ),
});

async function known(name: string, store: EventStore): Promise<Consumer> {
  const found = (await store.consumers.list()).find(({ consumer }) => consumer === name);
  if (found !== undefined) return found;
  throw new Failure('not-found', `There is no consumer "${name}".`, {
    next: { do: 'run', command: 'webhook consumers list' },
  });
}
