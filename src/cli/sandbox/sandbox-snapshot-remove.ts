// Forgets a kept state of the sandbox; the present one is not touched.
import { snapshotList } from '../../terminal/views/sandbox-view.js';
import { defineCommand } from '../define.js';
import { listOf, snapshotSchema } from './control-answers.js';
import { controlSandbox } from './control.js';
import { text } from '../values.js';

export const sandboxSnapshotRemove = defineCommand({
  arguments: { name: text('NAME').describe('one of svcpay sandbox snapshot list') },
  options: {},
  examples: [['svcpay --sandbox sandbox snapshot remove funded', 'the file gets no smaller, but has room']],
  async run({ name }, context) {
    const path = `snapshots/${encodeURIComponent(name)}`;
    const { data } = await controlSandbox(context, 'DELETE', path, listOf(snapshotSchema));
    await context.out.list(data, snapshotList);
  },
});
