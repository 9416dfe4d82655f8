// Tests svcpay webhook: the webhook of an account, signatures and test events.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { svcpay } from '../support/in-process.js';
import { svcpayTty, test } from '../support/svcpay.js';
import { deliver, startListening, webhookSecret } from '../support/webhooks.js';
import { signBody } from '../../src/webhooks/events.js';

const callback = 'https://shop.example/hooks';
const env = { SVCPAY_WEBHOOK_SECRET: webhookSecret };

describe('svcpay webhook', () => {
  test('sets, updates and removes the webhook of the account and stores its secret', async ({
    around,
  }) => {
    const set = await svcpay(['webhook', 'set', callback, '--generate-secret', '--json'], around);
    expect(set.json()).toMatchObject({
      callback,
      secret: expect.stringMatching(/^whsec_[\w-]{43}$/),
    });
    const { id, secret } = set.json() as { id: string; secret: string };
    const printed = await svcpay(['webhook', 'listen', '--print-secret', '-q'], around);
    expect(printed.stdout).toBe(`${secret}\n`);

    const listed = await svcpay(['webhook', 'list', '--json'], around);
    expect(listed.json()).toEqual([{ id, callback, createdAt: expect.any(Number) }]);

    const input = 'another secret\n';
    const updated = await svcpay(
      ['webhook', 'update', id, '--secret-stdin', '--callback', `${callback}/2`, '--json'],
      { ...around, input },
    );
    expect(updated.json()).toMatchObject({ id, callback: `${callback}/2` });
    expect(updated.stdout).not.toContain('another secret');
    expect((await svcpay(['webhook', 'listen', '--print-secret', '-q'], around)).stdout).toBe(
      input,
    );

    expect(await svcpay(['webhook', 'remove', id, '--yes'], around)).toMatchObject({
      exitCode: 0,
      stdout: `${id}\n`,
    });
    expect((await svcpay(['webhook', 'list', '--json'], around)).json()).toEqual([]);
    expect(await svcpay(['webhook', 'remove', id, '--yes'], around)).toMatchObject({ exitCode: 5 });
  });

  test('shows the existing webhook and replaces the webhook only after the person confirms', async ({
    around,
  }) => {
    await svcpay(['webhook', 'set', callback], { ...around, env });
    const run = await svcpay(['webhook', 'set', 'https://other.example/'], { ...around, env });
    expect(run).toMatchObject({ exitCode: 9, stdout: '' });
    expect(run.stderr).toContain(callback);
    expect(around.sandbox.requests('POST', '/api/v2/webhook')).toHaveLength(1);

    const tty = svcpayTty(['webhook', 'set', 'https://other.example/'], around);
    await tty.waitFor(callback);
    await tty.waitFor(/Replace this webhook/);
    tty.type('y\r');
    await tty.waitFor('Webhook secret');
    tty.type('typed-secret\r');
    expect(await tty.ended).toBe(0);
    expect(tty.text()).not.toContain('typed-secret');
  });

  test.for([
    ['http://shop.example/hooks'],
    ['http://127.0.0.1/hooks', 'https://api.example'],
    ['ftp://shop.example'],
    ['shop.example'],
    ['https://user:word@shop.example'],
  ])('refuses the callback %s before it sends a request', async ([url = '', base], { around }) => {
    const args = [
      'webhook',
      'set',
      url,
      '--generate-secret',
      ...(base === undefined ? [] : ['--base-url', base]),
    ];
    expect(await svcpay(args, around)).toMatchObject({ exitCode: 2, stdout: '' });
    expect(around.sandbox.requests()).toHaveLength(0);
  });
});

