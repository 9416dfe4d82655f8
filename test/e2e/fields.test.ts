// A command with `--fields` refuses an unknown name before it changes anything, and declares
// exactly the fields that it prints.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Command } from '../../src/cli/define.js';
import type { Branch } from '../../src/cli/tree.js';
import { tree } from '../../src/cli/table.js';
import { pathsOf } from '../../src/terminal/rows/view.js';
import { svcpay } from '../support/in-process.js';
import { comesIn } from '../support/shapes.js';
import { test, type Environment, type Run } from '../support/svcpay.js';
import type { Sandbox } from '../../src/sandbox/server.js';

type Around = Environment & { readonly sandbox: Sandbox };

/**
 * Read-only commands refuse an unknown field only after they have read the data, because the data
 * may have more fields than declared.
 */
const looking = [
  '',
  'payout methods',
  'payout institutions',
  'batch status',
  'budget list',
  'budget recipe',
  'budget show',
  'contacts list',
  'contacts show',
  'wallets',
  'tx list',
  'tx explain',
  'propose status',
  'proposals',
  'proposals show',
  'proposals watch',
  'limits',
  'limits list',
  'statement totals',
  'tx get',
  'tx pending',
  'tx export',
  'rates',
  'statement',
  'account',
  'whoami',
  'profiles list',
  'config list',
  'config get',
  'config path',
  'db status',
  'db verify',
  'doctor',
  'completion',
  'help',
  'schema',
  'decode',
  'api',
  'webhook list',
  'webhook verify',
  'webhook sign',
  'webhook consumers list',
  'sandbox clock show',
  'sandbox status',
  'sandbox fault list',
  'sandbox log',
  'sandbox snapshot list',
  'sandbox deliveries',
  'mcp',
  'watch',
  'fees',
];

describe('svcpay --fields', () => {
  test('has a declared list of fields for every command that changes data', async () => {
    const unknown = [...(await commandsOf(tree, ''))]
      .filter(([, { changes }]) => !changes)
      .map(([path]) => path);
    expect(unknown.toSorted()).toEqual(looking.toSorted());
  });

  test('refuses an unknown name before the command changes anything', async ({ around }) => {
    const lines = [
      'config set sender.name Ada',
      'limits set --per-day 1000sat',
      'sandbox fund 1btc',
      'sandbox clock freeze',
    ];
    for (const line of lines) {
      const run = await svcpay([...line.split(' '), '--fields', 'nope', '--json'], around);
      expect([line, run.exitCode, run.stdout]).toEqual([line, 2, '']);
      expect(run.error().message).toMatch(/"nope" is not a field of this command/);
    }
    const asBefore = [{ availableBalance: 1 }, { frozen: false }];
    const now = [
      (await svcpay(['wallets', 'BTC', '--json'], around)).json(),
      (await svcpay(['sandbox', 'clock', 'show', '--json'], around)).json(),
    ];
    expect(now.flat()).toMatchObject(asBefore);
    const kept = await svcpay(['config', 'get', 'sender.name'], around);
    expect(kept.exitCode).toBe(5);
    const limits = await svcpay(['limits', 'list', '--json'], around);
    expect(limits.json()).toEqual([]);
  });

  test('offers exactly the fields that each command prints', async ({ around }) => {
    const commands = await commandsOf(tree, '');
    const findings: unknown[] = [];
    const covered = new Set<string>();
    for (const line of await printing(around)) {
      const path =
        [...commands.keys()].findLast(
          (each) => each !== '' && `${line.join(' ')} `.startsWith(`${each} `),
        ) ?? '';
      covered.add(path);
      const known = commands.get(path);
      const fields = known?.fields ?? [];
      const shown = await svcpay([...line, '--json'], around);
      const rows = printedBy(shown);
      const printed = rows.flatMap((row) =>
        typeof row === 'object' && row !== null ? pathsOf(row) : [],
      );
      const undeclared = [...new Set(printed)].filter((name) => !fields.includes(name));
      if (undeclared.length > 0) findings.push({ line: line.join(' '), undeclared });
      const all = await svcpay([...line, '--json', '--fields', fields.join()], around);
      const [row] = printedBy(all);
      const missing = fields.filter((name) => !Object.hasOwn(Object(row), name));
      // If the first run of a command removed an item, the second run exits with 5, because the
      // item no longer exists.
      if (all.exitCode === 5) continue;
      if (typeof row === 'string' || (row !== undefined && missing.length > 0))
        findings.push({ line: line.join(' '), row, missing: missing.slice(0, 6) });
    }
    expect(findings).toEqual([]);
    const declaring = [...commands].filter(([, { fields }]) => fields.length > 0);
    expect(declaring.map(([path]) => path).filter((path) => !covered.has(path))).toEqual(elsewhere);
  });
});

