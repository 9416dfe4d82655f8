// Somebody without a secret proposes payments, and the owner of the wallet pays or refuses them.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import type { Sandbox } from '../../src/sandbox/server.js';
import { startAgent } from '../support/agent.js';
import { quickTime, svcpay, svcpayTty } from '../support/in-process.js';
import { test as base, type Environment } from '../support/svcpay.js';

type Around = Environment & { readonly sandbox: Sandbox; readonly outbox: string };

const test = base.extend({ sandboxOptions: { autoPay: 20 } }).extend<{ around: Around }>({
  around: async ({ home, sandbox }, use) => {
    const outbox = mkdtempSync(join(tmpdir(), 'svcpay-outbox-'));
    onTestFinished(() => rmSync(outbox, { recursive: true, force: true }));
    await use({ home, sandbox, outbox, ...quickTime() });
  },
});

const network = { SVCPAY_NETWORK: 'testnet' };

/** Proposes a payment in a home without a login, and returns the id. */
async function propose(words: string, { outbox }: Around): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'svcpay-proposer-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const args = ['propose', ...words.split(' '), '--outbox', outbox, '-q'];
  const run = await svcpay(args, { home, env: network });
  expect(run).toMatchObject({ exitCode: 0 });
  return run.stdout.trim();
}

const adas = 'send ada@example.com 1300sat --max-total 1500sat';

const paying = (id: string, { outbox }: Around): string[] => [
  'proposals',
  'pay',
  id,
  ...`--digest ${id} --yes --json --outbox`.split(' '),
  outbox,
];

const write = (path: string, content: string): void => writeFileSync(path, content);
const link = (target: string, path: string): void => symlinkSync(target, path);
const twice = (whole: string): string => whole.replace('"reason":', '"reason":"first","reason":');

const confirmations = ({ sandbox }: Around): number => sandbox.requests('PUT').length;

describe('svcpay propose', () => {
  test('makes no request and needs no login', async ({ around }) => {
    const before = around.sandbox.requests('GET').length;
    expect(await propose(adas, around)).toMatch(/^[0-9a-f]{64}$/);
    expect(around.sandbox.requests('GET')).toHaveLength(before);
  });

  test.for([
    ['the amount all', 'swap all USDT BTC --max-total 26usdt', 'must state its amount'],
    ['an amount without a unit', 'send ada@example.com 1300 --max-total 1500sat', '1300'],
    ['no highest total', 'send ada@example.com 1300sat', '--max-total'],
    ['more than 30 days', `${adas} --expires 31d`, '30 d'],
  ] as const)('refuses %s', async ([, words, message], { around }) => {
    const run = await svcpay(
      ['propose', ...words.split(' '), '--outbox', around.outbox, '--json'],
      around,
    );
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toContain(message);
  });
});

