// Saves and restores states of the sandbox.
import { listOf, snapshotAnswer } from '../../formats/sandbox/answers.js';
import { snapshotList, snapshotView } from '../../terminal/views/sandbox-view.js';
import { defineCommand } from '../define.js';
import { list, record } from '../show.js';
import { text } from '../values.js';
import { controlSandbox, forgetBooks, type SandboxDeps } from './control.js';

const kept = text('NAME')
  .suggesting('snapshot')
  .describe('name, as shown by svcpay sandbox snapshot list');

export const sandboxSnapshotSave = defineCommand({
  arguments: {
    name: text('NAME')
      .suggesting('snapshot')
      .describe('letters, digits, ".", "_" and "-"; replaces a state of the same name'),
  },
  examples: [
    ['svcpay sandbox snapshot save funded', 'saves a state to restore as often as needed'],
  ],
  changes: true,
  run: ({ name }, deps: SandboxDeps) =>
    controlSandbox(deps, 'POST', 'snapshots', snapshotAnswer, { name }),
  view: record(snapshotView('Saved as')),
});

/** Restores the money, transactions, webhooks and time of a snapshot. */
export const sandboxSnapshotLoad = defineCommand({
  arguments: { name: kept },
  examples: [['svcpay sandbox snapshot load funded', 'deletes everything since the snapshot']],
  changes: true,
  async run({ name }, context) {
    const path = `snapshots/${encodeURIComponent(name)}/load`;
    const loaded = await controlSandbox(context, 'POST', path, snapshotAnswer);
    await forgetBooks(context);
    return loaded;
  },
  view: record(snapshotView('Back at')),
});

export const sandboxSnapshotList = defineCommand({
  examples: [['svcpay sandbox snapshot list', 'lists names and times']],
  run: async (_inputs, deps: SandboxDeps) =>
    (await controlSandbox(deps, 'GET', 'snapshots', listOf(snapshotAnswer))).data,
  view: list(snapshotList),
});

export const sandboxSnapshotRemove = defineCommand({
  arguments: { name: kept },
  examples: [['svcpay sandbox snapshot remove funded', 'deletes the snapshot']],
  changes: true,
  async run({ name }, deps: SandboxDeps) {
    const path = `snapshots/${encodeURIComponent(name)}`;
    return (await controlSandbox(deps, 'DELETE', path, listOf(snapshotAnswer))).data;
  },
  view: list(snapshotList),
});
