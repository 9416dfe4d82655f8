// Runs the sandbox as a server on this machine until it is interrupted.
import { once } from 'node:events';
import { startServer } from '../../sandbox/server.js';
import { invalid } from '../../formats/failure.js';
import { credentialsAnswer, fieldNames, type Credentials } from '../../formats/sandbox/answers.js';
import { sandboxFile } from '../../store/files/home.js';
import { commandLine } from '../../terminal/next-step.js';
import { cardLines } from '../../terminal/cards/card.js';
import { fieldColumns, type RecordView } from '../../terminal/rows/view.js';
import { defineCommand, record } from '../define.js';
import { portFailure } from '../webhook/receiving.js';
import { file, text, whole, choice, flag, word, type ValuesOf } from '../values.js';
import { parseDuration } from '../../formats/calendar.js';
import { seeds } from '../../sandbox/seed.js';
import { webhookEvents, webhookMethods } from '../../sandbox/deliveries.js';
import type { ServiceOptions } from '../../sandbox/service.js';
import { openSqlite } from '../../store/files/sqlite-file.js';
import type { Context } from '../context.js';
import { readGivenFile } from '../process.js';

const autoPay = () =>
  word('DURATION|off', (given): number | 'off' => (given === 'off' ? 'off' : parseDuration(given)));

export const serverOptions = {
  autoPay: autoPay()
    .optional()
    .describe('pay requests automatically after this time, or off (default 3s)'),
  seed: choice(seeds, 'SEED')
    .optional()
    .describe(`contents of a new sandbox: ${seeds.join(', ')} (default demo)`),
  webhookCa: file()
    .optional()
    .describe('certificate authority (PEM) to trust for webhook callbacks'),
  allowHttpCallbacks: flag().describe('allow plain http webhooks to this machine'),
  webhookMethod: choice(webhookMethods, 'METHOD')
    .optional()
    .describe('deliver events by POST or PUT (default POST)'),
  webhookEvents: choice(webhookEvents, 'WHICH')
    .optional()
    .describe('deliver every state or only final states (default every)'),
  allowSignatureReuse: flag().describe('accept a reused signature at the token endpoint'),
  allowReferenceReuse: flag().describe('accept a reused extRefId'),
  allowDoublePayment: flag().describe('allow two payments of one invoice'),
};

/** Reads the server options. Throws Failure `usage` if svcpay cannot read the certificate. */
export async function readServerOptions(
  { webhookCa, ...flags }: ValuesOf<typeof serverOptions>,
  { out, settings }: Context,
): Promise<ServiceOptions> {
  return {
    ...flags,
    openFile: openSqlite,
    maker: settings.maker,
    onError: (error) => out.warn(`The sandbox failed: ${String(error)}`),
    ...(webhookCa !== undefined && { webhookCa: await readCertificate(webhookCa) }),
  };
}

async function readCertificate(file: string): Promise<string> {
  const text = (await readGivenFile(file)).toString('utf8');
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw invalid(`${file} contains no PEM certificate.`);
  return text;
}

const readyFields = ['url', ...fieldNames(credentialsAnswer), 'pid'];

type Ready = Credentials & { readonly url: string };

const readyView: RecordView<Ready> = {
  screen: (canvas, ready) => [
    '',
    ...cardLines(
      [
        { label: 'Sandbox', value: ready.url },
        { label: 'API key', value: ready.apiKey, whole: true },
        { label: 'Secret', value: ready.apiSecret, whole: true },
        { label: 'Account', value: ready.accountId, whole: true },
      ],
      canvas,
    ),
    '',
    `  ${commandLine({ command: 'login', options: { '--base-url': ready.url } }, {})}`,
    '',
    `  ${canvas.style.dim('Ctrl-C stops the sandbox; its data stays.')}`,
  ],
  columns: fieldColumns(readyFields),
  quiet: ({ url }) => url,
};

export const sandboxStart = defineCommand({
  options: {
    port: whole(0, 65_535, 'PORT')
      .otherwise(4711)
      .describe('port on the loopback interface, 0 for any free port'),
    file: file()
      .optional()
      .describe(
        'database file, or :memory: for no file (default: the file of the embedded sandbox)',
      ),
    apiKey: text('KEY')
      .optional()
      .describe('API key to use instead of the key in the database file'),
    apiSecret: text('SECRET').optional().describe('API secret of this sandbox, for tests'),
    ...serverOptions,
  },
  examples: [
    ['svcpay sandbox start', 'starts the sandbox for svcpay login in another terminal'],
    [
      'svcpay sandbox start --port 0 --json',
      'prints one line with url, apiKey, apiSecret, accountId and pid',
    ],
    [
      'svcpay sandbox start --file :memory: --seed history',
      'starts with a month of transactions, in memory',
    ],
  ],
  async run({ port, file, apiKey, apiSecret, ...flags }, context) {
    if ((apiKey === undefined) !== (apiSecret === undefined)) {
      throw invalid('Give both --api-key and --api-secret, or neither.');
    }
    const server = await startServer({
      ...(await readServerOptions(flags, context)),
      ...(apiKey !== undefined && { apiKey, apiSecret }),
      port,
      file: file ?? sandboxFile(context.home),
    }).catch((error: unknown) => {
      throw portFailure(error, '127.0.0.1', port, 'sandbox start --port');
    });
    context.onClose(() => server.stop());
    return { url: server.url, ...server.service.credentials, pid: context.pid };
  },
  changes: true,
  view: {
    ...record(readyView),
    /** Prints where the sandbox is, and lets it run until a person or the system stops it. */
    async print(ready, _parts, { out, signal }) {
      await out.record(ready, readyView);
      if (!signal.aborted) await once(signal, 'abort');
    },
  },
});
