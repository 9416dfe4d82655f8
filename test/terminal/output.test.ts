// Tests lists, records and remarks on a terminal and in a pipe, in every format.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../src/formats/failure.js';
import { createOutput, type OutputOptions } from '../../src/terminal/output.js';
import type { ListView, RecordView } from '../../src/terminal/rows/view.js';
import { bundled } from '../support/pty.js';
import { until } from '../support/until.js';
import { openPlainScreen, openScreen, type ScreenOptions } from './support.js';

interface Payment {
  readonly id: string;
  readonly amount: number;
  readonly note?: string;
  readonly sourceReq: { readonly ccy: string };
}

const payments: readonly Payment[] = [
  { id: 'c1d2', amount: 0.00000007, note: 'tea, "green"', sourceReq: { ccy: 'BTC' } },
  { id: 'e3f4', amount: 1250, sourceReq: { ccy: 'BTC' } },
];

const hostile: readonly Payment[] = [
  { id: 'x', amount: 1, note: 'a\tb\nc\u001B[2J', sourceReq: { ccy: 'BTC' } },
];

const columns: ListView<Payment>['columns'] = [
  { name: 'id', title: 'Id', value: ({ id }) => id },
  {
    name: 'amount',
    title: 'Amount',
    value: ({ amount }) => amount,
    text: ({ amount }) => amount.toFixed(8),
    align: 'right',
  },
  { name: 'note', title: 'Note', value: ({ note }) => note },
];
const list: ListView<Payment> = {
  columns,
  quiet: ({ id }) => id,
  empty: 'No payments yet.',
  footer: 'acme · production',
};
const record: RecordView<Payment> = { columns, quiet: ({ id }) => id, screen: () => ['  Paid'] };

const pipe: ScreenOptions = { tty: false };

async function listed(
  where: ScreenOptions,
  options: OutputOptions,
  rows: readonly Payment[] = payments,
) {
  const screen = openPlainScreen(where);
  await createOutput(screen.terminal, options).list(rows, list);
  return { stdout: screen.stdout(), stderr: screen.stderr() };
}

async function recorded(where: ScreenOptions, options: OutputOptions): Promise<string> {
  const { terminal, stdout } = openPlainScreen(where);
  await createOutput(terminal, options).record(payments[0] ?? fail(), record);
  return stdout();
}

function fail(): never {
  throw new Error('There is no payment.');
}

const table = [
  '  Id               Amount      Note',
  '  c1d2         0.00000007      tea, "green"',
  '  e3f4      1250.00000000',
];
const tsv = 'c1d2\t0.00000007\ttea, "green"\ne3f4\t1250\t\n';
const csv = 'id,amount,note\nc1d2,0.00000007,"tea, ""green"""\ne3f4,1250,\n';
const jsonl =
  '{"id":"c1d2","amount":0.00000007,"note":"tea, \\"green\\"","sourceReq":{"ccy":"BTC"}}\n' +
  '{"id":"e3f4","amount":1250,"sourceReq":{"ccy":"BTC"}}\n';
const json = `[${jsonl.trim().replace('\n', ',')}]\n`;
const prettyJson = `${JSON.stringify(payments, null, 2).replace('7e-8', '0.00000007')}\n`;

