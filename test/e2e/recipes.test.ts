// Runs the recipes of svcpay budget recipe as far as a machine without systemd and a CI service
// can, and svcpay mcp --connect.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { startAgent } from '../support/agent.js';
import { startOnStreams, svcpay } from '../support/in-process.js';
import { isInstalled } from '../support/installed.js';
import { environment, test, type Environment } from '../support/svcpay.js';
import { until } from '../support/until.js';

const run = promisify(execFile);
const bin = resolve(import.meta.dirname, '../../bin/svcpay.js');

async function recipe(place: string, { home }: Environment): Promise<string> {
  const run = await svcpay(['budget', 'recipe', 'agent', '--for', place], { home });
  expect(run).toMatchObject({ exitCode: 0, stderr: '' });
  expect(run.stdout).toMatch(/^# (Run by our tests|Not tried here)/);
  return run.stdout;
}

/** The files that the script of a recipe writes. */
const filesIn = (script: string): [name: string, content: string][] =>
  [...script.matchAll(/^cat > (\S+) <<'END'\n([^]*?)^END$/gm)].map(
    ([, path = '', content = '']) => [path.replace(/.*\//, ''), content],
  );

/** Writes a program `svcpay` into the folder `bin` of the home, and returns the folder. */
function programIn(home: string): string {
  const folder = join(home, 'bin');
  mkdirSync(folder);
  const script = `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`;
  writeFileSync(join(folder, 'svcpay'), script, { mode: 0o755 });
  return folder;
}

const limits = ['budget', 'add', 'agent', '--per-day', '5000sat'];

test.skipIf(!isInstalled('systemd-analyze'))(
  'systemd-analyze accepts the units of the systemd recipe',
  async ({ home }) => {
    const files = filesIn(await recipe('systemd', { home }));
    expect(files.map(([name]) => name)).toEqual(['svcpay-agent.socket', 'svcpay-agent@.service']);
    for (const [name, content] of files) writeFileSync(join(home, name), content);
    const units = ['svcpay-agent.socket', 'svcpay-agent@1.service'].map((name) => join(home, name));
    const run = spawnSync('systemd-analyze', ['verify', '--man=no', ...units], {
      encoding: 'utf8',
    });
    expect(run).toMatchObject({ status: 0, stderr: '' });
  },
);

test.skipIf(!isInstalled('systemd-socket-activate'))(
  'an agent pays through the socket of the systemd recipe, up to the budget',
  async ({ home, sandbox }) => {
    const around = { home, sandbox };
    expect(await svcpay(limits, around)).toMatchObject({ exitCode: 0 });
    const [, service = ''] = filesIn(await recipe('systemd', { home })).at(1) ?? [];
    const command = (/^ExecStart=(.*)$/m.exec(service)?.[1] ?? '').split(' ');
    const socket = join(home, 'agent.sock');
    const given = environment(around);
    const env = { ...given, PATH: `${programIn(home)}:${given['PATH']}` };
    const passed = Object.entries(env).flatMap(([name, value]) => ['-E', `${name}=${value}`]);
    const listen = ['--accept', '--inetd', '-l', socket, ...passed, ...command];
    const server = spawn('systemd-socket-activate', listen, { stdio: 'ignore' });
    onTestFinished(() => void server.kill());
    await until(() => existsSync(socket));
    const strangers = join(home, 'agent');
    const { call } = await startAgent(['--connect', socket], { home: strangers });
    const paid = await call('pay', { destination: 'ada@example.com', amount: '1000sat', ref: 'a' });
    expect(paid).toMatchObject({ isError: false, content: { extRefId: 'a' } });
    const over = await call('pay', { destination: 'bob@example.com', amount: '4500sat', ref: 'b' });
    expect(over.content.error).toMatchObject({ kind: 'limit' });
    expect(existsSync(strangers)).toBe(false);
  },
);

test('svcpay mcp --connect passes bytes both ways until the server closes', async ({ home }) => {
  const path = join(home, 'server.sock');
  let received = '';
  const answer = (connection: Socket): void =>
    void connection.on('data', (bytes) => {
      received += String(bytes);
      if (received.endsWith('\n')) connection.end(received.toUpperCase());
    });
  const server = createServer(answer).listen(path);
  onTestFinished(() => void server.close());
  const { input, output, ended } = startOnStreams(['mcp', '--connect', path], { home });
  let printed = '';
  output.on('data', (bytes) => (printed += String(bytes)));
  input.write('one ');
  input.write('two\n');
  expect(await ended).toBe(0);
  expect(printed).toBe('ONE TWO\n');
});

test('svcpay mcp --connect reports that nothing listens at the socket', async ({ home }) => {
  const path = join(home, 'none.sock');
  const run = await svcpay(['mcp', '--connect', path, '--json'], { home });
  expect(run).toMatchObject({ exitCode: 75, stdout: '' });
  expect(run.error().message).toContain(`No svcpay mcp answers at ${path} (ENOENT)`);
});

interface Workflow {
  readonly jobs: Readonly<
    Record<string, { steps: { run: string; env?: Record<string, string> }[] }>
  >;
}

test('the jobs of the ci recipe propose, pay the proposal once, and spend within the budget', async ({
  home,
  sandbox,
}) => {
  const around = { home, sandbox, env: { SVCPAY_NETWORK: 'testnet' } };
  expect(await svcpay(limits, around)).toMatchObject({ exitCode: 0 });
  const path = `${programIn(home)}:${process.env['PATH']}`;
  const workflow: Workflow = parse(await recipe('ci', { home }), { merge: true });
  const outputs: Record<string, string> = {};
  const job = async (name: string, place: Environment): Promise<string> => {
    const folder = join(home, name);
    mkdirSync(folder, { recursive: true });
    const [step] = workflow.jobs[name]?.steps ?? [];
    const own = Object.entries(step?.env ?? {}).map(([key, value]) => [
      key,
      value.replace(
        /^\$\{\{ needs\.plan\.outputs\.(\w+) \}\}$/,
        (_, each: string) => outputs[each] ?? '',
      ),
    ]);
    const file = join(folder, 'output');
    const env = {
      ...environment(place),
      PATH: path,
      GITHUB_OUTPUT: file,
      ...Object.fromEntries(own),
    };
    const options = { cwd: folder, env, encoding: 'utf8' } as const;
    const { stdout } = await run('sh', ['-ec', step?.run ?? ''], options);
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    for (const line of lines) outputs[line.replace(/=.*/, '')] = line.replace(/^\w+=/, '');
    return stdout;
  };
  expect(await job('plan', { home: join(home, 'planner'), env: around.env })).toMatch(
    /ID of the proposal is [0-9a-f]{64}/,
  );
  expect(JSON.parse(await job('pay', around))).toMatchObject([
    { extRefId: `proposal:${outputs['id']}` },
  ]);
  await job('pay', around);
  expect(sandbox.requests('PUT')).toHaveLength(1);
  expect(JSON.parse(await job('within-budget', around))).toMatchObject({ extRefId: 'order-118' });
  const shown = await svcpay(['budget', 'show', 'agent', '--json'], around);
  expect(shown.json()).toMatchObject({ spentTotal: [{ ccy: 'BTC' }] });
});