/**
 * Returns the rows that a command prints, even if the command fails because it found a difference.
 */
const printedBy = (run: Run): unknown[] => [run.stdout === '' ? run.stderr : run.json()].flat();

/**
 * Commands that this test omits: they run as servers, need a person, or share the fields of a
 * tested command.
 */
const elsewhere: readonly string[] = [
  'receive',
  'proposals pay',
  'proposals refuse',
  'proposals watch',
  'tx resolve',
  'statement adjust',
  'statement accounts init',
  'reconcile accept',
  'login',
  'db move',
  'db import',
  'webhook set',
  'webhook listen',
  'webhook consumers rename',
  'webhook consumers remove',
  'webhook replay',
  'sandbox start',
];

const person = [
  '--country=VN',
  '--institution=970436',
  '--acct-num=0123456789',
  '--acct-name=A',
  '--recipient-type=individual',
  '--recipient-name=A',
  '--recipient-country=VN',
];

/**
 * Returns command lines that print fields, in an order in which each of the command lines can run
 * twice in a row.
 */
async function printing(around: Around): Promise<readonly (readonly string[])[]> {
  const { sandbox } = around;
  const invoice = await sandbox.invoice('1000sat');
  const terms = ['--purpose=1', '--source=1', '--relationship=1', '--from=USDT'];
  const sender = ['--sender-type=individual', '--sender-name=B', '--sender-country=CA'];
  const file = join(around.home, 'event.json');
  writeFileSync(file, '{}');
  const rows = join(around.home, 'rows.csv');
  writeFileSync(rows, 'to,amount,ref\nann@example.com,1000sat,row-1\n');
  const only = async (...line: string[]) => (await svcpay([...line, '-q'], around)).stdout.trim();
  await only('webhook', 'set', 'https://shop.example/hooks', '--generate-secret', '--yes');
  const hook = await only('webhook', 'list');
  const signature = await only('webhook', 'sign', file);
  const deposit = await only('receive', 'address', 'btc');
  await only('send', 'carl@example.com', '1000sat', '--ref=quoted', '--quote-only');
  const most = '--max-total=30usdt';
  const proposed = await only(
    'propose',
    'send',
    'ann@example.com',
    '1000sat',
    '--max-total=2000sat',
  );
  const tron = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
  const address = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
  return [
    ['receive', 'lightning', '1000sat', '--ref=asked', '--no-wait'],
    ['receive', 'onchain', '0.001btc', '--ref=b', '--no-wait'],
    // In the live response format usdt-address-renamed, the address has a different name.
    ...(comesIn('usdt-address-renamed') ? [] : [['receive', 'address', 'usdt', '--chain', 'tron']]),
    ['receive', 'address', 'btc'],
    ['send', 'ann@example.com', '1000sat', '--ref=c', '--yes'],
    ['again', 'ann@example.com', '1000sat', '--ref=again', '--yes'],
    ['propose', 'send', 'ann@example.com', '1000sat', '--max-total=2000sat'],
    ['propose', 'swap', '10usdt', 'BTC', most],
    ['propose', 'payout', ...person, ...terms, ...sender, '--amount=50000vnd', most],
    ['propose', 'batch', rows, '--max-total=2000sat'],
    ['propose', 'status', proposed],
    ['proposals'],
    ['proposals', 'show', proposed],
    ['send', 'lightning', invoice, '--ref=i', '--yes'],
    ['send', 'lnurl', 'bob@example.com', '1000sat', '--ref=d', '--yes'],
    ['send', 'onchain', address, '2000sat', '--ref=e', '--yes', '--no-wait'],
    ['send', 'usdt', tron, '5usdt', '--ref=f', '--yes', '--no-wait'],
    ['tx', 'pending'],
    ['tx', 'resume', '--no-wait'],
    ['swap', '10usdt', 'BTC', '--ref=g', '--yes'],
    [
      'payout',
      ...person,
      ...terms,
      ...sender,
      '--amount=50000vnd',
      '--ref=h',
      '--yes',
      '--no-wait',
    ],
    ['budget', 'add', 'agent', '--per-day=5000sat', '--yes'],
    ['budget', 'list'],
    ['budget', 'show', 'agent'],
    ['budget', 'stop', 'agent'],
    ['budget', 'start', 'agent'],
    ['stop-all'],
    ['budget', 'remove', 'agent'],
    ['payout', 'methods'],
    ['payout', 'institutions', 'VN'],
    ['contacts', 'add', 'Ada', ...person, '--yes'],
    ['contacts', 'list'],
    ['contacts', 'show', 'Ada'],
    ['limits', 'set', '--per-day', '100000000sat', '--yes'],
    ['limits', 'allow', 'ann@example.com'],
    ['limits', 'list'],
    ['limits'],
    ['wallets'],
    ['reconcile'],
    ['fees'],
    ['tx', 'list'],
    ['tx', 'get', 'h'],
    ['tx', 'get', 'asked'],
    ['tx', 'explain', 'c'],
    ['tx', 'note', 'c', 'a note'],
    ['tx', 'watch', 'c'],
    ['tx', 'confirm', 'c', '--yes'],
    ['statement'],
    ['statement', 'totals'],
    ['rates'],
    ['account'],
    ['whoami'],
    ['profiles', 'list'],
    ['config', 'list'],
    ['config', 'get', 'base-url'],
    ['config', 'path'],
    ['db', 'status'],
    ['db', 'verify'],
    ['decode', invoice],
    ['decode', address],
    ['decode', tron],
    ['decode', 'ann@example.com'],
    ['decode', `bitcoin:${address}?amount=0.00001&label=A&message=B&lightning=${invoice}`],
    ['webhook', 'list'],
    ['webhook', 'consumers', 'list'],
    ['webhook', 'sign', file],
    ['sandbox', 'status'],
    ['sandbox', 'fund', '1btc'],
    ['sandbox', 'invoice', '1000sat'],
    ['sandbox', 'mine'],
    ['sandbox', 'clock', 'show'],
    ['sandbox', 'clock', 'advance', '1s'],
    ['sandbox', 'clock', 'freeze'],
    ['sandbox', 'clock', 'thaw'],
    ['sandbox', 'fault', 'add', 'status', 'status=429', 'path=/none', 'retryAfter=2s'],
    ['sandbox', 'fault', 'list'],
    ['sandbox', 'log'],
    ['sandbox', 'deliveries'],
    ['sandbox', 'snapshot', 'save', 'one'],
    ['sandbox', 'snapshot', 'list'],
    ['sandbox', 'snapshot', 'load', 'one'],
    ['sandbox', 'snapshot', 'remove', 'one'],
    ['sandbox', 'fault', 'clear'],
    ['sandbox', 'pay', deposit, '0.001btc'],
    ['batch', rows, '--yes'],
    ['batch', 'status', rows],
    ['batch', 'receipts', rows, '--folder', `${around.home}/advice`],
    ['tx', 'cancel', 'quoted'],
    ['statement', 'close', '2026-01', '--folder', around.home],
    ['doctor'],
    ['webhook', 'verify', '--signature', signature, file],
    ['webhook', 'update', hook, '--generate-secret', '--yes'],
    ['webhook', 'trigger', 'completed'],
    ['webhook', 'remove', hook, '--yes'],
    ['limits', 'disallow', 'ann@example.com', '--yes'],
    ['limits', 'clear', '--yes'],
  ];
}

/** Returns each command below a branch of the command tree, by the full name of the command. */
async function commandsOf(branch: Branch, path: string): Promise<ReadonlyMap<string, Command>> {
  const command = await branch.load?.();
  const below = await Promise.all(
    (branch.branches ?? []).map((each) => commandsOf(each, `${path} ${each.name}`.trim())),
  );
  return new Map([
    ...(command === undefined ? [] : [[path, command] as const]),
    ...below.flatMap((each) => [...each]),
  ]);
}
