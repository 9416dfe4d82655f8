// Tests the help, the suggestions after typing errors, and how svcpay reads a command line.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect } from 'vitest';
import type { Branch } from '../../src/cli/tree.js';
import { tree } from '../../src/cli/table.js';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { svcpay as started, test } from '../support/svcpay.js';

describe('svcpay schema', () => {
  interface Schema {
    command: string;
    money: string;
    fields: string[];
    arguments: { name: string; required: boolean }[];
    options: Record<string, { flag: string; type: string; enum?: string[] }>;
  }

  test('lists every command with its options, its effect on money and the exit codes', async ({
    home,
  }) => {
    const whole = (await svcpay(['schema'], { home })).json() as {
      commands: Schema[];
      exitCodes: { code: number }[];
      globalOptions: object;
    };
    const leaves = (branches: readonly Branch[], path = ''): string[] =>
      branches.flatMap(({ name, load, branches: below = [] }) => [
        ...(load === undefined ? [] : [`${path}${name}`]),
        ...leaves(below, `${path}${name} `),
      ]);
    expect(whole.commands.map(({ command }) => command)).toEqual(leaves(tree.branches ?? []));
    const moving = whole.commands
      .filter(({ money }) => money === 'moves')
      .map(({ command }) => command);
    expect(moving).toEqual(
      expect.arrayContaining(['send', 'swap', 'payout', 'batch', 'tx confirm', 'tx resume']),
    );
    expect(moving).not.toContain('tx get');
    expect(
      whole.commands.filter(({ money }) => money === 'depends').map(({ command }) => command),
    ).toEqual(['api', 'mcp']);
    const withoutFields = whole.commands
      .filter(({ fields }) => fields.length === 0)
      .map(({ command }) => command);
    expect(withoutFields).toEqual([
      'budget recipe',
      'contacts remove',
      'watch',
      'tx export',
      'logout',
      'profiles use',
      'profiles remove',
      'config set',
      'config unset',
      'db upgrade',
      'completion',
      'help',
      'schema',
      'api',
      'sandbox run',
      'sandbox reset',
      'mcp',
      'demo',
    ]);
    expect(whole.exitCodes.map(({ code }) => code)).toEqual(
      expect.arrayContaining([0, 2, 6, 8, 75]),
    );
    expect(whole.globalOptions).toMatchObject({ input: { flag: '--no-input', type: 'boolean' } });
  });

  const reading = [
    'wallets',
    'tx list',
    'tx pending',
    'rates',
    'payout methods',
    'payout institutions VN',
    'profiles list',
    'config list',
    'config get maker',
    'config path',
    'db status',
    'doctor',
    'whoami',
    'webhook list',
    'sandbox log',
    'sandbox deliveries',
    'decode bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    'account',
    'sandbox status',
    'contacts list',
  ];
  test.for(reading)('lists every field that "svcpay %s" prints', async (line, { around }) => {
    const names = (await svcpay([...line.split(' '), '--fields', 'help'], around)).stdout
      .trim()
      .split('\n');
    const { commands } = (await svcpay(['schema'], around)).json() as { commands: Schema[] };
    const fields =
      commands.findLast(({ command }) => `${line} `.startsWith(`${command} `))?.fields ?? [];
    // The schema does not list the fields that count transactions or deliveries by state, because
    // svcpay prints these fields only for states that occur.
    expect(
      names.filter((name) => !fields.includes(name) && !/^(transactions|deliveries)\./.test(name)),
    ).toEqual([]);
  });

  test('accepts a command or a group, and suggests a name after a typing error', async ({
    home,
  }) => {
    const one = (await svcpay(['schema', 'tx', 'list'], { home })).json();
    const options = {
      state: { flag: '--state', type: 'array' },
      limit: { type: 'integer', minimum: 1, maximum: 1000 },
    };
    expect(one).toMatchObject({
      exitCodes: expect.arrayContaining([expect.objectContaining({ code: 8 })]),
      commands: [{ command: 'tx list', options }],
    });
    const group = (await svcpay(['schema', 'limits'], { home })).json();
    expect(group).toMatchObject({
      commands: expect.arrayContaining([expect.objectContaining({ command: 'limits set' })]),
    });
    expect((await svcpay(['schema', 'sned'], { home })).stderr).toContain('Did you mean send?');
  });
});