describe('out.list', () => {
  test.each(
    [
      {
        name: 'a table on a terminal',
        where: {},
        options: {},
        stdout: [...table, '  acme · production', ''].join('\n'),
      },
      {
        name: 'a table in a pipe with -o table',
        where: pipe,
        options: { format: 'table' as const },
        stdout: [...table, '  acme · production', ''].join('\n'),
      },
      { name: 'TSV in a pipe by default', where: pipe, options: {}, stdout: tsv },
      {
        name: 'TSV on a terminal with -o tsv',
        where: {},
        options: { format: 'tsv' as const },
        stdout: tsv,
      },
      { name: 'CSV on a terminal', where: {}, options: { format: 'csv' as const }, stdout: csv },
      { name: 'CSV in a pipe', where: pipe, options: { format: 'csv' as const }, stdout: csv },
      {
        name: 'JSON lines on a terminal',
        where: {},
        options: { format: 'jsonl' as const },
        stdout: jsonl,
      },
      {
        name: 'JSON lines in a pipe',
        where: pipe,
        options: { format: 'jsonl' as const },
        stdout: jsonl,
      },
      {
        name: 'indented JSON on a terminal',
        where: {},
        options: { json: true },
        stdout: prettyJson,
      },
      { name: 'compact JSON in a pipe', where: pipe, options: { json: true }, stdout: json },
      {
        name: 'ids only on a terminal with -q',
        where: {},
        options: { quiet: true },
        stdout: 'c1d2\ne3f4\n',
      },
      {
        name: 'ids only in a pipe with -q',
        where: pipe,
        options: { quiet: true },
        stdout: 'c1d2\ne3f4\n',
      },
    ].map((each) => [each.name, each] as const),
  )('prints a list as %s', async (_name, { where, options, stdout }) => {
    expect(await listed(where, options)).toEqual({ stdout, stderr: '' });
  });

  const fields = ['sourceReq.ccy', 'amount', 'note'];
  test.each(
    [
      {
        name: 'a table on a terminal',
        where: {},
        options: { fields },
        stdout: [
          '  sourceReq.ccy      amount          note',
          '  BTC                0.00000007      tea, "green"',
          '  BTC                1250',
          '  acme · production\n',
        ].join('\n'),
      },
      {
        name: 'TSV in a pipe',
        where: pipe,
        options: { fields },
        stdout: 'BTC\t0.00000007\ttea, "green"\nBTC\t1250\t\n',
      },
      {
        name: 'CSV in a pipe',
        where: pipe,
        options: { fields, format: 'csv' as const },
        stdout: 'sourceReq.ccy,amount,note\nBTC,0.00000007,"tea, ""green"""\nBTC,1250,\n',
      },
      {
        name: 'JSON lines in a pipe',
        where: pipe,
        options: { fields: ['id'], format: 'jsonl' as const },
        stdout: '{"id":"c1d2"}\n{"id":"e3f4"}\n',
      },
      {
        name: 'JSON in a pipe',
        where: pipe,
        options: { fields: ['id', 'note'], json: true },
        stdout: '[{"id":"c1d2","note":"tea, \\"green\\""},{"id":"e3f4","note":null}]\n',
      },
    ].map((each) => [each.name, each] as const),
  )('prints the --fields of a list as %s', async (_name, { where, options, stdout }) => {
    expect((await listed(where, options)).stdout).toBe(stdout);
  });

  test.each(
    [
      {
        name: 'a notice on a terminal',
        where: {},
        options: {},
        stdout: '',
        stderr: 'No payments yet.\n',
      },
      {
        name: 'a notice on stderr in a pipe',
        where: pipe,
        options: {},
        stdout: '',
        stderr: 'No payments yet.\n',
      },
      {
        name: 'a CSV header and a notice in a pipe',
        where: pipe,
        options: { format: 'csv' as const },
        stdout: 'id,amount,note\n',
        stderr: 'No payments yet.\n',
      },
      {
        name: 'an empty JSON array in a pipe',
        where: pipe,
        options: { json: true },
        stdout: '[]\n',
        stderr: '',
      },
      {
        name: 'nothing in a pipe with -o jsonl',
        where: pipe,
        options: { format: 'jsonl' as const },
        stdout: '',
        stderr: '',
      },
      {
        name: 'nothing in a pipe with -q',
        where: pipe,
        options: { quiet: true },
        stdout: '',
        stderr: '',
      },
    ].map((each) => [each.name, each] as const),
  )('prints an empty list as %s', async (_name, { where, options, stdout, stderr }) => {
    expect(await listed(where, options, [])).toEqual({ stdout, stderr });
  });

  test.each(
    [
      { what: 'a table on a terminal', where: {}, options: {} },
      { what: 'TSV in a pipe', where: pipe, options: {} },
      { what: 'CSV in a pipe', where: pipe, options: { format: 'csv' as const } },
      { what: 'TSV of one field in a pipe', where: pipe, options: { fields: ['note'] } },
      {
        what: 'JSON of one field on a terminal',
        where: {},
        options: { json: true, fields: ['note'] },
      },
    ].map((each) => [each.what, each] as const),
  )(
    'escapes control characters in %s, with one line per row',
    async (_what, { where, options }) => {
      const { stdout } = await listed(where, options, hostile);
      expect(stdout).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/);
      expect(stdout).toMatch(/a\\tb\\nc\\(x1b|u001b)\[2J/);
    },
  );

  test('prints CSV that a parser reads back unchanged', async () => {
    const { stdout } = await listed(pipe, { format: 'csv' });
    expect(parse(stdout)).toEqual([
      ['id', 'amount', 'note'],
      ['c1d2', '0.00000007', 'tea, "green"'],
      ['e3f4', '1250', ''],
    ]);
  });

  test('prints colours on a terminal, but not in a pipe', async () => {
    const coloured = (options: ScreenOptions) => openScreen(options);
    const [onTty, inPipe] = [coloured({}), coloured(pipe)];
    await createOutput(onTty.terminal, {}).list(payments, list);
    await createOutput(inPipe.terminal, { format: 'table' }).list(payments, list);
    expect(onTty.stdout()).toContain('\u001B[');
    expect(inPipe.stdout()).not.toContain('\u001B');
  });
});

