// Keeps the whole state of the sandbox under a name.
import { snapshotView } from '../../terminal/views/sandbox-view.js';
import { defineCommand } from '../define.js';
import { snapshotSchema } from './control-answers.js';
import { controlSandbox } from './control.js';
import { text } from '../values.js';

export const sandboxSnapshotSave = defineCommand({
  arguments: { name: text('NAME').describe('letters, digits, ".", "_" and "-"; one of this name is replaced') },
  options: {},
  examples: [['svcpay --sandbox sandbox snapshot save funded', 'to come back to, as often as is needed']],
  async run({ name }, context) {
    const saved = await controlSandbox(context, 'POST', 'snapshots', snapshotSchema, { name });
    await context.out.record(saved, snapshotView('Saved as', saved));
  },
});
