// Starts the sandbox behind the delaying TLS proxy of test/support.
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { startSandboxServer } from './sandbox-server.mjs';

const root = resolve(import.meta.dirname, '../..');
const tripMs = 50;

/** Loads the delaying proxy and the list of commands from test/support. */
export async function loadFar() {
  const bundle = join(root, 'node_modules/.cache/bench-far.cjs');
  const contents =
    "export * from './test/support/far-service.ts'; export * from './test/support/far-commands.ts';";
  await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    logLevel: 'error',
  });
  return createRequire(import.meta.url)(bundle);
}

export async function withFarSandbox(action) {
  const { startFarService, forwardTo, payingCommands, readingCommands } = await loadFar();
  const sandbox = await startSandboxServer();
  const far = await startFarService(forwardTo(sandbox.url), tripMs);
  try {
    return await action({
      ...far,
      ...sandbox,
      url: far.url,
      env: {
        ...sandbox.env,
        SVCPAY_BASE_URL: far.url,
        SVCPAY_NETWORK: 'testnet',
        NODE_EXTRA_CA_CERTS: far.certificate,
      },
      paying: () => payingCommands(sandbox.invoice, randomUUID()),
      reading: readingCommands,
      newest: () => sandbox.get('/api/v2/transaction?limit=1'),
      anotherOrder: async (body) => {
        const order = JSON.parse(body);
        if (order.extRefId !== undefined) order.extRefId = randomUUID();
        if (order.destReq.reqDetails?.paymentRequest !== undefined)
          order.destReq.reqDetails.paymentRequest = await sandbox.invoice();
        return JSON.stringify(order);
      },
    });
  } finally {
    await far.stop();
    await sandbox.stop();
  }
}
