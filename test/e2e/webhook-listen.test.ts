// Tests svcpay webhook listen and svcpay webhook replay.
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { signBody } from '../../src/webhooks/events.js';
import { forwardTo, startFarService } from '../support/far-service.js';
import { svcpay } from '../support/in-process.js';
import { svcpayTty, test } from '../support/svcpay.js';
import { until } from '../support/until.js';
import { deliver, startApplication, startListening, webhookSecret } from '../support/webhooks.js';

const event = (txnId: string, txnState: string, updatedAt: number) => ({
  txnId,
  txnState,
  msg: '',
  updatedAt,
});

const rows = (stdout: string): unknown[] =>
  stdout
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));

describe('svcpay webhook listen', () => {
  test('marks duplicate and out-of-order events in its JSON lines', async ({ home }) => {
    const listener = await startListening(['--json'], { home });
    expect(await deliver(listener.url, event('t1', 'quoted', 1))).toBe(200);
    expect(await deliver(listener.url, event('t1', 'quoted', 1))).toBe(200);
    expect(await deliver(listener.url, event('t1', 'destsent', 3))).toBe(200);
    expect(await deliver(listener.url, event('t2', 'completed', 9))).toBe(200);
    expect(await deliver(listener.url, event('t2', 'srccreated', 8))).toBe(200);
    expect(await deliver(listener.url, event('t3', 'completed', 1), 'another secret')).toBe(401);
    listener.child.kill('SIGINT');
    const run = await listener.ended;
    expect(run.exitCode).toBe(0);
    expect(rows(run.stdout)).toMatchObject([
      {
        txnId: 't1',
        txnState: 'quoted',
        updatedAt: 1,
        eventId: 1,
        duplicateOf: null,
        outOfOrder: false,
        missing: [],
      },
      { eventId: 2, duplicateOf: 1 },
      { txnState: 'destsent', missing: ['srccreated'] },
      { txnId: 't2', txnState: 'completed' },
      { txnId: 't2', txnState: 'srccreated', outOfOrder: true },
    ]);
    expect(run.stderr).toContain('5 events · 1 duplicate · 1 out of order · 1 wrong signature');
    expect(run.stderr).toContain('Gap: transaction t1 has no event for srccreated');
    expect(existsSync(listener.readyFile)).toBe(false);
  });

  test('receives every event of a payment that another command makes in the embedded sandbox', async ({
    home,
  }) => {
    const env = { SVCPAY_WEBHOOK_SECRET: webhookSecret };
    const sandbox = (...args: string[]) => svcpay(['--sandbox', ...args], { home, env });
    const listener = await startListening(['--sandbox', '--json'], { home });
    const { stdout: invoice } = await sandbox('sandbox', 'invoice', '1000sat', '-q');
    const send = ['send', 'lightning', invoice.trim(), '--yes', '--no-wait', '-q'];
    const { stdout: txnId } = await sandbox(...send);
    await until(() => listener.stdout().trim().split('\n').length === 4);
    listener.child.kill('SIGINT');
    expect(rows((await listener.ended).stdout)).toMatchObject(
      ['quoted', 'srccreated', 'destsent', 'completed'].map((txnState) => ({
        txnId: txnId.trim(),
        txnState,
      })),
    );
  });

  test('registers with the sandbox until the listener ends, and uses the same webhook secret at the next start', async ({
    home,
  }) => {
    const webhooks = async (): Promise<{ callback: string }[]> =>
      JSON.parse((await svcpay(['--sandbox', 'webhook', 'list', '--json'], { home })).stdout);
    const listen = ['--sandbox', 'webhook', 'listen', '--port', '0'];
    const secrets: string[] = [];
    for (const isFirst of [true, false]) {
      const tty = svcpayTty(listen, { home });
      await tty.waitFor(/registered with the embedded\s+sandbox until\s+this command ends/);
      expect(tty.text().includes('Created a webhook secret')).toBe(isFirst);
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(tty.text())?.[0] ?? '';
      expect(await webhooks()).toMatchObject([{ callback: expect.stringContaining(url) }]);
      const { stdout: invoice } = await svcpay(
        ['--sandbox', 'sandbox', 'invoice', '2500sat', '-q'],
        { home },
      );
      await svcpay(['--sandbox', 'send', 'lightning', invoice.trim(), '--yes', '-q'], { home });
      await tty.waitFor(/completed +lightning send +.2 500 sat/);
      tty.type('\u0003');
      expect(await tty.ended).toBe(0);
      expect(await webhooks()).toEqual([]);
      const print = ['--sandbox', 'webhook', 'listen', '--print-secret', '-q'];
      secrets.push((await svcpay(print, { home })).stdout);
    }
    expect(secrets[0]).toMatch(/^whsec_/);
    expect(secrets[1]).toBe(secrets[0]);
  });

  test('saves no new secret if the database cannot be reached', async ({ home }) => {
    const env = { SVCPAY_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
    const run = await svcpay(['--sandbox', 'webhook', 'listen', '--port', '0'], { home, env });
    expect(run.stderr).toContain('cannot be reached');
    expect(existsSync(join(home, 'secrets.json'))).toBe(false);
  });

  test('asks for a public address, and registers this address with a real service until the listener ends', async ({
    home,
    sandbox,
  }) => {
    const far = await startFarService(forwardTo(sandbox.url), 0);
    onTestFinished(far.stop);
    const env = { NODE_EXTRA_CA_CERTS: far.certificate };
    const around = { home, sandbox: { ...sandbox, url: far.url }, env };
    const listen = async () => {
      const tty = svcpayTty(['webhook', 'listen', '--port', '0'], around);
      await tty.waitFor(/Public https address of http:\/\/127\.0\.0\.1:\d+/);
      return tty;
    };
    const callback = 'https://hooks.example/a';
    const first = await listen();
    first.type('http://hooks.example\r');
    await first.waitFor(/must be an https URL/);
    first.type('\u001B');
    await first.waitFor(/No webhook is set at https:[^]*--print-secret[^]*Listening on/);
    first.type('\u0003');
    expect(await first.ended).toBe(0);
    const second = await listen();
    second.type(`${callback}\r`);
    await second.waitFor(
      /registered as https:\/\/hooks\.example\/a\s+until\s+this\s+command\s+ends/,
    );
    const webhooks = async (): Promise<unknown> =>
      (await svcpay(['webhook', 'list', '--json'], { home, sandbox })).json();
    expect(await webhooks()).toMatchObject([{ callback }]);
    second.type('\u0003');
    expect(await second.ended).toBe(0);
    expect(await webhooks()).toEqual([]);
  });

  test('replaces the webhook of another receiver only with --yes', async ({ home }) => {
    const elsewhere = 'http://127.0.0.1:9/hooks';
    const set = ['--sandbox', 'webhook', 'set', elsewhere, '--generate-secret', '-q'];
    expect(await svcpay(set, { home })).toMatchObject({ exitCode: 0 });
    const listener = await startListening(['--sandbox', '--json'], { home });
    listener.child.kill('SIGINT');
    expect((await listener.ended).stderr).toContain(`go to ${elsewhere}, not here`);
    const other = await startListening(['--sandbox', '--json', '--yes'], { home });
    other.child.kill('SIGINT');
    expect(await other.ended).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(
        'registered with the embedded sandbox until this command ends',
      ),
    });
  });

  test('shows the status of each forwarded event at a terminal', async ({ home }) => {
    let isUp = false;
    const application = await startApplication(() => (isUp ? 200 : 409));
    const env = { SVCPAY_WEBHOOK_SECRET: webhookSecret };
    const args = ['webhook', 'listen', '--port', '0', '--forward-to', application.url];
    const tty = svcpayTty(args, { home, env });
    await tty.waitFor(/Listening on http:\/\/127\.0\.0\.1:\d+/);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(tty.text())?.[0] ?? '';
    await deliver(url, event('t1', 'completed', 1));
    await tty.waitFor(/completed +t1\s+-> http:\/\/127\S+ +409 +\d+ ms/);
    isUp = true;
    await tty.waitFor(/completed +t1\s+-> http:\/\/127\S+ +200 +\d+ ms/);
    tty.type('\u0003');
    expect(await tty.ended).toBe(0);
    expect(tty.text().split('409')).toHaveLength(2);
  });

  test('forwards the received bytes to every target and to the --exec command', async ({
    home,
  }) => {
    const [first, second] = [await startApplication(() => 200), await startApplication(() => 200)];
    const command = 'echo "got $SVCPAY_TXN_STATE: $(cat)"';
    const targets = ['--forward-to', first.url, '--forward-to', second.url, '--exec', command];
    const listener = await startListening([...targets, '-o', 'jsonl'], { home });
    await deliver(listener.url, event('t1', 'completed', 1));
    await until(
      () =>
        first.bodies.length + second.bodies.length === 2 &&
        listener.stderr().includes('got completed'),
    );
    listener.child.kill('SIGINT');
    const run = await listener.ended;
    expect(first.bodies).toEqual([JSON.stringify(event('t1', 'completed', 1))]);
    expect(second).toMatchObject({ bodies: first.bodies, signatures: first.signatures });
    expect(run.stderr).toContain(`got completed: ${first.bodies[0]}`);
    expect(rows(run.stdout)).toHaveLength(1);
  });

  test('reads and forwards the signature in the configured header', async ({ home }) => {
    const seen: unknown[] = [];
    const application = createServer((request, response) => {
      seen.push(request.headers['x-shop-signature']);
      request.resume().on('end', () => response.end());
    });
    await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void application.close());
    const target = `http://127.0.0.1:${(application.address() as AddressInfo).port}/`;
    expect(
      await svcpay(['config', 'set', 'signature-header', 'no header'], { home }),
    ).toMatchObject({ exitCode: 2 });
    expect(
      await svcpay(['config', 'set', 'signature-header', 'X-Shop-Signature'], { home }),
    ).toMatchObject({ exitCode: 0 });
    const listener = await startListening(['--forward-to', target], { home });
    const body = JSON.stringify(event('t1', 'completed', 1));
    const signature = signBody(Buffer.from(body), webhookSecret);
    const send = (header: string) =>
      fetch(listener.url, { method: 'PUT', body, headers: { [header]: signature } });
    expect((await send('X-Servicepay-Signature')).status).toBe(401);
    expect((await send('X-Shop-Signature')).status).toBe(200);
    await until(() => seen.length === 1);
    expect(seen).toEqual([signature]);
    listener.child.kill('SIGINT');
    expect(await listener.ended).toMatchObject({ exitCode: 0 });
  });

  test('delivers the event backlog of the previous run', async ({ home }) => {
    let isUp = false;
    const application = await startApplication(() => (isUp ? 200 : 503));
    const before = await startListening(['--forward-to', application.url], { home });
    await deliver(before.url, event('t1', 'completed', 1));
    before.child.kill('SIGINT');
    expect((await before.ended).stderr).toContain('1 event waiting');
    isUp = true;
    const after = await startListening(['--forward-to', application.url], { home });
    await until(() => application.bodies.length === 1);
    after.child.kill('SIGINT');
    expect((await after.ended).stderr).toContain('1 delivered');
  });

  test('adds the current transaction details to each event if --enrich is given', async ({
    around,
  }) => {
    const invoice = await around.sandbox.invoice('1000sat');
    const paid = await svcpay(['send', 'lightning', invoice, '--yes', '-q'], around);
    const txnId = paid.stdout.trim();
    const listener = await startListening(['--enrich', '-o', 'jsonl'], around);
    await deliver(listener.url, event(txnId, 'destsent', 5));
    await until(() => listener.stdout().includes('\n'));
    listener.child.kill('SIGINT');
    expect(rows((await listener.ended).stdout)).toMatchObject([
      { txnId, txnState: 'destsent', transaction: { txnId, txnState: 'completed' } },
    ]);
  });

  test('shows a line per event at a terminal and escapes control characters', async ({ home }) => {
    const env = { SVCPAY_WEBHOOK_SECRET: webhookSecret };
    const tty = svcpayTty(['webhook', 'listen', '--port', '0'], { home, env });
    await tty.waitFor(/Listening on http:\/\/127\.0\.0\.1:\d+/);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(tty.text())?.[0] ?? '';
    await deliver(url, { ...event('t1', 'completed', 1), extRefId: 'order-\u001B[2J118' });
    await tty.waitFor(/\d\d:\d\d:\d\d #1 {2}completed +t1 +order-\\x1b\[2J118/);
    tty.type('\u0003');
    expect(await tty.ended).toBe(0);
    expect(tty.text()).toContain('1 event');
  });

  test('ends with exit 9 and lists the missing values if there is no terminal', async ({
    home,
  }) => {
    const run = await svcpay(['webhook', 'listen'], { home });
    expect(run).toMatchObject({ exitCode: 9, stdout: '' });
    expect(run.stderr).toContain('SVCPAY_WEBHOOK_SECRET');
  });
});

