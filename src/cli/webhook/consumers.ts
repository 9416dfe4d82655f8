// Lists, renames and removes the consumers of the inbox. A consumer is a name under which events
// wait for a target of `webhook listen`.
import { Failure } from '../../formats/failure.js';
import { formatDuration } from '../../formats/duration.js';
import { counted } from '../../formats/text.js';
import { isFormer, type Consumer, type EventStore } from '../../store/events/event-store.js';
import { fieldColumns } from '../../terminal/rows/cell.js';
import { namesOf } from '../../terminal/rows/list.js';
import type { ListView } from '../../terminal/rows/view.js';
import { sanitize } from '../../terminal/sanitize.js';
import { defineCommand } from '../define.js';
import { text, word } from '../values.js';

/**
 * The argument type of consumer names. Every valid consumer name can be a label value in metrics.
 */
export const consumerName = (placeholder = 'NAME') =>
  word(placeholder, (given) => {
    if (/^[a-z0-9][\w.-]{0,62}$/i.test(given)) return given;
    throw new Failure(
      'usage',
      `"${given}" is not a consumer name. Use at most 63 letters, digits, dots, dashes and ` +
        'underscores, and start with a letter or digit.',
    );
  });

const ago = (seconds: number | null): string =>
  seconds === null ? '' : `${formatDuration(seconds * 1_000)} ago`;

const consumerList: ListView<Consumer> = {
  columns: [
    { name: 'consumer', title: 'Consumer', value: ({ consumer }) => consumer, shrinks: true },
    { name: 'count', title: 'Waiting', value: ({ count }) => count, align: 'right' },
    {
      name: 'oldestSeconds',
      title: 'Oldest',
      value: ({ oldestSeconds }) => oldestSeconds,
      text: ({ oldestSeconds }) => ago(oldestSeconds),
    },
    {
      name: 'servedSeconds',
      title: 'Served',
      value: ({ servedSeconds }) => servedSeconds,
      text: (each) =>
        `${ago(each.servedSeconds)}${isFormer(each) ? ', no receiver since then' : ''}`,
    },
  ],
  quiet: ({ consumer }) => consumer,
  empty: 'No consumers yet. Add a consumer: svcpay webhook listen --forward-to URL --consumer NAME',
};

export const webhookConsumersList = defineCommand({
  prints: namesOf(undefined, consumerList),
  examples: [
    [
      'svcpay webhook consumers list --json',
      'lists how many events wait for each consumer, and when a receiver last ran for it',
    ],
  ],
  async run(_values, { events, out }) {
    await out.list(await (await events()).consumers.list(), consumerList);
  },
});

const name = text('NAME').describe('consumer name, as shown by svcpay webhook consumers list');

export const webhookConsumersRemove = defineCommand({
  fields: ['consumer', 'dropped'],
  arguments: { name },
  examples: [
    [
      'svcpay webhook consumers remove old-app',
      'asks for confirmation, then drops the waiting events',
    ],
  ],
  async run({ name: consumer }, { events, out, ask }) {
    const store = await events();
    const { count } = await known(consumer, store);
    const what =
      count === 0
        ? 'No events wait for this consumer'
        : `This drops ${counted(count, 'waiting event')}`;
    await ask.agree(`Remove ${sanitize(consumer)}? ${what}.`, 'Nothing was removed.');
    const result = { consumer, dropped: await store.consumers.remove(consumer) };
    await out.record(result, {
      screen: () => [
        `  Removed ${sanitize(consumer)} and dropped ${counted(result.dropped, 'waiting event')}.`,
      ],
      columns: fieldColumns(['consumer', 'dropped']),
      quiet: ({ dropped }) => String(dropped),
    });
  },
});

export const webhookConsumersRename = defineCommand({
  fields: ['consumer', 'count'],
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
  async run({ name: consumer, to }, { events, out }) {
    const store = await events();
    const { count } = await known(consumer, store);
    await store.consumers.rename(consumer, to);
    await out.record(
      { consumer: to, count },
      {
        screen: () => [
          `  Renamed ${sanitize(consumer)} to ${to}, with ${counted(count, 'waiting event')}.`,
        ],
        columns: fieldColumns(['consumer', 'count']),
        quiet: ({ consumer: renamed }) => renamed,
      },
    );
  },
});

async function known(name: string, store: EventStore): Promise<Consumer> {
  const found = (await store.consumers.list()).find(({ consumer }) => consumer === name);
  if (found !== undefined) return found;
  throw new Failure('not-found', `There is no consumer "${name}".`, {
    hint: 'svcpay webhook consumers list',
  });
}
