// Sequential round trips of each command against a service that is far away. Unlike time, they do
// not depend on the machine.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox.js';
import { payingCommands, readingCommands, type FarCommand } from '../support/far-commands.js';
import { forwardTo, startFarService, type FarService } from '../support/far-service.js';
import { startCheckedSandbox } from '../support/openapi.js';
import { svcpay, svcpayTty, type Environment } from '../support/svcpay.js';

/**
 * At least the time that a command takes here by itself: what it sends in one turn is then never
 * counted as two.
 */
let tripMs = 100;

let sandbox: Sandbox;
let far: FarService;
let around: Environment;

beforeAll(async () => {
  sandbox = await startCheckedSandbox({ autoPay: 'off' });
  const begun = performance.now();
  await svcpay(['--sandbox', 'wallets'], { home: mkdtempSync(join(tmpdir(), 'near-home-')) });
  tripMs = Math.max(tripMs, performance.now() - begun);
  far = await startFarService(forwardTo(sandbox.url), tripMs);
  const env = { NODE_EXTRA_CA_CERTS: far.certificate, SVCPAY_NETWORK: 'testnet' };
  around = {
    home: mkdtempSync(join(tmpdir(), 'far-home-')),
    sandbox: { ...sandbox, url: far.url },
    env,
  };
  await run(['wallets']);
});
afterAll(async () => {
  rmSync(around.home, { recursive: true });
  await far.stop();
  await sandbox.stop();
});

async function run(args: readonly string[], environment = around): Promise<void> {
  const { exitCode, stderr } = await svcpay(args, environment);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
}

async function lookAtHome(): Promise<void> {
  const tty = svcpayTty([], { ...around, columns: 100 });
  await tty.waitFor(/BTC[^]*What next\?/);
  tty.type('\u001B');
  expect(await tty.ended).toBe(0);
}

async function count({ args, most }: FarCommand): Promise<void> {
  far.reset();
  await (args.length === 0 ? lookAtHome() : run(args));
  const lines = far.trips().requests.map(({ line, trip }) => ({ line, trip }));
  expect(lines.filter(({ trip }) => trip > most)).toEqual([]);
  const reads = lines.flatMap(({ line }) => (line.startsWith('GET') ? [line] : []));
  expect(reads).toEqual([...new Set(reads)]);
}

test('payments with a stored token', { timeout: 120_000 }, async () => {
  for (const command of await payingCommands(() => sandbox.invoice('1000sat')))
    await count(command);
});

test('payments over http to this machine: no TLS handshake', { timeout: 120_000 }, async () => {
  const near = await startFarService(forwardTo(sandbox.url), tripMs, 'http');
  onTestFinished(() => near.stop());
  const environment = { ...around, sandbox: { ...sandbox, url: near.url } };
  await run(['wallets'], environment);
  for (const { args, most } of await payingCommands(() => sandbox.invoice('1000sat'), '-http')) {
    near.reset();
    await run(args, environment);
    const lines = near.trips().requests.map(({ line, trip }) => ({ line, trip }));
    expect(lines.filter(({ trip }) => trip > most - 1)).toEqual([]);
  }
});

test(
  'reads, with several payments open and several ended in the meantime',
  { timeout: 120_000 },
  async () => {
    const txnId = sandbox.requests('PUT').at(-1)?.path.split('/')[4] ?? '';
    for (const command of readingCommands(txnId)) await count(command);
  },
);

test('connections are opened before the arguments are parsed, but not for help', async () => {
  far.reset();
  expect((await svcpay(['send', 'lightning', 'no-invoice', '--yes'], around)).exitCode).toBe(2);
  // The command can end before the service has taken its connections.
  await expect.poll(() => far.trips().handshakes).toBe(2);
  expect(far.trips().requests).toEqual([]);
  far.reset();
  await run(['send', 'lightning', '--help']);
  expect(far.trips().handshakes).toBe(0);
});

test('a connection closed during a question is reopened on the first key of the answer', async () => {
  const tty = svcpayTty(['send', 'lightning', await sandbox.invoice('1000sat'), '--no-wait'], {
    ...around,
    columns: 100,
  });
  await tty.waitFor('(y/N)');
  far.cut();
  await expect.poll(() => far.connections()).toBe(0);
  far.reset();
  tty.type('y');
  // The command can notice the close a moment after the service: then a later key reopens the
  // connection.
  const reopened = (): number => {
    if (far.trips().handshakes === 0) tty.type('\u007Fy');
    return far.trips().handshakes;
  };
  await expect.poll(reopened, { timeout: 10_000, interval: 250 }).toBe(1);
  expect(far.trips().requests).toEqual([]);
  tty.type('\r');
  expect(await tty.ended).toBe(0);
  expect(far.trips().requests.at(-1)?.line).toMatch(/^PUT .*confirm$/);
  expect(far.trips().handshakes).toBe(1);
});

test('--debug logs the timing of each request and the total wait of the command', async () => {
  const { stderr } = await svcpay(
    ['receive', 'lightning', '1000sat', '--no-wait', '--debug'],
    around,
  );
  const lines = stderr.trimEnd().split('\n');
  expect(lines[0]).toMatch(
    /^POST \/api\/v2\/transaction 200 \d+ ms \((connect \d+, )?(TLS \d+, )?first byte \d+, total \d+\)$/,
  );
  expect(lines[1]).toMatch(
    /^PUT \/api\/v2\/transaction\/[\w-]+\/confirm 200 \d+ ms \(first byte (\d+), total \d+\)$/,
  );
  const [, firstByte = 0] = /first byte (\d+)/.exec(lines[1] ?? '') ?? [];
  expect(Number(firstByte)).toBeGreaterThanOrEqual(tripMs - 10);
  const [, whole = 0, waited = 0] =
    /^command (\d+) ms, of which (\d+) ms waiting for 2 requests$/.exec(lines.at(-1) ?? '') ?? [];
  expect(Number(waited)).toBeGreaterThan(2 * tripMs - 20);
  expect(Number(whole)).toBeGreaterThan(Number(waited));
});