describe('out.list with many rows', () => {
  async function* endless(seen: { rows: number }): AsyncGenerator<Payment> {
    for (;;) {
      seen.rows++;
      yield { id: `id-${seen.rows}`, amount: 1, sourceReq: { ccy: 'BTC' } };
      if (seen.rows % 100 === 0) await new Promise(setImmediate);
    }
  }

  test.each(
    [
      { what: 'a table', where: {}, options: {} },
      { what: 'JSON', where: pipe, options: { json: true } },
    ].map((each) => [each.what, each] as const),
  )(
    'stops producing a long list if the reader of %s is gone',
    async (_what, { where, options }) => {
      const { terminal } = openPlainScreen(where);
      const seen = { rows: 0 };
      const writing = createOutput(terminal, options).list(endless(seen), list);
      await until(() => seen.rows >= 2000);
      terminal.stdout.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      await writing;
      const read = seen.rows;
      await new Promise(setImmediate);
      expect(seen.rows).toBe(read);
    },
  );

  test.each(
    [
      { what: 'endless TSV', args: '', read: '0\n1\n' },
      { what: 'endless JSON', args: '--json', read: '[{"id":0},{"id":1},' },
    ].map((each) => [each.what, each] as const),
  )(
    'exits 0 without a message if the program `head` closes the pipe of %s',
    async (_what, { args, read }) => {
      const program = await bundled(new URL('fixtures/endless.ts', import.meta.url));
      const pipeline = `{ "${process.execPath}" "${program}" ${args}; echo $? >&2; } | head -c ${read.length}`;
      const { stdout, stderr } = await promisify(execFile)('sh', ['-c', pipeline]);
      expect({ stdout, stderr }).toEqual({ stdout: read, stderr: '0\n' });
    },
  );

  test('writes the first rows of a list before the later rows are available', async () => {
    const { terminal, stdout } = openPlainScreen(pipe);
    let release = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (release = resolve));
    async function* slow(): AsyncGenerator<Payment> {
      yield* payments;
      await waiting;
    }
    const writing = createOutput(terminal, { format: 'jsonl' }).list(slow(), list);
    await until(() => stdout() !== '');
    expect(stdout()).toBe(jsonl);
    release();
    await writing;
  });

  test('writes nothing to stdout if a list fails before its first row', async () => {
    const { terminal, stdout } = openPlainScreen(pipe);
    async function* broken(): AsyncGenerator<Payment> {
      await Promise.reject(new Failure('temporary', 'The service does not answer.'));
      yield* payments;
    }
    await expect(createOutput(terminal, { json: true }).list(broken(), list)).rejects.toThrow(
      'does not answer',
    );
    expect(stdout()).toBe('');
  });

  test('prints one header and aligned columns for a list that is drawn in parts', async () => {
    const { terminal, stdout } = openPlainScreen();
    const rows: readonly Payment[] = Array.from({ length: 1200 }, (_, i) => ({
      id: `id-${i}`,
      amount: 1,
      sourceReq: { ccy: 'BTC' },
    }));
    await createOutput(terminal, {}).list(rows, { ...list, footer: undefined });
    const lines = stdout().trimEnd().split('\n');
    expect(lines).toHaveLength(1201);
    expect(lines.filter((line) => line.includes('Amount'))).toHaveLength(1);
    expect(new Set(lines.slice(1).map((line) => line.indexOf('.')))).toHaveProperty('size', 2);
  });
});

