// A service that delivers webhooks and an application that receives them, for tests of `webhook
// listen`.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { signBody } from '../../src/webhooks/events.js';
import { startSvcpay, type Environment } from './svcpay.js';
import { until } from './until.js';

export const webhookSecret = 'whsec_test';

export interface Payload {
  readonly txnId: string;
  readonly extRefId?: string;
  readonly txnState: string;
  readonly updatedAt: number;
}

/**
 * Delivers an event as the service does, and resolves with the status, or with 0 if there is no
 * response.
 */
export async function deliver(
  url: string,
  event: Payload,
  secret = webhookSecret,
): Promise<number> {
  const body = JSON.stringify(event);
  const headers = {
    'Content-Type': 'application/json',
    'X-Servicepay-Signature': signBody(Buffer.from(body), secret),
  };
  return fetch(url, { method: 'POST', body, headers }).then(
    ({ status }) => status,
    () => 0,
  );
}

/** Starts `webhook listen` on a free port, and waits until it accepts deliveries. */
export async function startListening(
  args: readonly string[],
  around: Environment,
  secret = webhookSecret,
) {
  const ready = join(around.home, `ready-${randomUUID()}.json`);
  const env = { ...around.env, SVCPAY_WEBHOOK_SECRET: secret };
  const program = startSvcpay(
    ['webhook', 'listen', '--port', '0', '--ready-file', ready, ...args],
    { ...around, env },
  );
  onTestFinished(() => void program.child.kill('SIGKILL'));
  let ended = false;
  void program.ended.then(() => (ended = true));
  await until(() => {
    if (ended) throw new Error(`webhook listen ended: ${program.stderr()}`);
    return existsSync(ready);
  });
  const {
    url,
    metricsUrl = '',
    pid,
  }: { url: string; metricsUrl?: string; pid: number } = JSON.parse(readFileSync(ready, 'utf8'));
  return { ...program, url, metricsUrl, pid, readyFile: ready };
}

/** Starts a local application; `answer` returns the status for each event. */
export async function startApplication(answer: (body: string) => number | Promise<number>) {
  const bodies: string[] = [];
  const eventIds: unknown[] = [];
  const signatures: unknown[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks).toString();
      const status = await answer(body);
      if (status === 200) {
        bodies.push(body);
        signatures.push(request.headers['x-servicepay-signature']);
        eventIds.push(request.headers['svcpay-event-id']);
      }
      response.writeHead(status, { 'content-length': 0 }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/hooks`, bodies, signatures, eventIds };
}
