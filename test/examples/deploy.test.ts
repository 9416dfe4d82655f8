// Runs the deployment examples on this machine: systemd units, container commands, the proxy, and
// the Prometheus alerts.
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { createMetrics } from '../../src/webhooks/metrics.js';
import { isInstalled } from '../support/installed.js';
import { runsAll } from '../support/part.js';
import { environment, startSvcpay, svcpay, test, type Environment } from '../support/svcpay.js';
import { until } from '../support/until.js';
import { deliver, startApplication, startListening, webhookSecret } from '../support/webhooks.js';

const root = resolve(import.meta.dirname, '../..');
const bin = join(root, 'bin/svcpay.js');
const folder = join(root, 'examples/deploy');
const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');
const program = '/opt/svcpay/bin/svcpay';

/** The values of all lines with this name in a systemd unit. */
const linesOf = (unit: string, name: string): string[] =>
  [...textOf(`systemd/${unit}`).matchAll(new RegExp(`^${name}=-?(.*)$`, 'gm'))].map(
    ([, line = '']) => line,
  );

/**
 * The command line of an example, with free ports, and with an application of the test as its
 * target.
 */
const adapted = (words: readonly string[], target: string, ready: string): string[] => [
  ...words.map((word, at) => {
    if (['--port', '--metrics'].includes(words[at - 1] ?? '')) return '0';
    return words[at - 1] === '--forward-to' ? target : word === '0.0.0.0' ? '127.0.0.1' : word;
  }),
  '--ready-file',
  ready,
];

/** Runs a shell command of an example in a folder, with the built program. */
const inShell = (script: string, folder: string, around: Environment): Promise<unknown> =>
  new Promise((done) =>
    spawn('sh', ['-ec', script.replaceAll(program, `'${process.execPath}' '${bin}'`)], {
      cwd: folder,
      env: environment(around),
      stdio: ['ignore', 'pipe', 'inherit'],
    }).on('close', done),
  );

describe('the example systemd units', () => {
  test.skipIf(!isInstalled('systemd-analyze'))(
    'pass systemd-analyze verify and reach the required security score',
    ({ home }) => {
      const executable = join(home, 'svcpay');
      writeFileSync(executable, '#!/bin/sh\n', { mode: 0o755 });
      const units = readdirSync(join(folder, 'systemd')).map((name) => join(home, name));
      for (const unit of units)
        writeFileSync(
          unit,
          textOf(`systemd/${unit.slice(home.length + 1)}`).replaceAll(program, executable),
        );
      const verified = spawnSync('systemd-analyze', ['verify', '--man=no', ...units], {
        encoding: 'utf8',
      });
      expect(verified).toMatchObject({ status: 0, stderr: '' });
      for (const service of units.filter((unit) => unit.endsWith('.service'))) {
        const checked = spawnSync(
          'systemd-analyze',
          ['security', '--offline=true', '--threshold=30', service],
          { encoding: 'utf8' },
        );
        expect(checked).toMatchObject({
          status: 0,
          stdout: expect.stringContaining('Overall exposure level'),
        });
      }
    },
  );

  test('run a working listener, tx resume and the metrics script', async ({ around }) => {
    const application = await startApplication(() => 200);
    const [listen = ''] = linesOf('svcpay-listen.service', 'ExecStart');
    const [, ...words] = listen.split(' ');
    const ready = join(around.home, 'ready.json');
    const env = {
      SVCPAY_WEBHOOK_SECRET: webhookSecret,
      SVCPAY_LOG_FORMAT: 'json',
      SVCPAY_NO_INPUT: '1',
    };
    const listener = startSvcpay(adapted(words, application.url, ready), { ...around, env });
    onTestFinished(() => void listener.child.kill('SIGKILL'));
    let urls = { url: '', metricsUrl: '' };
    await until(() => {
      urls = JSON.parse(readFileSync(ready, { encoding: 'utf8', flag: 'a+' }) || '{"url":""}');
      return urls.url !== '';
    });
    expect((await fetch(`${urls.url}/readyz`)).status).toBe(200);
    expect(await (await fetch(urls.metricsUrl)).text()).toContain('svcpay_database_up 1');
    expect(await deliver(urls.url, { txnId: 't1', txnState: 'completed', updatedAt: 1 })).toBe(200);
    await until(() => application.bodies.length === 1);
    listener.child.kill(linesOf('svcpay-listen.service', 'KillSignal')[0] as NodeJS.Signals);
    expect(await listener.ended).toMatchObject({ exitCode: 0 });
    const [resume = '', figures = '', pending = ''] = linesOf('svcpay-resume.service', 'ExecStart');
    for (const line of [resume, pending])
      expect(await svcpay(line.split(' ').slice(1), { ...around, env })).toMatchObject({
        exitCode: 0,
      });
    const [, script = ''] = /^\/bin\/sh -ec '(.*)'$/.exec(figures) ?? [];
    expect(await inShell(script, around.home, { ...around, env })).toBe(0);
    expect(readdirSync(around.home)).not.toContain('svcpay.new');
    const [verify = ''] = linesOf('svcpay-verify.service', 'ExecStart');
    const [, replay = ''] = /^\/bin\/sh -ec '(.*)'$/.exec(verify.replaceAll('$$', '$')) ?? [];
    expect(await inShell(replay, around.home, { ...around, env })).toBe(0);
    expect(readFileSync(join(around.home, 'svcpay-verify.prom'), 'utf8')).toContain(
      'svcpay_verify_differences 0',
    );
    expect(readFileSync(join(around.home, 'svcpay.prom'), 'utf8')).toContain(
      'svcpay_payments_oldest_seconds{status="unattended"} 0',
    );
  });
});

