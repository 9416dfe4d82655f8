// `--fields` of commands that change something: a wrong name is refused before it is done, and the names are those that come.
import { describe, expect } from 'vitest';
import type { Branch, Command } from '../../src/cli/define.js';
import { tree } from '../../src/cli/table.js';
import { pathsOf } from '../../src/terminal/rows/fields.js';
import { svcpay } from '../support/in-process.js';
import { comesIn } from '../support/shapes.js';
import { test } from '../support/svcpay.js';

/** They only look, so that nothing is lost when a name is refused by what they have found: it may have more than is known. */
const looking = [
  '',
  'payout methods',
  'payout institutions',
  'recipients list',
  'wallets',
  'tx list',
  'tx get',
  'tx pending',
  'tx export',
  'rates',
  'statement',
  'account',
  'history',
  'whoami',
  'profiles list',
  'config list',
  'config get',
  'config path',
  'db status',
  'doctor',
  'completion',
  'help',
  'schema',
  '__generate',
  'decode',
  'api',
  'webhook list',
  'webhook verify',
  'webhook sign',
  'sandbox status',
  'sandbox log',
  'sandbox deliveries',
  'mcp',
  'watch',
];

describe('--fields', () => {
  test('are checked before a command acts', async () => {
    const unknown = [...(await commandsOf(tree, ''))]
      .filter(([, { fields }]) => fields === undefined)
      .map(([path]) => path);
    expect(unknown.toSorted()).toEqual(looking.toSorted());
  });

  test('with a wrong name change nothing', async ({ around }) => {
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

  const person = [
    '--country',
    'VN',
    '--institution',
    '970436',
    '--acct-num',
    '0123456789',
    '--acct-name',
    'A',
    '--recipient-type',
    'individual',
    '--recipient-name',
    'A',
    '--recipient-country',
    'VN',
  ];
  const done: readonly string[][] = [
    ['sandbox', 'fund', '1btc'],
    ['sandbox', 'invoice', '1000sat'],
    ['sandbox', 'mine'],
    ['sandbox', 'clock', 'show'],
    [
      'sandbox',
      'fault',
      'add',
      'status',
      '--status',
      '429',
      '--path',
      '/none',
      '--retry-after',
      '2s',
    ],
    ['sandbox', 'snapshot', 'save', 'one'],
    // The record of the service, whose name for the address is another in some.
    ...(comesIn('usdt-address-renamed') ? [] : [['receive', 'address', 'usdt', '--chain', 'tron']]),
    ['limits', 'set', '--per-day', '1000sat'],
    ['recipients', 'add', 'Ada', ...person],
    ['webhook', 'set', 'https://shop.example/hooks', '--generate-secret', '--yes'],
  ];
  test('are the field names of the answer', async ({ around }) => {
    const commands = await commandsOf(tree, '');
    for (const line of done) {
      const answer = (await svcpay([...line, '--json'], around)).json();
      const row: unknown = Array.isArray(answer) ? (answer[0] ?? {}) : answer;
      const given = typeof row === 'object' && row !== null ? pathsOf(row) : [];
      const path =
        [...commands.keys()].findLast(
          (each) => each !== '' && `${line.join(' ')} `.startsWith(`${each} `),
        ) ?? '';
      const fields = commands.get(path)?.fields ?? [];
      expect([path, given.filter((name) => !fields.includes(name))]).toEqual([path, []]);
    }
  });
});

/** Every command by its name. */
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
