// Lists the kept states of the sandbox.
import { snapshotList } from '../../terminal/views/sandbox-view.js';
import { defineCommand } from '../define.js';
import { listOf, snapshotSchema } from './control-answers.js';
import { controlSandbox } from './control.js';

export const sandboxSnapshotList = defineCommand({
  arguments: {},
  options: {},
  examples: [['svcpay --sandbox sandbox snapshot list', 'by name, with the time of each']],
  async run(_values, context) {
    const { data } = await controlSandbox(context, 'GET', 'snapshots', listOf(snapshotSchema));
    await context.out.list(data, snapshotList);
  },
});
