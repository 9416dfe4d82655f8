// Prints one setting as it is in force.
import { Failure } from '../../formats/failure.js';
import { settingView } from '../../terminal/views/settings-views.js';
import { configNames, findKey, readKey } from './config-keys.js';
import { defineCommand } from '../define.js';
import { word } from '../values.js';

export const configGet = defineCommand({
  arguments: { key: word('KEY', findKey, configNames).describe(configNames.join(', ')) },
  options: {},
  examples: [['svcpay config get base-url', 'the address of the service']],
  async run({ key }, context) {
    const entry = readKey(key, context);
    if (entry.value === null) {
      throw new Failure('not-found', `${key.name} is not set.`, { hint: `svcpay config set ${key.name} VALUE` });
    }
    await context.out.record(entry, settingView(entry));
  },
});