describe('the example unit of the receiver', () => {
  const unit = textOf('systemd/svcpay-listen.service');
  const [listen = ''] = linesOf('svcpay-listen.service', 'ExecStart');
  const outages = [
    ['its database refuses connections', 'postgres://owner@127.0.0.1:1/svcpay', 75],
    ['the name of its database cannot be resolved', 'postgres://owner@name.invalid/svcpay', 75],
    ['the address of its database is missing', '', 2],
  ] as const;
  test.runIf(runsAll).for(outages)(
    'restarts the receiver without a limit while %s',
    async ([_why, url, exit], { home }) => {
      const [, ...words] = listen.split(' ');
      const env = {
        SVCPAY_WEBHOOK_SECRET: webhookSecret,
        SVCPAY_DATABASE_URL: url,
        SVCPAY_DATABASE_ID: 'known',
      };
      const run = await svcpay(adapted(words, 'http://127.0.0.1:9/', join(home, 'ready')), {
        home,
        env,
      });
      expect(run.exitCode).toBe(exit);
      for (const line of ['Restart=always', 'RestartSec=5', 'StartLimitIntervalSec=0'])
        expect(unit).toContain(line);
      expect(unit).not.toMatch(/RestartPreventExitStatus|SuccessExitStatus/);
    },
  );
});

interface ComposeService {
  image: string;
  command?: string[];
  entrypoint?: string[];
  read_only?: boolean;
  tmpfs?: string;
  user?: string;
  cap_drop?: string[];
  healthcheck?: { test: string[] };
  depends_on?: Record<string, unknown>;
}

