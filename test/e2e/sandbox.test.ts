// Tests svcpay sandbox: its state, its clock, its faults, and commands that run with their own
// sandbox.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { makeCertificate } from '../support/certificate.js';
import { svcpay } from '../support/in-process.js';
import { startReceiver } from '../support/receiver.js';
import { startSvcpay, svcpay as started, svcpayTty, test } from '../support/svcpay.js';

const node = process.execPath;

test('svcpay sandbox reset seeds two years of transactions and leaves money in every wallet', async ({
  home,
}) => {
  const reset = ['--sandbox', 'sandbox', 'reset', '--seed', 'history', '--months', '24', '--yes'];
  expect(await svcpay(reset, { home })).toMatchObject({ exitCode: 0 });
  const wallets = await svcpay(['--sandbox', 'wallets', '--json'], { home });
  const amounts = [wallets.json()].flat().map((wallet) => Number(Object(wallet).amount) > 0);
  expect(amounts).toEqual([true, true, true, true, true]);
});

describe('svcpay sandbox run', () => {
  test('passes options after the command on to the command', async ({ home }) => {
    const run = await started(['sandbox', 'run', '--auto-pay', 'off', '-q', node, '--version'], {
      home,
    });
    expect(run).toMatchObject({ exitCode: 0, stdout: `${process.version}\n` });
  });

  test('ends with the exit code of the command and stops the sandbox', async ({ home }) => {
    const script = `
      const { SVCPAY_BASE_URL: url, SVCPAY_API_KEY: key, SVCPAY_API_SECRET: secret } = process.env;
      const { accountId } = await (await fetch(url + '/_sandbox/status')).json();
      const unread = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"n":"two"}' };
      const { message } = await (await fetch(url + '/_sandbox/mine', unread)).json();
      console.log(JSON.stringify({ url, key, secret, accountId, message, args: process.argv.slice(1) }));
      process.exit(7);`;
    const run = await started(
      [
        'sandbox',
        'run',
        '--seed',
        'empty',
        '--',
        node,
        '--input-type=module',
        '-e',
        script,
        '--',
        '--json',
        'x y',
      ],
      { home, env: { SVCPAY_ACCOUNT: 'ne01-elsewhere' } },
    );
    expect([run.exitCode, run.stderr]).toEqual([7, '']);
    const printed = JSON.parse(run.stdout);
    // The message says "number" instead of the name of a class, because the build renames classes.
    expect(printed).toMatchObject({
      key: expect.stringMatching(/^sandbox_/),
      message: 'n must be a number',
      args: ['--json', 'x y'],
    });
    await expect(fetch(printed.url)).rejects.toThrow('fetch failed');
  });

  test('forwards SIGTERM to the command and ends with the exit code of the command', async ({
    home,
  }) => {
    const script = `process.on('SIGTERM', () => setTimeout(() => process.exit(42), 50));
      console.log('ready'); setInterval(() => {}, 1000);`;
    const running = startSvcpay(['sandbox', 'run', '--', node, '-e', script], { home });
    await expect.poll(running.stdout).toContain('ready');
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ exitCode: 42 });
  });

  test('delivers Ctrl-C at a terminal to the command exactly once', async ({ home }) => {
    const script = `let heard = 0; process.on('SIGINT', () => { heard += 1; });
      process.on('SIGUSR1', () => { console.log('heard ' + heard); process.exit(0); });
      console.log('pid ' + process.pid); setInterval(() => {}, 1000);`;
    const tty = svcpayTty(['sandbox', 'run', '--', node, '-e', script], { home });
    await tty.waitFor(/pid \d+/);
    tty.type('\x03');
    await tty.waitFor('^C');
    process.kill(Number(/pid (\d+)/.exec(tty.text())?.[1]), 'SIGUSR1');
    await tty.waitFor('heard 1');
    expect(await tty.ended).toBe(0);
  });

  test.for([
    ['a command line without a command', [], 'COMMAND'],
    ['an unknown command', ['--', 'no-such-command'], 'Command no-such-command was not found'],
    [
      'a missing certificate file',
      ['--webhook-ca', 'missing.pem', '--', 'true'],
      'missing.pem cannot be read',
    ],
  ] as const)('refuses %s and explains the mistake', async ([, args, message], { home }) => {
    const run = await svcpay(['sandbox', 'run', ...args], { home });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toContain(message);
  });
});