describe('svcpay proposals pay', () => {
  test('pays a proposal once, also as a copy and from a second run', async ({ around }) => {
    const id = await propose(adas, around);
    expect(await svcpay(paying(id, around), around)).toMatchObject({ exitCode: 0 });
    const copy = mkdtempSync(join(tmpdir(), 'svcpay-copy-'));
    onTestFinished(() => rmSync(copy, { recursive: true }));
    copyFileSync(join(around.outbox, `${id}.proposal.json`), join(copy, `${id}.proposal.json`));
    expect(await svcpay(paying(id, { ...around, outbox: copy }), around)).toMatchObject({
      exitCode: 0,
    });
    expect(confirmations(around)).toBe(1);
    const story = await svcpay(['tx', 'explain', `proposal:${id}`], around);
    expect(story.stdout).toContain(`by the proposal ${id.slice(0, 8)}…`);
    expect(
      JSON.parse(readFileSync(join(around.outbox, `${id}.result.json`), 'utf8')),
    ).toMatchObject({ state: 'paid', exitCode: 0 });
  });

  test('reports a payment that settled after its run to the proposer', async ({ around }) => {
    const id = await propose(adas, around);
    expect(await svcpay([...paying(id, around), '--no-wait'], around)).toMatchObject({
      exitCode: 0,
    });
    const shown = await svcpay(['proposals', around.outbox, '--json'], around);
    expect(shown.json()).toMatchObject([{ state: 'paying', remarks: [] }]);
    await svcpay(['tx', 'watch', `proposal:${id}`], around);
    await svcpay(['proposals', around.outbox], around);
    const status = ['propose', 'status', id, '--outbox', around.outbox, '--json'];
    expect((await svcpay(status, around)).json()).toMatchObject({
      state: 'paid',
      txnId: expect.any(String),
    });
  });

  test('pays nothing above the highest total', async ({ around }) => {
    const id = await propose('send ada@example.com 1300sat --max-total 1300sat', around);
    const run = await svcpay(paying(id, around), around);
    expect(run).toMatchObject({ exitCode: 7, stdout: '' });
    expect(run.error().message).toMatch(/^Nothing moved: the total is .* at most 0\.00001300 BTC/);
    expect(confirmations(around)).toBe(0);
  });

  test.for([
    ['without --digest', (id: string) => ['pay', id, '--yes']],
    [
      'with the beginning of the digest',
      (id: string) => ['pay', id, '--yes', '--digest', id.slice(0, 8)],
    ],
    ['after its expiry', undefined],
  ] as const)('pays nothing %s', async ([, words], { around }) => {
    const id = await propose(`${adas} --expires 1h`, around);
    const args = words === undefined ? paying(id, around).slice(1) : words(id);
    const late = words === undefined ? { now: () => Date.now() + 7_200_000 } : {};
    const run = await svcpay(['proposals', ...args, '--outbox', around.outbox], {
      ...around,
      ...late,
    });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(confirmations(around)).toBe(0);
  });

  test('pays nothing from another account', async ({ around }) => {
    const id = await propose(`${adas} --account ne01-other`, around);
    const run = await svcpay(paying(id, around), around);
    expect(run).toMatchObject({ exitCode: 2 });
    expect(run.error().message).toContain('for the account ne01-other');
  });

  test('shows the reason as quoted text, and refuses for good at a terminal', async ({
    around,
  }) => {
    const id = await propose(`${adas} --reason delivered`, around);
    const tty = svcpayTty(['proposals', 'pay', id.slice(0, 8), '--outbox', around.outbox], around);
    await tty.waitFor(/“delivered”[^]*new payee/);
    await tty.waitFor(/Pay .*\(y\/N\)/);
    tty.type('n\r');
    await tty.waitFor(/Refuse this proposal for good\?/);
    tty.type('y\r');
    expect(await tty.ended).toBe(9);
    const run = await svcpay(paying(id, around), around);
    expect(run).toMatchObject({ exitCode: 2 });
    expect(run.error().message).toContain('it was refused');
    const again = await propose(adas, around);
    const shown = await svcpay(
      ['proposals', 'show', again, '--outbox', around.outbox, '--json'],
      around,
    );
    expect(shown.json()).toMatchObject({
      state: 'open',
      remarks: ['new payee', expect.stringMatching(/^refused .* ago$/)],
    });
    expect(confirmations(around)).toBe(0);
  });

  test('asks once for several proposals without remarks', async ({ around }) => {
    await svcpay(['send', 'ada@example.com', '900sat', '--yes'], around);
    const ids = [
      await propose(adas, around),
      await propose('send ada@example.com 1400sat --max-total 1600sat', around),
    ];
    const tty = svcpayTty(['proposals', 'pay', ...ids, '--outbox', around.outbox], around);
    await tty.waitFor(/Pay these 2 proposals, at most 0\.00003100 BTC in all\?/);
    tty.type('y\r');
    expect(await tty.ended).toBe(0);
    expect(confirmations(around)).toBe(3);
  });

  const text = (id: string, { outbox }: Around): string =>
    readFileSync(join(outbox, `${id}.proposal.json`), 'utf8');
  const fieldsOf = (file: string): [string, unknown][] => Object.entries(JSON.parse(file));

  test('pays nothing if any field of the file changed after it was shown', async ({ around }) => {
    const id = await propose(`${adas} --account A1 --reason delivered --note 118`, around);
    const before = text(id, around);
    const [, [row]] = fieldsOf(before).find(([name]) => name === 'rows') as [string, object[]];
    const changed = [
      ...fieldsOf(before).map(([name]) => ({ ...JSON.parse(before), [name]: null })),
      ...Object.keys(row ?? {}).map((name) => ({
        ...JSON.parse(before),
        rows: [{ ...row, [name]: null }],
      })),
    ];
    expect(changed.length).toBeGreaterThan(15);
    for (const each of changed) {
      writeFileSync(join(around.outbox, `${id}.proposal.json`), JSON.stringify(each));
      expect(await svcpay(paying(id, around), around)).toMatchObject({ exitCode: 2, stdout: '' });
    }
    expect(confirmations(around)).toBe(0);
  });

  test.for([
    [
      'a link',
      (path: string, whole: string) => (write(`${path}.x`, whole), link(`${path}.x`, path)),
    ],
    ['a pipe', (path: string) => void execFileSync('mkfifo', [path])],
    ['a file of 1 MB', (path: string, whole: string) => write(path, whole.padEnd(1_000_000))],
    ['a file with a NUL', (path: string, whole: string) => write(path, `${whole}\0`)],
    ['a file with a doubled key', (path: string, whole: string) => write(path, twice(whole))],
  ] as const)(
    'pays nothing from %s, also under the id of its content',
    async ([, put], { around }) => {
      const id = await propose(adas, around);
      const whole = text(id, around);
      const path = join(around.outbox, `${id}.proposal.json`);
      rmSync(path);
      put(path, whole);
      const isFile = lstatSync(path).isFile();
      const own = isFile ? createHash('sha256').update(readFileSync(path)).digest('hex') : id;
      if (isFile) copyFileSync(path, join(around.outbox, `${own}.proposal.json`));
      for (const name of [id, own])
        expect(await svcpay(paying(name, around), around)).toMatchObject({
          exitCode: 2,
          stdout: '',
        });
      expect(confirmations(around)).toBe(0);
    },
  );

  test('pays what it showed if the file is swapped before the answer', async ({ around }) => {
    const id = await propose(adas, around);
    const other = await propose('send eve@example.com 1300sat --max-total 1500sat', around);
    const tty = svcpayTty(['proposals', 'pay', id, '--outbox', around.outbox], around);
    await tty.waitFor(/Pay .*\(y\/N\)/);
    writeFileSync(join(around.outbox, `${id}.proposal.json`), text(other, around));
    tty.type('y\r');
    expect(await tty.ended).toBe(0);
    const paid = await svcpay(['tx', 'get', `proposal:${id}`, '--json'], around);
    expect(paid.stdout).toContain('ada@example.com');
    expect(paid.stdout).not.toContain('eve@example.com');
    expect(confirmations(around)).toBe(1);
  });

  test('shows text that turns its direction as data', async ({ around }) => {
    const home = mkdtempSync(join(tmpdir(), 'svcpay-proposer-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const args = ['propose', ...adas.split(' '), '--reason', 'to \u202Eeve', '-q'];
    const run = await svcpay([...args, '--outbox', around.outbox], { home, env: network });
    const shown = ['proposals', 'show', run.stdout.trim(), '--outbox', around.outbox];
    const tty = svcpayTty(shown, around);
    expect(await tty.ended).toBe(0);
    expect(tty.text()).toMatch(/“to .*eve”/);
    expect(tty.text()).not.toContain('\u202E');
  });

  test('shows a file that is not a proposal as void', async ({ around }) => {
    const id = await propose(adas, around);
    const name = `${'0'.repeat(64)}.proposal.json`;
    copyFileSync(join(around.outbox, `${id}.proposal.json`), join(around.outbox, name));
    const run = await svcpay(['proposals', around.outbox, '--all', '--json'], around);
    expect(run.json()).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ id: basename(name, '.proposal.json'), state: 'void' }),
      ]),
    );
  });
});

