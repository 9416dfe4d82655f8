// Counts the sequential round trips of each command to a distant service. Unlike the run time, the
// number of round trips does not depend on the machine.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { readCommandLine } from '../../src/cli/program.js';
import type { Sandbox } from '../../src/sandbox.js';
import { payingCommands, readingCommands, type FarCommand } from '../support/far-commands.js';
import { forwardTo, startFarService, type FarService } from '../support/far-service.js';
import { startCheckedSandbox } from '../support/openapi.js';
import { svcpay, svcpayTty, type Environment } from '../support/svcpay.js';
import { runsAll } from '../support/part.js';

/**
 * The simulated time of a round trip, in ms. Without the simulated delay, a whole command usually
 * takes less time than one round trip, so the test counts requests that are sent together as one
 * round trip. On a machine that is suddenly busy, the test may count too many round trips, so the
 * test runs the command again with a longer round trip.
 */
let tripMs = 100;
const farther = [1, 3, 9];

let sandbox: Sandbox;
let far: FarService;
let around: Environment;

beforeAll(async () => {
  sandbox = await startCheckedSandbox({ autoPay: 'off' });
  const startedAt = performance.now();
  await svcpay(['--sandbox', 'wallets'], { home: mkdtempSync(join(tmpdir(), 'near-home-')) });
  tripMs = Math.min(300, Math.max(tripMs, performance.now() - startedAt));
  far = await startFarService(forwardTo(sandbox.url), tripMs);
});
afterAll(async () => {
  await far.stop();
  await sandbox.stop();
});

let rounds = 0;

/** Returns commands that pay, with new orders on each call. */
const payments = (): Promise<readonly FarCommand[]> =>
  payingCommands(() => sandbox.invoice('1000sat'), `-${(rounds += 1)}`);

/** Creates a home in which a token of the service is stored. */
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

interface From {
  readonly service: FarService;
  readonly environment: Environment;
  /** The number of round trips that the test subtracts from the maximum of each command. */
  readonly saved?: number;
}

/**
 * Checks that each command needs at most its maximum of round trips. If a command exceeds this
 * maximum, the test runs the command again with a longer round trip and, if the command pays, with
 * a new payment.
 */
async function expectTrips(
  orders: () => Promise<readonly FarCommand[]>,
  { service, environment, saved = 0 }: From,
): Promise<void> {
  let commands = await orders();
  for (const [at, { name, most }] of commands.entries())
    for (const times of farther) {
      service.moveTo(tripMs * times);
      const requests = await requestsOf(commands[at]?.args ?? [], service, environment);
      const late = requests.filter(({ trip }) => trip > most - saved);
      if (late.length === 0) break;
      if (times === farther.at(-1)) expect({ name, late }).toEqual({ name, late: [] });
      commands = await orders();
    }
  service.moveTo(tripMs);
}

/**
 * Returns each request of a command with the number of its round trip. Fails the test if the
 * command sends the same read twice, or if it opens a connection later than its first connections,
 * because the handshake of the later connection may take the time of two round trips.
 */
async function requestsOf(args: readonly string[], service: FarService, environment: Environment) {
  service.reset();
  await (args.length === 0 ? lookAtHome() : run(args, environment));
  const requests = service.trips().requests.map(({ line, trip }) => ({ line, trip }));
  const reads = requests.flatMap(({ line }) => (line.startsWith('GET') ? [line] : []));
  expect(reads).toEqual([...new Set(reads)]);
  // The home screen reads each open payment on its own connection.
  const connections = readCommandLine(args).path.at(-1)?.connections ?? Infinity;
  expect(service.trips().handshakes).toBeLessThanOrEqual(connections);
  return requests;
}

test('svcpay pays within the expected number of round trips if a token is stored', async () => {
  around = await signedIn(far.url);
  await expectTrips(payments, { service: far, environment: around });
});

test.runIf(runsAll)(
  'svcpay pays over http in one round trip fewer than over https, because http needs no TLS handshake',
  async () => {
    const near = await startFarService(forwardTo(sandbox.url), tripMs, 'http');
    onTestFinished(() => near.stop());
    const environment = await signedIn(near.url);
    await expectTrips(payments, { service: near, environment, saved: 1 });
  },
);

test('svcpay runs each read command in the expected number of round trips while payments are open', async () => {
  const txnId = sandbox.requests('PUT').at(-1)?.path.split('/')[4] ?? '';
  const reads = () => Promise.resolve(readingCommands(txnId));
  await expectTrips(reads, { service: far, environment: around });
});

test('svcpay opens its connections before it parses the arguments, except for --help', async () => {
  far.reset();
  expect((await svcpay(['send', 'lightning', 'no-invoice', '--yes'], around)).exitCode).toBe(2);
  // The command may end before the service has accepted all connections.
  await expect.poll(() => far.trips().handshakes).toBe(3);
  expect(far.trips().requests).toEqual([]);
  far.reset();
  await run(['send', 'lightning', '--help'], around);
  expect(far.trips().handshakes).toBe(0);
});

test('svcpay reopens a closed connection when a person begins to type an answer', async () => {
  const tty = svcpayTty(['send', 'lightning', await sandbox.invoice('1000sat'), '--no-wait'], {
    ...around,
    columns: 100,
  });
  await tty.waitFor('(y/N)');
  far.cut();
  await expect.poll(() => far.connections()).toBe(0);
  far.reset();
  tty.type('y');
  // If the command notices the closed connection only after the first key press, a later key press
  // reopens the connection.
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
