// Whole states of the sandbox under names: kept, put back, listed and forgotten.
import { listOf, snapshotSchema } from '../../api/sandbox-answers.js';
import { snapshotList, snapshotView, snapshotFields } from '../../terminal/views/sandbox-view.js';
import { defineCommand } from '../define.js';
import { controlSandbox } from './control.js';
import { text } from '../values.js';

/** Keeps the whole state of the sandbox under a name. */
export const sandboxSnapshotSave = defineCommand({
  fields: snapshotFields,
  arguments: { name: text('NAME').suggesting('snapshot').describe('letters, digits, ".", "_" and "-"; one of this name is replaced') },
  examples: [['svcpay sandbox snapshot save funded', 'to come back to, as often as is needed']],
  async run({ name }, context) {
    const saved = await controlSandbox(context, 'POST', 'snapshots', snapshotSchema, { name });
    await context.out.record(saved, snapshotView('Saved as', saved));
  },
});

/** Puts a kept state of the sandbox back: money, transactions, webhooks and time. */
export const sandboxSnapshotLoad = defineCommand({
  fields: snapshotFields,
  arguments: { name: text('NAME').suggesting('snapshot').describe('one of svcpay sandbox snapshot list') },
  examples: [['svcpay sandbox snapshot load funded', 'everything since then is forgotten']],
  async run({ name }, context) {
    const path = `snapshots/${encodeURIComponent(name)}/load`;
    const loaded = await controlSandbox(context, 'POST', path, snapshotSchema);
    await context.out.record(loaded, snapshotView('Back at', loaded));
  },
});

/** Lists the kept states of the sandbox. */
export const sandboxSnapshotList = defineCommand({
  fields: snapshotFields,
  examples: [['svcpay sandbox snapshot list', 'by name, with the time of each']],
  async run(_values, context) {
    const { data } = await controlSandbox(context, 'GET', 'snapshots', listOf(snapshotSchema));
    await context.out.list(data, snapshotList);
  },
});

/** Forgets a kept state of the sandbox; the present one is not touched. */
export const sandboxSnapshotRemove = defineCommand({
  fields: snapshotFields,
  arguments: { name: text('NAME').suggesting('snapshot').describe('one of svcpay sandbox snapshot list') },
  examples: [['svcpay sandbox snapshot remove funded', 'the file gets no smaller, but has room']],
  async run({ name }, context) {
    const path = `snapshots/${encodeURIComponent(name)}`;
    const { data } = await controlSandbox(context, 'DELETE', path, listOf(snapshotSchema));
    await context.out.list(data, snapshotList);
  },
});
