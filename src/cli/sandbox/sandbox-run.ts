// Runs a command with a sandbox of its own: a free port, the environment set, everything gone at the end.
import { startServer } from '../../sandbox/server.js';
import { runChild } from './child.js';
import { defineCommand } from '../define.js';
import { Ended } from '../exit-with.js';
import { toldLiveShapes } from './live-shapes.js';
import { readServerOptions, serverOptions } from './server.js';
import { file, text } from '../values.js';

export const sandboxRun = defineCommand({
  fields: [],
  arguments: { command: text('COMMAND').repeated().describe('with its arguments, options too') },
  ownsRest: true,
  options: {
    file: file().optional().describe('database file to keep (default: none, forgotten at the end)'),
    ...serverOptions,
  },
  examples: [
    ['svcpay sandbox run npm test', 'with SVCPAY_BASE_URL, SVCPAY_API_KEY and SVCPAY_API_SECRET set'],
    ['svcpay sandbox run --auto-pay off -- sh -c \'svcpay wallets --json\'', 'ends with the exit code of the command'],
  ],
  async run({ command, file, ...flags }, context) {
    if (await toldLiveShapes(flags.liveShapes, context)) return;
    const server = await startServer({ ...(await readServerOptions(flags, context)), file });
    context.onClose(() => server.stop());
    const { apiKey, apiSecret } = server.service.credentials;
    // An account of another service means nothing here.
    const { SVCPAY_ACCOUNT: _account, ...inherited } = context.env;
    const exitCode = await runChild(command, {
      ...inherited,
      SVCPAY_BASE_URL: server.url,
      SVCPAY_API_KEY: apiKey,
      SVCPAY_API_SECRET: apiSecret,
    }, context);
    if (exitCode !== 0) throw new Ended(exitCode);
  },
});
