// Shared code of the commands that run a sandbox server: the server's options, and the wait for the
// end of the command.
import { Failure } from '../../formats/failure.js';
import { parseDuration } from '../../formats/calendar.js';
import { seeds } from '../../sandbox/seed.js';
import { webhookEvents, webhookMethods } from '../../sandbox/deliveries.js';
import type { ServiceOptions } from '../../sandbox/service.js';
import { openSqlite } from '../../store/files/sqlite-file.js';
import type { Context } from '../context.js';
import { readGivenFile } from '../stdin.js';
import { choice, file, flag, word, type ValuesOf } from '../values.js';

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
    throw new Failure('usage', `${file} contains no PEM certificate.`);
  return text;
}

export const untilInterrupted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
