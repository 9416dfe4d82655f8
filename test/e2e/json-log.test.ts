// svcpay --log-format json writes JSON lines to stderr for log collectors. Each line about a
// payment names the payment and the request.
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished } from 'vitest';
import { batchFile, lightningRows } from '../support/batch.js';
import { svcpay } from '../support/in-process.js';
import { test } from '../support/svcpay.js';

interface Line {
  time: string;
  level: string;
  run: string;
  reference: string | null;
  txnId: string | null;
  requestId: string | null;
  message: string;
  error?: { kind: string; exitCode: number };
}

const linesOf = (stderr: string): Line[] =>
  stderr
    .trimEnd()
    .split('\n')
    .map((line): Line => JSON.parse(line));

/** A proxy that adds request ids to the responses, as a gateway does. */
async function namingRequests(url: string): Promise<string> {
  let count = 0;
  const server = createServer((incoming, outgoing) => {
    const {
      method,
      headers: { host: _own, ...headers },
      url: path = '',
    } = incoming;
    const forwarded = request(
      new URL(path, url),
      { method: method ?? 'GET', headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 0, {
          ...answer.headers,
          'x-request-id': `req-${(count += 1)}`,
        });
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('svcpay --log-format json', () => {
  test('adds the reference, transaction id and request id to each line about a payment', async ({
    around,
  }) => {
    const env = { SVCPAY_BASE_URL: await namingRequests(around.sandbox.url) };
    const invoice = await around.sandbox.invoice('1000sat');
    const run = await svcpay(
      [
        'send',
        'lightning',
        invoice,
        '--ref',
        'order-1',
        '--yes',
        '--json',
        '--debug',
        '--log-format',
        'json',
      ],
      { ...around, env },
    );
    expect(run).toMatchObject({ exitCode: 0 });
    const { txnId } = run.json() as { txnId: string };
    const lines = linesOf(run.stderr);
    const confirmed = lines.findIndex(({ message }) => message.includes('/confirm'));
    expect(confirmed).toBeGreaterThan(0);
    for (const line of lines.slice(confirmed)) {
      expect(line).toMatchObject({
        reference: 'order-1',
        txnId,
        requestId: expect.stringMatching(/^req-\d+$/),
        run: lines[0]?.run,
      });
      expect(new Date(line.time).toISOString()).toBe(line.time);
    }
    expect(lines[0]).toMatchObject({
      level: 'debug',
      reference: null,
      txnId: null,
      requestId: 'req-1',
    });
  });

  test('adds the reference of a batch row to each line about the row', async ({ around }) => {
    const file = batchFile(around.home, lightningRows(4));
    const run = await svcpay(['batch', file, '--yes', '-o', 'csv'], {
      ...around,
      env: { SVCPAY_LOG_FORMAT: 'json' },
    });
    expect(run.exitCode).toBe(0);
    const lines = linesOf(run.stderr);
    const rows = lines.filter(({ reference }) => reference !== null);
    expect(rows.map(({ reference }) => reference).toSorted()).toEqual(
      lightningRows(4)
        .map((row) => row.split(',')[0])
        .toSorted(),
    );
    for (const { message, txnId } of rows)
      expect([message.includes('paid'), txnId]).toEqual([true, expect.any(String)]);
  });

  test('writes the error of an invalid command line as a JSON line', async ({ home }) => {
    const run = await svcpay(['tx', 'lst', '--log-format=json'], { home });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(linesOf(run.stderr)).toMatchObject([
      {
        level: 'error',
        message: expect.stringContaining('tx list'),
        error: { kind: 'usage', exitCode: 2 },
      },
    ]);
    expect(run.error()).toMatchObject({ exitCode: 2 });
  });
});