describe('svcpay webhook set for a service that refuses a second webhook', () => {
  /**
   * Starts a service that refuses a second webhook with code 3002, omits the first webhook from its
   * first list, and answers changes with almost empty bodies.
   */
  async function startService() {
    const existing = { id: 'wh-1', callback, createdAt: 1 };
    const seen: string[] = [];
    let lists = 0;
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { method = '', url = '' } = request;
      const answer = (status: number, body: unknown) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(body === undefined ? '' : JSON.stringify(body));
      };
      if (url.includes('token'))
        return answer(200, { accessToken: 'a', expiredAt: Date.now() + 1e6, accountId: 'ne01' });
      seen.push(method);
      if (method === 'GET') return answer(200, { data: (lists += 1) === 1 ? [] : [existing] });
      if (method === 'POST')
        return answer(400, {
          resultStatus: 'error',
          code: '3002',
          error: 'webhook already exists',
        });
      if (method === 'DELETE') return answer(200, undefined);
      Object.assign(existing, JSON.parse(Buffer.concat(chunks).toString()));
      return answer(200, { message: 'OK' });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, apiKey: 'k', apiSecret: 's', seen };
  }

  test('updates the existing webhook only with --yes', async ({ home }) => {
    const sandbox = await startService();
    const set = ['webhook', 'set', 'https://other.example/', '--json'];
    const asked = await svcpay(set, { home, sandbox, env });
    expect(asked).toMatchObject({ exitCode: 9, stdout: '' });
    expect(asked.stderr).toContain(callback);
    expect(sandbox.seen).not.toContain('PUT');

    const agreed = await svcpay([...set, '--yes'], { home, sandbox, env });
    expect(agreed).toMatchObject({ exitCode: 0 });
    expect(agreed.json()).toMatchObject({ id: 'wh-1', callback: 'https://other.example/' });
    expect(sandbox.seen.filter((method) => method === 'PUT')).toHaveLength(1);
    expect(await svcpay(['webhook', 'remove', 'wh-1', '--yes'], { home, sandbox })).toMatchObject({
      exitCode: 0,
    });
  });
});

describe('svcpay webhook sign and verify', () => {
  const body = '{"txnId":"t1","txnState":"completed","updatedAt":1}\r\n';

  test('use the signature that the specification defines', async ({ home }) => {
    const signed = await svcpay(['webhook', 'sign', '-'], { home, env, input: body });
    expect(signed.stdout.trim()).toBe(signBody(Buffer.from(body), webhookSecret));
    const file = join(home, 'body.json');
    writeFileSync(file, body);
    const args = ['webhook', 'verify', '--signature', signed.stdout.trim(), file];
    expect(await svcpay(args, { home, env })).toMatchObject({ exitCode: 0 });
    expect(
      await svcpay([...args, '--secret-stdin'], { home, input: `${webhookSecret}\n` }),
    ).toMatchObject({ exitCode: 0 });
  });

  const signed = (text: string, secret = webhookSecret): string =>
    signBody(Buffer.from(text), secret);
  test.for([
    ['in upper case', 'encoding', '64 hex digits', signed(body).toUpperCase()],
    ['with a prefix', 'encoding', '64 hex digits', `sha256=${signed(body)}`],
    ['with the API secret', 'secret', 'the API secret', signed(body, 'api-secret')],
    ['of a body that lost its line break', 'body', 'white space', signed(body.trimEnd())],
    ['of a body with another line break', 'body', 'white space', signed(`${body}\n`)],
    ['of another body', 'unknown', 'does not show which', signed('another body')],
  ] as const)('exit with 3 and explain a signature %s', async (row, { home }) => {
    const [, cause, reason, signature] = row;
    const run = await svcpay(['webhook', 'verify', '--signature', signature, '--json'], {
      home,
      env: { ...env, SVCPAY_API_KEY: 'key', SVCPAY_API_SECRET: 'api-secret' },
      input: body,
    });
    expect(run).toMatchObject({ exitCode: 3, stdout: '' });
    expect(run.error()).toMatchObject({
      kind: 'refused',
      code: `wrong-${cause}`,
      message: expect.stringContaining(reason),
    });
    expect(run.stderr).not.toContain(webhookSecret);
  });

  test('refuse to read both the body and the secret from stdin', async ({ home }) => {
    const run = await svcpay(['webhook', 'sign', '--secret-stdin'], { home, input: 'x' });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
  });
});

describe('svcpay webhook trigger', () => {
  test('delivers a signed event to a listener', async ({ home }) => {
    const listener = await startListening(['-o', 'jsonl'], { home });
    const run = await svcpay(
      ['webhook', 'trigger', 'completed', '--to', listener.url, '--ref', 'order-1'],
      { home, env },
    );
    expect(run).toMatchObject({ exitCode: 0 });
    expect(await deliver(listener.url, { txnId: 't', txnState: 'quoted', updatedAt: 1 })).toBe(200);
    listener.child.kill('SIGINT');
    expect((await listener.ended).stdout).toMatch(/"extRefId":"order-1","txnState":"completed"/);
  });

  test('makes the sandbox deliver an event to the configured webhook', async ({ around }) => {
    await svcpay(['webhook', 'set', callback, '--yes'], { ...around, env });
    const run = await svcpay(['webhook', 'trigger', 'rejected', '--json'], around);
    expect(run.json()).toMatchObject({ txnState: 'rejected' });
    expect(around.sandbox.webhooks.deliveries()).toMatchObject([{ txnState: 'rejected' }]);
  });
});