test('home counts the open proposals of the outbox', async ({ around }) => {
  await propose(adas, { ...around, outbox: join(around.home, 'proposals') });
  const tty = svcpayTty([], around);
  await tty.waitFor(/1 proposal to pay or refuse: svcpay proposals/);
  tty.type('\u0003');
  await tty.ended;
});

test('an agent of svcpay mcp --propose decodes, proposes and asks for the outcome, without a login', async ({
  around,
}) => {
  const home = mkdtempSync(join(tmpdir(), 'svcpay-proposer-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const agent = await startAgent(['--propose', '--outbox', around.outbox], { home, env: network });
  const { tools } = await agent.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    'decode',
    'propose',
    'propose_swap',
    'propose_payout',
    'propose_many',
    'proposal',
  ]);
  const asked = { destination: 'ada@example.com', amount: '1300sat', maxTotal: '1500sat' };
  const { content } = await agent.call('propose', asked);
  const id = String(content['id']);
  expect(await agent.call('proposal', { id })).toMatchObject({ content: { state: 'open' } });
  expect(await svcpay(paying(id, around), around)).toMatchObject({ exitCode: 0 });
  expect(await agent.call('proposal', { id })).toMatchObject({
    content: { state: 'paid', exitCode: 0 },
  });
});

test('a client that accepts every question cannot pay with svcpay mcp --propose', async ({
  around,
}) => {
  const options = ['--propose', '--outbox', around.outbox];
  const agent = await startAgent(options, around, undefined, () => true);
  const asked = { destination: 'ada@example.com', amount: '1300sat', maxTotal: '1500sat' };
  const { content } = await agent.call('propose', asked);
  for (const [tool, given] of [
    ['pay', { ...asked, ref: 'a' }],
    ['pay_many', { name: 'a', rows: [] }],
    ['resume', { id: `proposal:${String(content['id'])}` }],
    ['proposals pay', { ids: content['id'] }],
  ] as const)
    await expect(agent.client.callTool({ name: tool, arguments: given })).rejects.toThrow(
      /not found/i,
    );
  expect(confirmations(around)).toBe(0);
  expect(around.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(0);
});

test('svcpay proposals pay reports a paid proposal after its expiry, and pays nothing more', async ({
  around,
}) => {
  const id = await propose(`${adas} --expires 1h`, around);
  expect(await svcpay(paying(id, around), around)).toMatchObject({ exitCode: 0 });
  const late = { ...around, now: () => Date.now() + 7_200_000 };
  expect(await svcpay(paying(id, around), late)).toMatchObject({ exitCode: 0 });
  expect(confirmations(around)).toBe(1);
});