describe('the --fields option', () => {
  const computed: ListView<Payment> = {
    ...list,
    columns: [...columns, { name: 'double', title: 'Twice', value: ({ amount }) => amount * 2 }],
  };
  const printed = async (
    where: ScreenOptions,
    options: OutputOptions,
    rows = payments,
  ): Promise<string> => {
    const screen = openPlainScreen(where);
    await createOutput(screen.terminal, options).list(rows, computed);
    return screen.stdout();
  };

  test.each(['table', 'json', 'jsonl', 'csv', 'tsv'] as const)(
    'refuses unknown fields with -o %s before it prints any row',
    async (format) => {
      const screen = openPlainScreen({});
      const out = createOutput(screen.terminal, { format, fields: ['id', 'txnStat'] });
      await expect(out.list(payments, list)).rejects.toMatchObject({
        kind: 'usage',
        message:
          '"txnStat" is not a field of this command. Its fields are id, amount, note, sourceReq, sourceReq.ccy.',
      });
      expect(screen.stdout()).toBe('');
      await expect(out.record(payments[0] ?? fail(), record)).rejects.toMatchObject({
        kind: 'usage',
      });
    },
  );

  test('lists the field names with --fields help', async () => {
    expect(await printed({}, { fields: ['help'] })).toBe(
      'id\namount\nnote\ndouble\nsourceReq\nsourceReq.ccy\n',
    );
  });

  test('selects stored and computed fields in every format', async () => {
    const fields = ['id', 'double'];
    expect(await printed(pipe, { fields, format: 'csv' })).toBe(
      'id,double\nc1d2,0.00000014\ne3f4,2500\n',
    );
    expect(await printed(pipe, { fields, format: 'tsv' })).toBe('c1d2\t0.00000014\ne3f4\t2500\n');
    expect(await printed(pipe, { fields, format: 'jsonl' })).toBe(
      '{"id":"c1d2","double":0.00000014}\n{"id":"e3f4","double":2500}\n',
    );
  });

  test.each<OutputOptions>([
    { json: true },
    { format: 'csv' },
    { format: 'jsonl' },
    { fields: ['id'] },
  ])('refuses -q together with the options %j', (also) => {
    expect(() => createOutput(openPlainScreen(pipe).terminal, { ...also, quiet: true })).toThrow(
      'not both',
    );
  });
});

test.each(
  [
    { what: 'writes a formula as a text cell', rawCells: false, cell: "'=1+1" },
    { what: 'leaves a formula unchanged if raw cells are requested', rawCells: true, cell: '=1+1' },
  ].map((each) => [each.what, each] as const),
)(
  'the CSV output protects a spreadsheet from formulas: it %s',
  async (_what, { rawCells, cell }) => {
    const { terminal, stdout } = openPlainScreen({});
    const columns = [{ name: 'note', title: 'Note', value: () => '=1+1\u001B[31m' }];
    await createOutput(terminal, { format: 'csv', rawCells }).list([{}], {
      columns,
      quiet: () => '',
      empty: '',
    });
    expect(stdout()).toBe(`note\n${cell}\\x1b[31m\n`);
  },
);

describe('out.record', () => {
  const line = jsonl.split('\n')[0];
  test.each(
    [
      { name: 'a card on a terminal', where: {}, options: {}, stdout: '  Paid\n' },
      {
        name: 'a card in a pipe with -o table',
        where: pipe,
        options: { format: 'table' as const },
        stdout: '  Paid\n',
      },
      {
        name: 'TSV in a pipe by default',
        where: pipe,
        options: {},
        stdout: 'c1d2\t0.00000007\ttea, "green"\n',
      },
      {
        name: 'CSV in a pipe',
        where: pipe,
        options: { format: 'csv' as const },
        stdout: 'id,amount,note\nc1d2,0.00000007,"tea, ""green"""\n',
      },
      { name: 'JSON in a pipe', where: pipe, options: { json: true }, stdout: `${line}\n` },
      {
        name: 'indented JSON on a terminal',
        where: {},
        options: { json: true },
        stdout: `${JSON.stringify(payments[0], null, 2).replace('7e-8', '0.00000007')}\n`,
      },
      {
        name: 'JSON lines in a pipe',
        where: pipe,
        options: { format: 'jsonl' as const },
        stdout: `${line}\n`,
      },
      {
        name: 'its id on a terminal with -q',
        where: {},
        options: { quiet: true },
        stdout: 'c1d2\n',
      },
      {
        name: 'a list of its --fields on a terminal',
        where: {},
        options: { fields: ['id', 'sourceReq'] },
        stdout: '  id          c1d2\n  sourceReq   {"ccy":"BTC"}\n',
      },
      {
        name: 'JSON of its --fields in a pipe',
        where: pipe,
        options: { fields: ['sourceReq.ccy'], json: true },
        stdout: '{"sourceReq.ccy":"BTC"}\n',
      },
    ].map((each) => [each.name, each] as const),
  )('prints a record as %s', async (_name, { where, options, stdout }) => {
    expect(await recorded(where, options)).toBe(stdout);
  });

  test('prints a record once if the record equals the last state change', async () => {
    const { terminal, stdout } = openPlainScreen(pipe);
    const out = createOutput(terminal, { format: 'jsonl' });
    out.change({ id: 'c1d2', txnState: 'quoted' });
    out.change(payments[0] ?? fail());
    await out.record(payments[0] ?? fail(), record);
    expect(stdout()).toBe(`{"id":"c1d2","txnState":"quoted"}\n${line}\n`);
  });
});

