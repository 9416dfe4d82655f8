// The deployment examples hold on this machine: units verify and run, containers' commands work on a read-only root, alerts
// ask for metrics that exist.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { openEventStore } from '../../src/store/events/sqlite-events.js';
import { createMetrics } from '../../src/webhooks/metrics.js';
import { environment, startSvcpay, svcpay, test } from '../support/svcpay.js';
import { until } from '../support/until.js';
import { deliver, startApplication, webhookSecret } from '../support/webhooks.js';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'examples/deploy');
const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');
const program = '/usr/local/bin/svcpay';

/** The words of every line of a unit that begins so. */
const linesOf = (unit: string, name: string): string[] =>
  [...textOf(`systemd/${unit}`).matchAll(new RegExp(`^${name}=-?(.*)$`, 'gm'))].map(
    ([, line = '']) => line,
  );

/** A command line of an example on ports of its own, to an application of the test. */
const adapted = (words: readonly string[], target: string, ready: string): string[] => [
  ...words.map((word, at) => {
    if (['--port', '--metrics'].includes(words[at - 1] ?? '')) return '0';
    return words[at - 1] === '--forward-to' ? target : word === '0.0.0.0' ? '127.0.0.1' : word;
  }),
  '--ready-file',
  ready,
];

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

describe('the systemd units', () => {
  test.skipIf(!hasSystemd)('pass systemd-analyze verify and its security score', ({ home }) => {
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
  });

  test('run the intended commands', async ({ around }) => {
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
    const [resume = [], pending = []] = linesOf('svcpay-resume.service', 'ExecStart').map((line) =>
      line.split(' '),
    );
    expect(await svcpay(resume.slice(1), { ...around, env })).toMatchObject({ exitCode: 0 });
    expect(await svcpay(pending.slice(1), { ...around, env })).toMatchObject({ exitCode: 0 });
  });
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

describe('the containers', () => {
  const { services }: { services: Record<string, ComposeService> } = parse(textOf('compose.yaml'), {
    merge: true,
  });
  const ours = Object.entries(services).filter(([, { image }]) => image === 'svcpay');

  test('of svcpay run without privileges, on a read-only root, and start after their database', () => {
    expect(ours.map(([name]) => name)).toEqual([
      'upgrade',
      'receiver-1',
      'receiver-2',
      'resume',
      'batch',
    ]);
    for (const [, service] of ours) {
      expect(service).toMatchObject({
        read_only: true,
        tmpfs: '/tmp',
        user: '10001:10001',
        cap_drop: ['ALL'],
      });
      expect(Object.keys(service.depends_on ?? {})).toHaveLength(1);
    }
    const names = Object.keys(services);
    expect(
      ours
        .flatMap(([, { depends_on = {} }]) => Object.keys(depends_on))
        .filter((name) => !names.includes(name)),
    ).toEqual([]);
  });

  test('have valid commands, and a health check that finds a receiver ready', async ({ home }) => {
    const lines = ours
      .flatMap(([, { command, entrypoint }]) => [command ?? [], entrypoint ?? []])
      .filter((words) => words.length > 0);
    const shell = lines
      .filter(([first]) => first === 'sh')
      .flatMap(([, , script = '']) =>
        [...script.matchAll(/svcpay ([^;]*)/g)].map(([, words = '']) => words.split(' ')),
      );
    const commands = [
      ...lines
        .filter(([first]) => first !== 'sh')
        .map((words) => words.filter((word) => word !== 'svcpay')),
      ...shell,
    ];
    expect(commands).toHaveLength(6);
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

  test('have an image that installs a working program', { timeout: 120_000 }, async ({ home }) => {
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
    expect(installed).toMatchObject({ status: 0, stdout: expect.stringContaining('"ccy":"BTC"') });
  });
});

describe('the alerts', () => {
  interface Rule {
    alert: string;
    expr: string;
    labels: { severity: string };
    annotations: { summary: string; action: string };
  }
  const { groups }: { groups: { rules: Rule[] }[] } = parse(textOf('prometheus-alerts.yaml'));
  const rules = groups.flatMap((group) => group.rules);
  const shape =
    /^(?:(?:max|min) without \(instance\) \((\w+(?:\{.*\})?)\)|increase\((\w+\{.*\})\[15m\]\)) [<>] \d+$/;

  test('use metrics and labels that a receiver serves, one of them for unresolved payments', async ({
    home,
  }) => {
    const store = openEventStore(join(home, 'events.db'), Date.now);
    onTestFinished(() => store.close());
    const page = await createMetrics().page({
      now: () => 1_000_000,
      backlog: async () => [{ consumer: 'http://app:3000/hook', count: 1, oldest: 0 }],
      unfinished: async () =>
        (['open', 'in-flight', 'unknown'] as const).map((status) => ({
          status,
          age: 'older',
          count: 1,
          oldest: 0,
        })),
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
    for (const { alert, expr, labels, annotations } of rules) {
      const [, gauge, counter] = shape.exec(expr) ?? [];
      const selector = gauge ?? counter ?? `not of the expected shape: ${expr}`;
      expect(page.body).toContain(selector.includes('{') ? `${selector} ` : selector);
      expect([alert, Object.keys(labels), Object.keys(annotations)]).toEqual([
        alert,
        ['severity'],
        ['summary', 'action'],
      ]);
    }
    expect(rules.find(({ alert }) => alert === 'PaymentUnresolved')?.expr).toContain(
      'svcpay_payments_oldest_seconds{status="unknown"}',
    );
  });

  test.skipIf(spawnSync('promtool', ['--version']).status !== 0)('pass promtool', () => {
    expect(
      spawnSync('promtool', ['check', 'rules', join(folder, 'prometheus-alerts.yaml')]).status,
    ).toBe(0);
  });
});
