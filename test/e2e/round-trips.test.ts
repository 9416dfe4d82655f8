// Sequential round trips of each command against a service that is far away. Unlike time, they do
// not depend on the machine.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox.js';
import { payingCommands, readingCommands, type FarCommand } from '../support/far-commands.js';
import { forwardTo, startFarService, type FarService } from '../support/far-service.js';
import { startCheckedSandbox } from '../support/openapi.js';
import { svcpay, svcpayTty, type Environment } from '../support/svcpay.js';

/**
 * At least the time that a command takes on this machine, so requests that it sends together never
 * count as two round trips. A busy machine breaks this assumption, so a failed test is repeated with
 * a longer round trip.
 */
let tripMs = 100;

let sandbox: Sandbox;
let far: FarService;
let around: Environment;

beforeAll(async () => {
  sandbox = await startCheckedSandbox({ autoPay: 'off' });
  const startedAt = performance.now();
  await svcpay(['--sandbox', 'wallets'], { home: mkdtempSync(join(tmpdir(), 'near-home-')) });
  tripMs = Math.min(1_000, Math.max(tripMs, performance.now() - startedAt));
  far = await startFarService(forwardTo(sandbox.url), tripMs);
});
beforeEach(({ task }) => {
  if (!task.result?.retryCount) return;
  tripMs *= 3;
  far.moveTo(tripMs);
});
afterAll(async () => {
  await far.stop();
  await sandbox.stop();
});

let rounds = 0;

/** New orders for each call. */
const payments = (): Promise<readonly FarCommand[]> =>
  payingCommands(() => sandbox.invoice('1000sat'), `-${(rounds += 1)}`);

/** A home that has a token of the service. */
async function signedIn(url: string): Promise<Environment> {
  const home = mkdtempSync(join(tmpdir(), 'far-home-'));
  const env = { NODE_EXTRA_CA_CERTS: far.certificate, SVCPAY_NETWORK: 'testnet' };
  const environment = { home, sandbox: { ...sandbox, url }, env };
  await run(['wallets'], environment);
  return environment;
}

async function run(args: readonly string[], environment: Environment): Promise<void> {
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
  await (args.length === 0 ? lookAtHome() : run(args, around));
  const lines = far.trips().requests.map(({ line, trip }) => ({ line, trip }));
  expect({ args, late: lines.filter(({ trip }) => trip > most) }).toEqual({ args, late: [] });
  const reads = lines.flatMap(({ line }) => (line.startsWith('GET') ? [line] : []));
  expect(reads).toEqual([...new Set(reads)]);
}

const slow = { retry: 2, timeout: 400_000 };

test(
  'svcpay pays within the expected number of round trips if a token is stored',
  slow,
  async () => {
    around = await signedIn(far.url);
    for (const command of await payments()) await count(command);
  },
);

test(
  'svcpay saves a round trip per payment over http because there is no TLS handshake',
  slow,
  async () => {
    const near = await startFarService(forwardTo(sandbox.url), tripMs, 'http');
    onTestFinished(() => near.stop());
    const environment = await signedIn(near.url);
    for (const { args, most } of await payments()) {
      near.reset();
      await run(args, environment);
      const lines = near.trips().requests.map(({ line, trip }) => ({ line, trip }));
      expect({ args, late: lines.filter(({ trip }) => trip > most - 1) }).toEqual({
        args,
        late: [],
      });
    }
  },
);

test(
  'svcpay reads within the expected number of round trips while payments are open',
  slow,
  async () => {
    const txnId = sandbox.requests('PUT').at(-1)?.path.split('/')[4] ?? '';
    for (const command of readingCommands(txnId)) await count(command);
  },
);

test('svcpay opens its connections before it parses the arguments, but not for help', async () => {
  far.reset();
  expect((await svcpay(['send', 'lightning', 'no-invoice', '--yes'], around)).exitCode).toBe(2);
  // The command can end before the service has taken its connections.
  await expect.poll(() => far.trips().handshakes).toBe(2);
  expect(far.trips().requests).toEqual([]);
  far.reset();
  await run(['send', 'lightning', '--help'], around);
  expect(far.trips().handshakes).toBe(0);
});

test('svcpay reopens a closed connection on the first key of an answer', async () => {
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

test('svcpay --debug logs the timing of each request and the total wait of the command', async () => {
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