test('out.change prints the requested and computed fields of a state change', () => {
  const { terminal, stdout } = openPlainScreen(pipe);
  const out = createOutput(terminal, { format: 'jsonl', fields: ['id', 'what'] });
  out.change({ id: 'c1d2' }, [{ name: 'what', title: 'What', value: () => 'Swap' }]);
  expect(stdout()).toBe('{"id":"c1d2","what":"Swap"}\n');
});

test.each([{}, { json: true }, { format: 'tsv' as const }, { quiet: true }])(
  'out.change prints no state change with the options %j',
  (options) => {
    const { terminal, stdout } = openPlainScreen(pipe);
    createOutput(terminal, options).change({ txnState: 'quoted' });
    expect(stdout()).toBe('');
  },
);

describe('createOutput', () => {
  const printed = (where: ScreenOptions, options: OutputOptions) => {
    const screen = openPlainScreen(where);
    const out = createOutput(screen.terminal, options);
    out.say('Said \u001B[31m');
    out.warn('Warned');
    out.card(() => ['Card']);
    out.screen(['Screen']);
    out.screen(({ columns: width }) => [`${width} columns`]);
    out.text('Text');
    return { stdout: screen.stdout(), stderr: screen.stderr() };
  };

  test.each(
    [
      {
        name: 'on a terminal',
        where: {},
        options: {},
        stdout: 'Screen\n80 columns\nText\n',
        stderr: 'Said \\x1b[31m\nWarning: Warned\nCard\n',
      },
      {
        name: 'in a pipe',
        where: pipe,
        options: {},
        stdout: 'Text\n',
        stderr: 'Said \\x1b[31m\nWarning: Warned\n',
      },
      {
        name: 'with only stdout in a pipe',
        where: { tty: ['stdin', 'stderr'] as const },
        options: {},
        stdout: 'Text\n',
        stderr: 'Said \\x1b[31m\nWarning: Warned\nCard\n',
      },
      {
        name: 'on a terminal with -q',
        where: {},
        options: { quiet: true },
        stdout: 'Text\n',
        stderr: 'Warning: Warned\n',
      },
      {
        name: 'on a terminal with --json',
        where: {},
        options: { json: true },
        stdout: 'Text\n',
        stderr: 'Said \\x1b[31m\nWarning: Warned\n',
      },
    ].map((each) => [each.name, each] as const),
  )(
    'sends remarks to stderr and text to stdout %s',
    (_name, { where, options, stdout, stderr }) => {
      expect(printed(where, options)).toEqual({ stdout, stderr });
    },
  );
});

test('createOutput replaces symbols with ASCII of equal width if the locale lacks Unicode', async () => {
  const { terminal, stdout } = openPlainScreen({ env: { LANG: 'C' } });
  const out = createOutput(terminal, {});
  out.screen(['  quoted ── sent → ✓ · 12 %']);
  await out.list(payments, list);
  expect(stdout()).toContain('  quoted -- sent > + - 12 %\n');
  expect(stdout()).toContain('  acme - production\n');
});

test('createOutput refuses --json together with another format', () => {
  const { terminal } = openPlainScreen();
  expect(() => createOutput(terminal, { json: true, format: 'csv' })).toThrow(
    'Use either --json or -o csv, not both.',
  );
  expect(createOutput(terminal, { json: true, format: 'json' }).format).toBe('json');
});