describe('the example containers', () => {
  const { services }: { services: Record<string, ComposeService> } = parse(textOf('compose.yaml'), {
    merge: true,
  });
  const ours = Object.entries(services).filter(([, { image }]) => image === 'svcpay');

  test('run svcpay without privileges on a read-only root and start after the database', () => {
    expect(ours.map(([name]) => name)).toEqual([
      'upgrade',
      'receiver-1',
      'receiver-2',
      'resume',
      'verify',
      'batch',
    ]);
    const names = Object.keys(services);
    const receiver = services['receiver-1'];
    expect(receiver).toMatchObject({ stop_grace_period: '25s' });
    expect(textOf('systemd/svcpay-listen.service')).toContain('TimeoutStopSec=25');
    const known = [...names, 'host.docker.internal', 'receiver-1', 'receiver-2', '127.0.0.1'];
    const named = ['compose.yaml', 'Caddyfile', 'prometheus.yaml', 'svcpay.env.example'].flatMap(
      (name) => [...textOf(name).matchAll(/(?:\/\/|@|['" ])([a-z][a-z0-9.-]*)(?=:\d|\/svcpay)/g)],
    );
    expect(named.map(([, host = '']) => host).filter((host) => !known.includes(host))).toEqual([]);
    for (const [, service] of ours) {
      expect(service).toMatchObject({
        read_only: true,
        tmpfs: '/tmp',
        user: '10001:10001',
        cap_drop: ['ALL'],
      });
      expect(Object.keys(service.depends_on ?? {})).toHaveLength(1);
    }
    expect(
      ours
        .flatMap(([, { depends_on = {} }]) => Object.keys(depends_on))
        .filter((name) => !names.includes(name)),
    ).toEqual([]);
  });

  test('have valid commands and a health check that detects a ready receiver', async ({ home }) => {
    const lines = ours
      .flatMap(([, { command, entrypoint }]) => [command ?? [], entrypoint ?? []])
      .filter((words) => words.length > 0);
    const shell = lines
      .filter(([first]) => first === 'sh')
      .flatMap(([, , script = '']) =>
        [...script.matchAll(/svcpay ([^;>]*)/g)].map(([, words = '']) => words.trim().split(' ')),
      );
    const commands = [
      ...lines
        .filter(([first]) => first !== 'sh')
        .map((words) => words.filter((word) => word !== 'svcpay')),
      ...shell,
    ];
    expect(commands).toHaveLength(8);
    for (const words of commands) {
      const options = words.filter((word) => word.startsWith('-'));
      const help = await svcpay(
        [...words.filter((word) => /^[a-z]+$/.test(word)).slice(0, 2), '--help'],
        { home },
      );
      expect(help.exitCode).toBe(0);
      const all = help.stdout + (await svcpay(['--help'], { home })).stdout;
      expect(options.filter((option) => !all.includes(option))).toEqual([]);
    }
    const ready = join(home, 'ready.json');
    const words = services['receiver-1']?.command ?? [];
    const listener = startSvcpay(adapted(words, 'http://127.0.0.1:9/', ready), {
      home,
      env: { SVCPAY_WEBHOOK_SECRET: webhookSecret },
    });
    onTestFinished(() => void listener.child.kill('SIGKILL'));
    let url = '';
    await until(() => {
      ({ url } = JSON.parse(readFileSync(ready, { encoding: 'utf8', flag: 'a+' }) || '{"url":""}'));
      return url !== '';
    });
    const [, file = '', ...args] = services['receiver-1']?.healthcheck?.test ?? [];
    const check = () =>
      new Promise((done) => {
        spawn(
          file,
          args.map((arg) => arg.replace('http://127.0.0.1:8080', url)),
          { env: environment({ home }) },
        ).on('close', done);
      });
    expect(await check()).toBe(0);
    listener.child.kill('SIGTERM');
    await listener.ended;
    expect(await check()).toBe(1);
  });

  // This test runs only in mode `all`, because the installation downloads every package.
  test.runIf(runsAll)(
    'use an image that installs a working program',
    { timeout: 120_000 },
    async ({ home }) => {
      const steps = textOf('Containerfile')
        .split('\n')
        .filter((line) => /^[A-Z]/.test(line))
        .map((line) => line.split(/ (.*)/s));
      const last = (name: string): string => steps.findLast(([step]) => step === name)?.[1] ?? '';
      expect([last('USER'), last('ENTRYPOINT'), last('COPY')]).toEqual([
        '10001:10001',
        '["svcpay"]',
        '--from=build /opt/svcpay /opt/svcpay',
      ]);
      const target = join(home, 'opt/svcpay');
      mkdirSync(target, { recursive: true });
      const runs = steps
        .filter(([step]) => step === 'RUN')
        .map(([, line = '']) => line.replace('/opt/svcpay', target));
      expect(runs).toHaveLength(1);
      const built = await new Promise((done) =>
        spawn('sh', ['-c', `set -e; ${runs.join('; ')}`], { cwd: root, stdio: 'ignore' }).on(
          'close',
          done,
        ),
      );
      expect(built).toBe(0);
      const [entry] = JSON.parse(last('ENTRYPOINT')) as string[];
      const installed = spawnSync(
        join(target, 'bin', entry ?? ''),
        ['--sandbox', 'wallets', '--json'],
        { encoding: 'utf8', env: environment({ home }) },
      );
      expect(installed).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('"ccy":"BTC"'),
      });
    },
  );
});

interface Situations {
  tests: { alert_rule_test: { alertname: string; exp_alerts: object[] }[] }[];
}

describe('the example Prometheus alerts', () => {
  interface Rule {
    alert: string;
    expr: string;
    labels: { severity: string };
    annotations?: { summary: string; action: string };
  }
  const rulesFile: { groups: { rules: Rule[] }[] } = parse(textOf('prometheus-alerts.yaml'));
  const rules = rulesFile.groups.flatMap((group) => group.rules);
  const situationsFile = join(import.meta.dirname, 'alerts.yaml');
  const situations: Situations = parse(readFileSync(situationsFile, 'utf8'));

  test('use only existing metrics, labels and jobs, and describe an action', async ({ around }) => {
    const page = await svcpay(['db', 'status', '-o', 'prometheus'], around);
    const receiver = await createMetrics().page({
      backlog: async () => [
        { consumer: 'app', count: 1, oldest: 0, oldestSeconds: 1, servedSeconds: 1 },
      ],
      unfinished: () => Promise.resolve([]),
      mayPay: () => Promise.resolve(),
      totals: () => ({
        received: 0,
        wrongSignatures: 0,
        refused: 0,
        unwritten: 0,
        duplicates: 0,
        outOfOrder: 0,
        exits: new Map(),
        consumers: [],
      }),
    });
    const verified = await svcpay(['db', 'verify', '-o', 'prometheus'], around);
    const served = `${page.stdout}${verified.stdout}${receiver.body}`;
    for (const { alert, expr, labels, annotations } of rules) {
      for (const [, metric = '', label, , value = ''] of expr.matchAll(
        /(svcpay_\w+)(?:\{(\w+)(=~?)"([^"]*)"\})?/g,
      ))
        for (const each of value.split('|'))
          expect(served).toContain(label === undefined ? metric : `${metric}{${label}="${each}"`);
      expect([alert, Object.keys(labels), Object.keys(annotations ?? {})]).toEqual([
        alert,
        ['severity'],
        ['summary', 'action'],
      ]);
    }
    const jobs = [...textOf('prometheus.yaml').matchAll(/job_name: (\w+)/g)].map(([, job]) => job);
    expect(jobs).toEqual(['svcpay', 'node']);
    expect(rules.filter(({ expr }) => expr.includes('job="svcpay"'))).toHaveLength(1);
  });

  test('each have a test case in which they fire and a test case in which they stay silent', () => {
    const tried = situations.tests.flatMap((each) => each.alert_rule_test);
    const inSome = (alert: string, fires: boolean): boolean =>
      tried.some((each) => each.alertname === alert && each.exp_alerts.length > 0 === fires);
    expect(rules.filter(({ alert }) => !inSome(alert, true) || !inSome(alert, false))).toEqual([]);
  });

  test.skipIf(!isInstalled('promtool'))('fire only in the expected test cases', ({ home }) => {
    expect(spawnSync('promtool', ['check', 'config', join(folder, 'prometheus.yaml')]).status).toBe(
      0,
    );
    for (const rule of rules) delete rule.annotations;
    writeFileSync(join(home, 'prometheus-alerts.yaml'), stringify(rulesFile));
    copyFileSync(situationsFile, join(home, 'alerts.yaml'));
    const tested = spawnSync('promtool', ['test', 'rules', 'alerts.yaml'], {
      cwd: home,
      encoding: 'utf8',
    });
    expect(tested).toMatchObject({ status: 0, stderr: '' });
  });
});

const caddyVersion = spawnSync('caddy', ['version'], { encoding: 'utf8' }).stdout ?? '';
const isOldCaddy = /^v?2\.[0-6]\./.test(caddyVersion);

describe('the example proxy', () => {
  test.skipIf(!isInstalled('caddy'))(
    'accepts every delivery while one of two receivers is down',
    { timeout: 60_000 },
    async ({ home }) => {
      const start = (port = '0') => startListening(['--port', port], { home });
      const [first, second] = [await start(), await start()];
      const proxy = await startProxy(home, [first.url, second.url]);
      const all = async (from: number): Promise<number[]> =>
        Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            deliver(proxy, { txnId: `t${from + n}`, txnState: 'completed', updatedAt: 1 }),
          ),
        );
      const taken = Array<number>(20).fill(200);
      expect(await all(0)).toEqual(taken);
      first.child.kill('SIGKILL');
      await first.ended;
      // Caddy before 2.7 loses the body of a retried request, so the test waits for the health
      // check.
      if (isOldCaddy) await delay(5_000);
      expect(await all(20)).toEqual(taken);
      if (isOldCaddy) return;
      second.child.kill('SIGKILL');
      await second.ended;
      const waiting = all(40);
      const again = await start(new URL(second.url).port);
      expect(await waiting).toEqual(taken);
      again.child.kill('SIGTERM');
      await again.ended;
    },
  );
});