describe('svcpay webhook replay', () => {
  test('sends stored events again with identical bytes and signatures', async ({ home }) => {
    const application = await startApplication(() => 200);
    const listener = await startListening(['--forward-to', application.url], { home });
    for (const txnState of ['quoted', 'completed'])
      await deliver(listener.url, event('t1', txnState, 1));
    await until(() => application.bodies.length === 2);
    listener.child.kill('SIGINT');
    await listener.ended;
    const byTime = await svcpay(
      ['webhook', 'replay', '--since', '10m', '--to', application.url, '--json'],
      { home },
    );
    expect([byTime.exitCode, JSON.parse(byTime.stdout)]).toMatchObject([
      0,
      [
        { eventId: 1, status: 200 },
        { eventId: 2, status: 200 },
      ],
    ]);
    const byId = await svcpay(['webhook', 'replay', '2', '--to', application.url, '-q'], { home });
    expect(byId).toMatchObject({ exitCode: 0, stdout: 't1\n' });
    expect(application.bodies.slice(2)).toEqual([
      ...application.bodies.slice(0, 2),
      application.bodies[1],
    ]);
    expect(application.signatures.slice(2, 4)).toEqual(application.signatures.slice(0, 2));
    expect(application.eventIds[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(application.eventIds[1]).not.toBe(application.eventIds[0]);
    expect(application.eventIds.slice(2, 4)).toEqual(application.eventIds.slice(0, 2));
  });

  test('sends events to the running listener of the home by default', async ({ home }) => {
    const listener = await startListening(['--json'], { home });
    await deliver(listener.url, event('t1', 'completed', 1));
    const replayed = await svcpay(['webhook', 'replay', '1', '--json'], { home });
    expect(replayed).toMatchObject({ exitCode: 0 });
    expect(replayed.json()).toMatchObject([{ txnId: 't1', status: 200 }]);
    listener.child.kill('SIGINT');
    await listener.ended;
    expect(existsSync(join(home, 'receiver.json'))).toBe(false);
  });

  test('ends with exit 75 if the target is down and with exit 5 if the event is unknown', async ({
    home,
  }) => {
    const listener = await startListening([], { home });
    await deliver(listener.url, event('t1', 'completed', 1));
    listener.child.kill('SIGINT');
    await listener.ended;
    expect(
      await svcpay(['webhook', 'replay', 't1', '--to', listener.url, '--json'], { home }),
    ).toMatchObject({ exitCode: 75, stdout: '' });
    expect(await svcpay(['webhook', 'replay', 't9', '--to', listener.url], { home })).toMatchObject(
      { exitCode: 5 },
    );
    expect(await svcpay(['webhook', 'replay'], { home })).toMatchObject({ exitCode: 2 });
  });
});
