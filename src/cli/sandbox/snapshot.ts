// Shows, resets, saves and restores the state of the sandbox.
import * as v from 'valibot';
import { Failure, ifAvailable } from '../../formats/failure.js';
import {
  deliveryStatuses,
  fieldNames,
  listOf,
  snapshotAnswer,
  statusAnswer,
} from '../../formats/sandbox/answers.js';
import { transactionStates } from '../../formats/states.js';
import { seeds } from '../../sandbox/control/seed.js';
import {
  sandboxStatusView,
  snapshotList,
  snapshotView,
} from '../../terminal/views/sandbox-view.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { choice, text, whole } from '../values.js';
import { controlSandbox } from './control.js';

const snapshotFields = fieldNames(snapshotAnswer);
const kept = text('NAME')
  .suggesting('snapshot')
  .describe('name, as shown by svcpay sandbox snapshot list');

export const sandboxStatus = defineCommand({
  prints: [
    ...fieldNames(statusAnswer),
    ...transactionStates.map((state) => `transactions.${state}`),
    ...deliveryStatuses.map((status) => `deliveries.${status}`),
  ],
  examples: [
    ['svcpay sandbox status', 'shows the embedded sandbox'],
    ['svcpay sandbox status --json --fields clock.now', 'prints the sandbox time, for a script'],
  ],
  async run(_values, context) {
    const status = await controlSandbox(context, 'GET', 'status', statusAnswer);
    await context.out.record(status, sandboxStatusView(status));
  },
});

/** Resets the sandbox, whose credentials stay valid. */
export const sandboxReset = defineCommand({
  fields: [],
  options: {
    seed: choice(seeds, 'SEED')
      .optional()
      .describe(`contents after the reset: ${seeds.join(', ')} (default: as before)`),
    months: whole(1, 36)
      .optional()
      .describe('with --seed history: how many months of transactions (default 1)'),
  },
  examples: [
    ['svcpay sandbox reset --yes', 'starts again with a fresh sandbox'],
    [
      'svcpay sandbox reset --seed history --months 12 --yes',
      'starts with a year of transactions that add up to the wallet balances',
    ],
  ],
  async run({ seed, months }, context) {
    if (months !== undefined && seed !== 'history')
      throw new Failure('usage', '--months works only with --seed history.');
    await context.ask.agree('Delete all transactions of the sandbox?', 'The sandbox is unchanged.');
    if (seed === undefined) await controlSandbox(context, 'POST', 'reset', v.unknown());
    else await controlSandbox(context, 'POST', 'seed', v.unknown(), { seed, months });
    await forgetBooks(context);
    context.out.say('The sandbox was reset.');
    context.out.did({ reset: true });
  },
});

/**
 * Deletes the recorded books, because the records of the replaced balances would not agree with the
 * new balances.
 */
async function forgetBooks({ account, books }: Context): Promise<void> {
  const own = await ifAvailable(account());
  if (own !== undefined) await (await books()).forget(own.scope);
}

export const sandboxSnapshotSave = defineCommand({
  fields: snapshotFields,
  arguments: {
    name: text('NAME')
      .suggesting('snapshot')
      .describe('letters, digits, ".", "_" and "-"; replaces a state of the same name'),
  },
  examples: [
    ['svcpay sandbox snapshot save funded', 'saves a state to restore as often as needed'],
  ],
  async run({ name }, context) {
    const saved = await controlSandbox(context, 'POST', 'snapshots', snapshotAnswer, { name });
    await context.out.record(saved, snapshotView('Saved as', saved));
  },
});

/** Restores the money, transactions, webhooks and time of a snapshot. */
export const sandboxSnapshotLoad = defineCommand({
  fields: snapshotFields,
  arguments: { name: kept },
  examples: [['svcpay sandbox snapshot load funded', 'deletes everything since the snapshot']],
  async run({ name }, context) {
    const path = `snapshots/${encodeURIComponent(name)}/load`;
    const loaded = await controlSandbox(context, 'POST', path, snapshotAnswer);
    await forgetBooks(context);
    await context.out.record(loaded, snapshotView('Back at', loaded));
  },
});

export const sandboxSnapshotList = defineCommand({
  fields: snapshotFields,
  examples: [['svcpay sandbox snapshot list', 'lists names and times']],
  async run(_values, context) {
    const { data } = await controlSandbox(context, 'GET', 'snapshots', listOf(snapshotAnswer));
    await context.out.list(data, snapshotList);
  },
});

export const sandboxSnapshotRemove = defineCommand({
  fields: snapshotFields,
  arguments: { name: kept },
  examples: [['svcpay sandbox snapshot remove funded', 'deletes the snapshot']],
  async run({ name }, context) {
    const path = `snapshots/${encodeURIComponent(name)}`;
    const { data } = await controlSandbox(context, 'DELETE', path, listOf(snapshotAnswer));
    await context.out.list(data, snapshotList);
  },
});