/** Starts Caddy with the file of the example on a free port; resolves with its address. */
async function startProxy(home: string, receivers: readonly string[]): Promise<string> {
  const port = await freePort();
  const hosts = receivers.map((url) => new URL(url).host);
  const text = ['receiver-1:8080', 'receiver-2:8080'].reduce(
    (file, name, at) => file.replace(name, hosts[at] ?? ''),
    textOf('Caddyfile'),
  );
  writeFileSync(
    join(home, 'Caddyfile'),
    `{\n\tadmin off\n}\n${isOldCaddy ? inOldWords(text) : text}`,
  );
  const caddy = spawn('caddy', ['run', '--config', join(home, 'Caddyfile')], {
    env: { ...environment({ home }), HOME: home, HOOK_HOST: `http://127.0.0.1:${port}` },
    stdio: 'ignore',
  });
  onTestFinished(() => void caddy.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}`;
  await until(() =>
    fetch(`${url}/healthz`).then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  return url;
}

/** Replaces the directive request_buffers, which has another name before Caddy 2.7. */
const inOldWords = (text: string): string =>
  text.replace('request_buffers 1MiB', 'buffer_requests\n\t\tmax_buffer_size 1MiB');

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(address !== null && typeof address === 'object' ? address.port : 0));
    });
  });
}
