// Puts a kept state of the sandbox back: money, transactions, webhooks and time.
import { snapshotView } from '../../terminal/views/sandbox-view.js';
import { defineCommand } from '../define.js';
import { snapshotSchema } from './control-answers.js';
import { controlSandbox } from './control.js';
import { text } from '../values.js';

export const sandboxSnapshotLoad = defineCommand({
  arguments: { name: text('NAME').describe('one of svcpay sandbox snapshot list') },
  options: {},
  examples: [['svcpay --sandbox sandbox snapshot load funded', 'everything since then is forgotten']],
  async run({ name }, context) {
    const path = `snapshots/${encodeURIComponent(name)}/load`;
    const loaded = await controlSandbox(context, 'POST', path, snapshotSchema);
    await context.out.record(loaded, snapshotView('Back at', loaded));
  },
});