describe('svcpay sandbox', () => {
  test('acts on the embedded sandbox even if a real service is configured', async ({ home }) => {
    const env = { SVCPAY_BASE_URL: 'https://wallet.example', SVCPAY_ACCOUNT: 'ne01-real' };
    const funded = await svcpay(['sandbox', 'fund', '1btc', '-q'], { home, env });
    expect(funded).toMatchObject({ exitCode: 0, stdout: '2\n' });
    expect(await svcpay(['webhook', 'trigger', 'completed'], { home, env })).toMatchObject({
      exitCode: 2,
      stdout: '',
    });
  });

  test('freezes the clock and advances the frozen clock', async ({ around }) => {
    const frozen = (await svcpay(['sandbox', 'clock', 'freeze', '--json'], around)).json();
    expect(frozen).toEqual({ now: expect.any(Number), frozen: true });
    const { now } = Object(frozen);
    expect((await svcpay(['sandbox', 'clock', 'advance', '2h', '-q'], around)).stdout).toBe(
      `${now + 7_200_000}\n`,
    );
    const status = await svcpay(['sandbox', 'status', '--json'], around);
    expect(status.json()).toMatchObject({
      clock: { now: now + 7_200_000, frozen: true },
      autoPay: 'off',
      faults: 0,
    });
  });

  test('injects a fault once and reports the injected fault in the log and in the list of faults', async ({
    around,
  }) => {
    const pattern = '/api/v2/account/*/wallet/';
    const add = ['sandbox', 'fault', 'add', 'status', 'status=403', `path=${pattern}`];
    const added = await svcpay([...add, '-o', 'table'], around);
    expect(added.stdout).toBe(`  Fault 1: status 403 applies to ${pattern}, once.\n`);
    expect(await svcpay(['wallets'], around)).toMatchObject({ exitCode: 4, stdout: '' });
    expect((await svcpay(['wallets'], around)).exitCode).toBe(0);
    const log = await svcpay(
      ['sandbox', 'log', '--method', 'GET', '--json', '--fields', 'status,fault'],
      around,
    );
    expect(log.json()).toEqual([
      { status: 403, fault: 'status' },
      { status: 200, fault: null },
    ]);
    expect((await svcpay(['sandbox', 'fault', 'list', '--json'], around)).json()).toMatchObject([
      { id: 1, applied: 1, spent: true },
    ]);
    expect((await svcpay(['sandbox', 'fault', 'clear', '--json'], around)).json()).toEqual([]);
  });

  test.for([
    [
      'a latency fault without a delay',
      ['latency'],
      3,
      'delay: this kind of fault requires this field',
    ],
    [
      'a truncate fault with a status',
      ['truncate', 'status=500'],
      3,
      'status: this kind of fault has only the fields nth, times, method, path',
    ],
    ['an unknown kind of fault', ['fire'], 2, 'is not one of'],
    ['a fault with an invalid number of times', ['truncate', 'times=often'], 3, 'times'],
    ['a fault whose field has no value', ['truncate', 'times'], 2, 'a field such as times=3'],
    ['a fault with an invalid body', ['status', 'status=500', 'body={'], 2, 'body must be JSON'],
  ] as const)('refuses %s', async ([, args, exit, message], { around }) => {
    const run = await svcpay(['sandbox', 'fault', 'add', ...args], around);
    expect(run).toMatchObject({ exitCode: exit, stdout: '' });
    expect(run.stderr).toContain(message);
  });

  test('saves and loads snapshots of the embedded sandbox', async ({ home }) => {
    const sandbox = (...args: string[]) => svcpay(['--sandbox', ...args], { home });
    await sandbox('sandbox', 'snapshot', 'save', 'before');
    expect((await sandbox('swap', '25', 'USDT', 'BTC', '--yes')).exitCode).toBe(0);
    expect((await sandbox('sandbox', 'snapshot', 'load', 'before')).exitCode).toBe(0);
    expect((await sandbox('tx', 'list', '--since', '1h', '--json')).json()).toEqual([]);
    expect((await sandbox('sandbox', 'snapshot', 'list', '-q')).stdout).toBe('before\n');
    expect(await sandbox('sandbox', 'snapshot', 'load', 'after')).toMatchObject({
      exitCode: 5,
      stdout: '',
    });
  });

  test('drops the response to a confirmation, and svcpay swap still completes once', async ({
    home,
  }) => {
    const sandbox = (...args: string[]) => svcpay(['--sandbox', ...args], { home });
    await sandbox('sandbox', 'fault', 'add', 'drop-after-commit', 'path=**/confirm');
    const run = await sandbox('swap', '25', 'USDT', 'BTC', '--yes', '--json');
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({ txnState: 'completed' });
    const listed = await sandbox('tx', 'list', '--since', '1h', '-q');
    expect(listed.stdout.trim().split('\n')).toHaveLength(1);
  });

  test('accepts a reference instead of a transaction id in sandbox pay', async ({ home }) => {
    const sandbox = (...args: string[]) => svcpay(['--sandbox', ...args], { home });
    await sandbox('receive', 'onchain', '0.001btc', '--ref', 'rent', '--no-wait', '-q');
    expect((await sandbox('sandbox', 'pay', 'rent', '-q')).stdout).toBe(
      (await sandbox('tx', 'get', 'rent', '-q')).stdout,
    );
    expect(await sandbox('sandbox', 'deliveries', '--txn', 'rent', '--json')).toMatchObject({
      exitCode: 0,
      stdout: '[]\n',
    });
    expect(await sandbox('sandbox', 'pay', 'lease')).toMatchObject({ exitCode: 3, stdout: '' });
  });

  test('delivers webhooks over https to a receiver that --webhook-ca trusts', async ({
    home,
    onTestFinished,
  }) => {
    const tls = makeCertificate(home);
    const receiver = await startReceiver({
      key: readFileSync(tls.key, 'utf8'),
      cert: readFileSync(tls.cert, 'utf8'),
    });
    onTestFinished(() => receiver.close());
    const own = ['--port', '0', '--file', join(home, 'own.db'), '--webhook-ca', tls.cert];
    const server = startSvcpay(['sandbox', 'start', ...own, '--json'], { home });
    await expect.poll(server.stdout).toContain('\n');
    const around = { home, sandbox: JSON.parse(server.stdout()) };
    await svcpay(['webhook', 'set', receiver.url, '--secret-stdin'], {
      ...around,
      input: 'secret',
    });
    await svcpay(['webhook', 'trigger', 'completed', '--ref', 'order-1'], around);
    await expect.poll(receiver.states).toEqual(['completed']);
    const delivered = async (...args: string[]) =>
      (await svcpay(['sandbox', 'deliveries', '--json', ...args], around)).json();
    await expect
      .poll(() => delivered())
      .toMatchObject([{ id: 1, status: 'delivered', attempts: [{ status: 200 }] }]);
    await delivered('--replay', '1');
    await expect.poll(receiver.states).toEqual(['completed', 'completed']);
    server.child.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