describe.concurrent('svcpay with an invalid command line', () => {
  const meant = [
    { line: ['tx', 'lst'], message: 'Did you mean tx list?' },
    { line: ['--json', 'swpa', '25usdt', 'BTC'], message: 'Did you mean swap?' },
    { line: ['send', 'lightnin', 'lnbc1'], message: 'Did you mean send lightning?' },
    { line: ['sandbox', 'clock', 'advanc', '2h'], message: 'Did you mean sandbox clock advance?' },
    { line: ['help', 'sned'], message: 'Did you mean send?' },
    { line: ['help', 'tx', 'lst'], message: 'Did you mean tx list?' },
    { line: ['help', 'exit-code'], message: 'Did you mean exit-codes?' },
    { line: ['help', 'nosuch'], message: 'There is no command "nosuch"' },
    { line: ['wallets', '--jsn'], message: 'Did you mean --json?' },
    { line: ['config', 'unst'], message: 'Did you mean config unset?' },
    { line: ['wallets', 'BTC', 'USDT'], message: 'wallets takes 1 argument (got 2).' },
    { line: ['send', 'a@b.com', '-5sat'], message: 'Not sent. "-5sat" is negative.' },
    { line: ['send', 'a@b.com', '1sat', '--yes=no'], message: 'Not sent. --yes takes no value.' },
    {
      line: ['send', 'a@b.com', '1sat', '--quote-only=false'],
      message: 'Not sent. --quote-only takes no value.',
    },
    { line: ['wallets', '--timeout'], message: '--timeout must be followed by DURATION.' },
    { line: ['config', 'unset'], message: 'KEY is missing.' },
    {
      line: ['sandbox', 'clock'],
      message:
        '"sandbox clock" must be followed by one of: show, advance, freeze, thaw.\n  svcpay sandbox clock --help',
    },
  ];
  test.for(
    meant.map(
      ({ line, message }) => [line.join(' '), message.split('\n')[0], line, message] as const,
    ),
  )('refuses "svcpay %s" with the message: %s', async ([, , line, message], { home }) => {
    const run = await svcpay(line, { home });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toContain(message);
  });
});

describe.concurrent('svcpay aliases', () => {
  const pairs = [
    ['-v', '--version'],
    ['help', '--help'],
    ['-V', '--version'],
    ['pay lightning --help', 'send lightning --help'],
    ['balance -q', 'wallets -q'],
  ] as const;
  test.for(pairs)(
    'give "svcpay %s" the output of "svcpay %s"',
    async ([other, name], { around }) => {
      // These commands run as processes, because svcpay handles some aliases before it loads the
      // program.
      const [one, two] = await Promise.all([
        started(other.split(' '), around),
        started(name.split(' '), around),
      ]);
      expect(one).toMatchObject({ exitCode: 0, stdout: two.stdout });
      expect(two.exitCode).toBe(0);
    },
  );
});

describe.concurrent('svcpay help', () => {
  test('shows all commands under headings within the width of the window', async ({ home }) => {
    for (const columns of [60, 80, 140]) {
      const tty = svcpayTty(['--help'], { home, columns });
      expect(await tty.ended).toBe(0);
      const lines = tty.text().split('\n');
      const headings = lines.filter((line) => /^[A-Z][a-z ]+:$/.test(line));
      expect(headings).toEqual([
        'Money in:',
        'Money out:',
        'Look back:',
        'Set up:',
        'Build:',
        'Options:',
        'Examples:',
      ]);
      expect(lines.filter((line) => line.length > Math.min(columns, 100))).toEqual([]);
    }
  });

  test('lists both --wait and --no-wait and mentions the global options on the page of a command', async ({
    home,
  }) => {
    const { stdout } = await svcpay(['send', 'lightning', '--help'], { home });
    expect(stdout).toMatch(/^ +--wait, --no-wait /m);
    expect(stdout).toMatch(/^Global options such as --json/m);
  });

  test('has a help page for each topic that the first page lists', async ({ home }) => {
    const { stdout } = await started(['--help'], { home });
    for (const topic of ['amounts', 'environment', 'exit-codes', 'fields', 'scripting']) {
      expect(stdout).toContain(topic);
      expect(await svcpay(['help', topic], { home })).toMatchObject({
        exitCode: 0,
        stdout: expect.stringMatching(/\S{3}/),
      });
    }
  });

  test('lists every environment variable that svcpay reads', async ({ home }) => {
    const source = resolve(import.meta.dirname, '../../src');
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    const read = files.flatMap(
      (file) =>
        readFileSync(join(source, file), 'utf8').match(/(?<=env\[')SVCPAY_\w+(?='\])/g) ?? [],
    );
    const { stdout } = await svcpay(['help', 'environment'], { home });
    expect([...new Set(read)].filter((name) => !stdout.includes(name))).toEqual([]);
  });
});

describe.concurrent('svcpay error output', () => {
  const lines = [
    { line: ['send', 'lightning', 'nothing', '--note', 'see the --json docs'], json: false },
    { line: ['send', 'lightning', 'nothing', '--json'], json: true },
    { line: ['send', 'lightning', 'nothing', '-yojsonl'], json: true },
    { line: ['send', '--nonsense', '-o', 'json'], json: true },
    { line: ['send', '--nonsense', '--', '--json'], json: false },
  ];
  test.for(
    lines.map(({ line, json }) => [line.join(' '), json ? 'JSON' : 'text', line, json] as const),
  )('reports the failure of "svcpay %s" as %s', async ([, , line, json], { home }) => {
    const { exitCode, stderr } = await svcpay(['--yes', ...line], { home });
    expect(exitCode).toBe(2);
    expect(stderr.startsWith('{"error":')).toBe(json);
  });
});
