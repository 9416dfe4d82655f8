// Tests the commands under svcpay tx: list with every filter, get, confirm, cancel, watch, resume
// and export.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect } from 'vitest';
import { svcpay, svcpayTty } from '../support/in-process.js';
import {
  test as base,
  type Run,
  type Environment,
  svcpayTty as svcpayPty,
} from '../support/svcpay.js';
import { deliver, startListening } from '../support/webhooks.js';
import { asSpecified, called, comesIn } from '../support/shapes.js';

/** A service with three swaps, the last of which is an unconfirmed quote. */
const test = base.extend<{ quote: string }>({
  quote: async ({ around }, use) => {
    await svcpay(['swap', '25', 'USDT', 'BTC', '--yes', '--ref', 'first'], around);
    await around.sandbox.clock.advance('3h');
    await svcpay(['swap', '10usdt', 'BTC', '--yes', '--ref', 'second'], around);
    const { stdout } = await svcpay(
      ['swap', '5usdt', 'BTC', '--quote-only', '-q', '--ref', 'third'],
      around,
    );
    await use(stdout.trim());
  },
});

const refs = async (args: readonly string[], around: Environment): Promise<string[]> => {
  const { stdout } = await svcpay(
    ['tx', 'list', ...args, '-o', 'tsv', '--fields', 'extRefId'],
    around,
  );
  return stdout.split('\n').filter((line) => line !== '');
};

describe('svcpay tx list', () => {
  test.skipIf(comesIn('list-abbreviated'))(
    'finds transactions by text in the payee, note, reference or id with --search',
    async ({ around }) => {
      const pay = async (...args: string[]) =>
        (await svcpay(['send', ...args, '--yes', '--no-wait', '-q'], around)).stdout.trim();
      const ada = await pay('ada@example.com', '2500sat');
      const rent = await pay(
        'bob@example.com',
        '3000sat',
        '--ref',
        'Büro-7',
        '--note',
        'Miete Mai',
      );
      const found = async (text: string) =>
        (await svcpay(['tx', 'list', '--search', text, '-q'], around)).stdout.trim();
      expect(await found('ADA')).toBe(ada);
      expect(await found('buro')).toBe(rent);
      expect(await found('mai miete')).toBe(rent);
      expect(await found(ada.slice(0, 13))).toBe(ada);
      expect(await found(ada.slice(9, 23))).toBe(ada);
      expect(await found('example.com')).toBe(`${ada}\n${rent}`);
      const lightning = await svcpay(['tx', 'list', '--dest-method', 'lightning', '-q'], around);
      expect(lightning.stdout.trim()).toBe(`${ada}\n${rent}`);
      const many = ['tx', 'list', '--search', 'example.com', '--limit', '1', '-q'];
      expect((await svcpay(many, around)).stdout.trim()).toBe(rent);
      const none = await svcpay(['tx', 'list', '--search', 'zebra', '-o', 'table'], around);
      expect(none).toMatchObject({ exitCode: 0, stdout: '' });
      expect(none.stderr).toContain('No transaction matches "zebra" (all of history).');
      const paged = ['tx', 'list', '--search', 'ada', '--page', '2'];
      expect(await svcpay(paged, around)).toMatchObject({ exitCode: 2 });
    },
  );

  test('uses the pager of a terminal except with --no-pager', async ({ around }) => {
    const env = { ...around.env, PAGER: "sed 's/^/P:/'" };
    const paged = svcpayPty(['tx', 'list', '--all'], { ...around, env });
    await paged.waitFor(/P: +All \d+/);
    expect(await paged.ended).toBe(0);
    const plain = svcpayPty(['tx', 'list', '--all', '--no-pager'], { ...around, env });
    await plain.waitFor(/All \d+/);
    expect(await plain.ended).toBe(0);
    expect(plain.text()).not.toContain('P:');
    const none = svcpayPty(['tx', 'list', '--all', '--state', 'failed'], { ...around, env });
    await none.waitFor('No transactions yet');
    expect(await none.ended).toBe(0);
    const piped = await svcpay(['tx', 'list', '--all'], { ...around, env });
    expect(piped.stdout).not.toContain('P:');
  });

  test('filters transactions by time, state and method, and selects a page', async ({
    around,
    quote,
  }) => {
    expect(quote).not.toBe('');
    expect(await refs([], around)).toEqual(['first', 'second', 'third']);
    expect(await refs(['--since', '1h'], around)).toEqual(['second', 'third']);
    expect(await refs(['--until', '1h'], around)).toEqual(['first']);
    expect(await refs(['--state', 'completed', '--state', 'failed'], around)).toEqual([
      'first',
      'second',
    ]);
    expect(await refs(['--src-method', 'lightning'], around)).toEqual([]);
    expect(
      await refs(['--dest-method', 'servicepay', '--exclude-src-method', 'lightning'], around),
    ).toHaveLength(3);
    expect(await refs(['--limit', '1', '--page', '2'], around)).toEqual(['second']);
    expect(await refs(['--all', '--time', '1y'], around)).toEqual(['first', 'second', 'third']);
  });

  test('sends every filter under the parameter name of the specification', async ({ around }) => {
    const filters = [
      '--state',
      'quoted',
      '--state',
      'failed',
      '--src-method',
      'servicepay',
      '--dest-method',
      'tron',
    ];
    const excluded = [
      '--exclude-src-method',
      'lightning',
      '--exclude-dest-method',
      'lnurl',
      '--exclude-dest-method',
      'eth',
    ];
    const period = ['--since', '2026-03-01T00:00:00Z', '--until', '2026-03-31T23:59:59Z'];
    await svcpay(
      ['tx', 'list', ...filters, ...excluded, ...period, '--limit', '5', '--page', '2'],
      around,
    );
    const [request] = around.sandbox.requests('GET', '/api/v2/transaction');
    expect([...new URL(request?.path ?? '', around.sandbox.url).searchParams]).toEqual(
      expect.arrayContaining([
        ['time', 'other'],
        ['startTime', '2026-03-01T00:00:00.000Z'],
        ['endTime', '2026-03-31T23:59:59.000Z'],
        ['txnStatuses', 'quoted'],
        ['txnStatuses', 'failed'],
        ['srcMethods', 'servicepay'],
        ['destMethods', 'tron'],
        ['excludedSrcMethods', 'lightning'],
        ['excludedDestMethods', 'lnurl,eth'],
        ['limit', '5'],
        ['page', '2'],
      ]),
    );
  });

  test('includes the newest transactions if the clock of the service is days ahead', async ({
    around,
  }) => {
    await around.sandbox.clock.advance('5d');
    const invoice = await around.sandbox.invoice('1000sat');
    const sent = await svcpay(['send', 'lightning', invoice, '--yes', '-q'], around);
    for (const args of [
      ['tx', 'list'],
      ['tx', 'list', '--since', '7d'],
      ['tx', 'export', '-o', 'csv'],
    ])
      expect((await svcpay(args, around)).stdout).toContain(sent.stdout.trim());
  });

  test('prints a list with a heading, a footer and short ids at a terminal', async ({
    around,
    quote,
  }) => {
    const rows = await svcpay(['tx', 'list'], around);
    expect(rows.stdout.trimEnd().split('\n').at(-1)).toMatch(
      asSpecified ? /^\d{4}-\d{2}-\d{2}T[\d:.]+Z\tSwap\t/ : /^\d{4}-\d{2}-\d{2}T[\d:.]+Z\t/,
    );
    const tty = svcpayTty(['tx', 'list', '--limit', '2'], { ...around, columns: 120 });
    await tty.waitFor(
      comesIn('list-without-pagination', 'list-bare')
        ? 'Last 2 · all of history'
        : 'Last 2 of 8 · all of history · newest last',
    );
    if (asSpecified)
      await tty.waitFor(
        /now +⇄ → 10 000 sat +−10\.00 USDT +swap .*\n.* −5\.00 USDT +swap +quoted +[\w-]+\n/,
      );
    await tty.waitFor(/svcpay tx get [\w-]+   older: --page 2   search: --search TEXT/);
    expect(await tty.ended).toBe(0);
    const [, short = ''] = /svcpay tx get ([\w-]+)/.exec(tty.text()) ?? [];
    expect(tty.text()).toMatch(asSpecified ? new RegExp(`quoted +${short}\n`) : short);
    expect(short.length).toBeLessThan(quote.length);
    const got = await svcpay(['tx', 'get', short, '-q'], around);
    expect(got.stdout).toBe(`${quote}\n`);
  });

  test('sorts the newest transaction last in every format', async ({ around, quote }) => {
    expect(quote).not.toBe('');
    const order = async (...args: readonly string[]): Promise<string[]> =>
      (await svcpay(['tx', 'list', ...args, '--fields', 'extRefId'], around)).stdout.match(
        /first|second|third/g,
      ) ?? [];
    expect(await order()).toEqual(['first', 'second', 'third']);
    for (const how of [['--all'], ['--json'], ['-o', 'csv'], ['-o', 'jsonl'], ['-o', 'page']])
      expect(await order(...how)).toEqual(['first', 'second', 'third']);
  });

  test('reports a page number beyond the last page', async ({ around, quote }) => {
    expect(quote).not.toBe('');
    const run = await svcpay(['tx', 'list', '--page', '99', '--limit', '2'], around);
    expect(run).toMatchObject({ exitCode: 0, stdout: '' });
    expect(run.stderr).toMatch(
      /^(?:Page 99 is empty|There is no page 99. The last page is \d+)\.\n$/,
    );
  });

  test('shows the references, which svcpay tx get accepts, instead of transaction ids', async ({
    around,
    quote,
  }) => {
    expect((await svcpay(['tx', 'get', 'third', '-q'], around)).stdout).toBe(`${quote}\n`);
    await svcpay(['receive', 'lightning', '1000sat', '--ref', 'invoice-118'], around);
    const got = await svcpay(
      ['tx', 'get', 'invoice-118', '--json', '--fields', 'extRefId'],
      around,
    );
    expect(got.json()).toEqual({ extRefId: 'invoice-118' });
    expect(await svcpay(['tx', 'get', 'nobody-knows'], around)).toMatchObject({
      exitCode: 5,
      stdout: '',
    });
  });

  // Without payment methods in the list, an expired quote looks like an expired invoice.
  test.skipIf(!asSpecified)(
    'hides expired quotes except with --quotes or --state, and prints how many are hidden',
    async ({ around, quote }) => {
      expect(quote).not.toBe('');
      await around.sandbox.clock.advance('1h');
      const tty = svcpayTty(['tx', 'list'], { ...around, columns: 140 });
      await tty.waitFor('newest last · 1 expired hidden (--quotes)');
      expect(await tty.ended).toBe(0);
      expect(await refs([], around)).toEqual(['first', 'second']);
      expect(await refs(['--state', 'expired'], around)).toEqual(['third']);
      expect(await refs(['--all'], around)).toEqual(['first', 'second']);
      expect(await refs(['--all', '--quotes'], around)).toEqual(['first', 'second', 'third']);
    },
  );

  test.skipIf(!asSpecified)(
    'reports in the field `more` of the output of `-o page` whether another page follows',
    async ({ around, quote }) => {
      expect(quote).not.toBe('');
      await around.sandbox.clock.advance('1h');
      const pageOf = async (page: number) =>
        svcpay(['tx', 'list', '--limit', '3', '--page', String(page), '-o', 'page'], around);
      const pages = [];
      for (let page = 1, more = true; more; page += 1) {
        const found = v.parse(
          v.object({
            transactions: v.array(v.object({ txnId: v.string() })),
            page: v.literal(page),
            total: v.literal(8),
            more: v.boolean(),
          }),
          (await pageOf(page)).json(),
        );
        pages.unshift(found.transactions.map(({ txnId }) => txnId));
        more = found.more;
      }
      expect(pages.map((ids) => ids.length)).toEqual([2, 3, 3]);
      const all = await svcpay(['tx', 'list', '--all', '--quotes', '-q'], around);
      expect(pages.flat()).toEqual(all.stdout.trim().split('\n'));
      const first = await svcpay(['tx', 'list', '--limit', '3', '--json'], around);
      expect(first.json()).toHaveLength(2);
      expect(first.stderr).toBe(
        'Page 1 of 3, newest last. Next page: --page 2. All pages: --all\n',
      );
    },
  );

  test('passes an unrecognized state name on to the service', async ({ around }) => {
    expect(
      await svcpay(['tx', 'list', '--state', 'BeingReviewed', '--json'], around),
    ).toMatchObject({
      exitCode: 3,
      stdout: '',
      stderr: expect.stringContaining('\\"BeingReviewed\\" is not a state. Write one of quoted, '),
    });
    const asked = await svcpay(['sandbox', 'log', '--json'], around);
    expect(asked.stdout).toContain('txnStatuses=BeingReviewed');
  });

  test('accepts the state names of its own output as values of --state', async ({ around }) => {
    const done = await svcpay(['tx', 'list', '--state', 'done', '--json'], around);
    const completed = await svcpay(['tx', 'list', '--state', 'completed', '--json'], around);
    expect(done.stdout).toContain('"txnState":"completed"');
    expect(done.json()).toEqual(completed.json());
    await svcpay(['tx', 'list', '--state', 'refused', '--state', 'Sent', '--json'], around);
    const asked = await svcpay(['sandbox', 'log', '--json'], around);
    expect(asked.stdout).toMatch(/txnStatuses=rejected[^"]*destsent/);
  });

  test.for([
    ['--time together with --since', ['--time', '7d', '--since', '2h'], /not two of them/],
    [
      'a --since that is later than --until',
      ['--since', '1h', '--until', '2h'],
      /--since must not be later than --until/,
    ],
    [
      'a mistyped state in --state',
      ['--state', 'complted'],
      /"complted" is not a state\. Did you mean completed\?/,
    ],
    ['a state name with a blank', ['--state', 'a b'], /"a b" is not a state\. Write one of quoted/],
    ['--all together with --page', ['--all', '--page', '2'], /--all lists everything/],
    ['an invalid time in --since', ['--since', 'yesterday'], /"yesterday" is not a time.*2h or 7d/],
  ] as const)('refuses %s', async ([, args, message], { around }) => {
    const run = await svcpay(['tx', 'list', ...args], around);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(message);
  });
});

test('svcpay tx get and tx list show the failure reason that a webhook event reported', async ({
  around,
}) => {
  const fault = ['sandbox', 'fault', 'add', 'payment', 'outcome=no-route'];
  expect(await svcpay(fault, around)).toMatchObject({ exitCode: 0 });
  const send = ['send', 'ada@example.com', '2500sat', '--yes', '--json'];
  expect(await svcpay(send, around)).toMatchObject({ exitCode: 6 });
  const txnId = (await svcpay(['tx', 'list', '--state', 'failed', '-q'], around)).stdout.trim();
  expect((await svcpay(['tx', 'get', txnId, '-o', 'table'], around)).stdout).not.toContain(
    'no route',
  );
  const listener = await startListening([], around);
  const event = { txnId, txnState: 'failed', msg: 'no route', updatedAt: 1 };
  expect(await deliver(listener.url, event)).toBe(200);
  listener.child.kill('SIGINT');
  await listener.ended;
  const receipt = await svcpay(['tx', 'get', txnId, '-o', 'table'], around);
  expect(receipt.stdout).toMatch(/Lightning send +failed · no route/);
  const list = await svcpay(['tx', 'list', '-o', 'table'], around);
  expect(list.stdout).toMatch(/failed · no route/);
  const json = await svcpay(['tx', 'get', txnId, '--json', '--fields', 'txnState,msg'], around);
  expect(JSON.parse(json.stdout)).toEqual({ txnState: 'failed', msg: 'no route' });
  for (let times = 0; times < 2; times += 1) {
    const again = await svcpay(['tx', 'resume', txnId, '--yes', '--json'], around);
    expect(again.error().message).toContain("The service's reason: no route.");
  }
  const story = (await svcpay(['tx', 'explain', txnId, '-o', 'table'], around)).stdout;
  expect(story.match(/the service's reason: no route/g)).toHaveLength(1);
  expect(await svcpay(['db', 'verify'], around)).toMatchObject({ exitCode: 0 });
});

test('svcpay tx get --verbose shows the payment hash in the receipt of a Lightning payment', async ({
  around,
}) => {
  const invoice = await around.sandbox.invoice('1000sat');
  const paid = await svcpay(['send', 'lightning', invoice, '--yes', '-q'], around);
  const decoded = await svcpay(['decode', invoice, '--json', '--fields', 'paymentHash'], around);
  const { paymentHash } = v.parse(v.object({ paymentHash: v.string() }), decoded.json());
  const tty = svcpayTty(['tx', 'get', paid.stdout.trim(), '--verbose'], around);
  await tty.waitFor(/Lightning send\s+done/);
  await tty.waitFor(/Service fee\s+0\.00000002 BTC/);
  await tty.waitFor(paymentHash);
  await tty.waitFor(/Story: svcpay .*tx explain/);
  expect(await tty.ended).toBe(0);
});

test('svcpay wallets -q prints only the amount if the command names a single wallet', async ({
  around,
}) => {
  const all = await svcpay(['wallets', '-q'], around);
  expect(all.stdout).toMatch(/^BTC [\d.]+\nUSDT [\d.]+\n/);
  expect((await svcpay(['wallets', 'USDT', '-q'], around)).stdout).toMatch(/^[\d.]+\n$/);
});

describe('svcpay tx confirm', () => {
  const confirmed = (run: Run): unknown => run.json();

  test('confirms a quote only once if the command is repeated', async ({ around, quote }) => {
    const first = await svcpay(['tx', 'confirm', quote, '--yes', '--json'], around);
    expect(first).toMatchObject({ exitCode: 0 });
    expect(confirmed(first)).toMatchObject({ txnId: quote, txnState: 'completed' });
    const again = await svcpay(['tx', 'confirm', quote, '--yes', '--json'], around);
    expect(again).toMatchObject({
      exitCode: 0,
      stderr: 'Nothing moved: this transaction was already completed.\n',
    });
    expect(around.sandbox.requests('PUT', `/api/v2/transaction/${quote}/confirm`)).toHaveLength(1);
  });

  test('shows the cost at a terminal and sends no confirmation if the person declines', async ({
    around,
    quote,
  }) => {
    const tty = svcpayTty(['tx', 'confirm', quote], around);
    await tty.waitFor(/You pay\s+5\.0125 USDT/);
    await tty.waitFor(/Pay .*\? /);
    tty.type('\r');
    expect(await tty.ended).toBe(9);
    expect(around.sandbox.requests('PUT', `/api/v2/transaction/${quote}/confirm`)).toHaveLength(0);
  });

  test('applies --max-fee to a quote that is not in the journal', async ({
    around,
    sandbox,
    quote,
  }) => {
    const elsewhere = { ...around, home: `${around.home}/elsewhere` };
    const limited = await svcpay(
      ['tx', 'confirm', quote, '--yes', '--max-fee', '0.01usdt'],
      elsewhere,
    );
    expect(limited).toMatchObject({ exitCode: 7, stdout: '' });
    const run = await svcpay(['tx', 'confirm', quote, '--yes', '--json'], elsewhere);
    expect(confirmed(run)).toMatchObject({ txnState: 'completed' });
    expect(
      sandbox.requests('POST', '/api/v2/transaction').filter(({ status }) => status === 200),
    ).toHaveLength(3);
  });

  test('requests no new quote if the quote has expired', async ({ around, sandbox, quote }) => {
    await sandbox.clock.advance('2m');
    const run = await svcpay(['tx', 'confirm', quote, '--yes', '--json'], around);
    expect(run).toMatchObject({ exitCode: 6, stdout: '' });
    expect(run.error().message).toMatch(/quote is expired/);
    expect(
      sandbox.requests('POST', '/api/v2/transaction').filter(({ status }) => status === 200),
    ).toHaveLength(3);
  });
});

describe('svcpay tx cancel', () => {
  test('cancels a quote so that svcpay tx confirm fails afterwards', async ({ around, quote }) => {
    const run = await svcpay(['tx', 'cancel', quote, '--json'], around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({ txnState: called('usercanceled') });
    expect(await svcpay(['tx', 'confirm', quote, '--yes'], around)).toMatchObject({
      exitCode: 6,
      stdout: '',
    });
  });

  test('refuses to cancel an unknown transaction or a completed transaction', async ({
    around,
    quote,
  }) => {
    expect(await svcpay(['tx', 'cancel', 'no-such-id'], around)).toMatchObject({
      exitCode: 5,
      stdout: '',
    });
    await svcpay(['tx', 'confirm', quote, '--yes'], around);
    const late = await svcpay(['tx', 'cancel', quote], around);
    expect(late).toMatchObject({ exitCode: 3, stdout: '' });
    expect(late.stderr).toMatch(
      /^Not cancelled: this transaction is completed, and only a quote can be cancelled/,
    );
  });
});

describe('svcpay tx get and tx watch', () => {
  test('resolve a unique prefix of an id and list the matches of an ambiguous prefix', async ({
    around,
  }) => {
    const quotedLast = (await svcpay(['tx', 'list', '-q'], around)).stdout.trim().split('\n');
    const id = quotedLast[0] ?? '';
    const file = join(around.home, 'seen-ids.json');
    const rows = v.array(v.object({ txnId: v.string(), about: v.string() }));
    const stored = v.parse(v.record(v.string(), rows), JSON.parse(readFileSync(file, 'utf8')));
    const twin = `${id.slice(0, 9)}${id[9] === 'a' ? 'b' : 'a'}${id.slice(10)}`;
    const withTwin = Object.entries(stored).map(([scope, seen]) => [
      scope,
      [...seen, { txnId: twin, about: '' }],
    ]);
    writeFileSync(file, JSON.stringify(Object.fromEntries(withTwin)));
    const several = await svcpay(['tx', 'get', id.slice(0, 6)], around);
    expect(several).toMatchObject({ exitCode: 2, stdout: '' });
    for (const each of [id, twin]) expect(several.stderr).toContain(each.slice(0, 10));
    const elsewhere = { ...around, home: join(around.home, 'elsewhere') };
    for (const [prefix, here] of [
      [id.slice(0, 10), around],
      [id.slice(0, 7), elsewhere],
    ] as const) {
      const one = await svcpay(['tx', 'get', prefix.toUpperCase(), '-q'], here);
      expect(one).toMatchObject({ exitCode: 0, stdout: `${id}\n` });
    }
  });

  test('resolve the prefix of an old id from the journal, from shown ids and from the list', async ({
    around,
  }) => {
    const paid = await svcpay(['swap', '5usdt', 'BTC', '--yes', '-q'], around);
    const received = await svcpay(
      ['receive', 'lightning', '1000sat', '--json', '--fields', 'txnId'],
      around,
    );
    const { txnId } = v.parse(v.object({ txnId: v.string() }), received.json());
    await around.sandbox.clock.advance('60d');
    await svcpay(['swap', '6usdt', 'BTC', '--yes', '-q'], around);
    await svcpay(['tx', 'list', '--time', '1d'], around);
    const elsewhere = { ...around, home: join(around.home, 'elsewhere') };
    for (const [id, here] of [
      [paid.stdout.trim(), around],
      [txnId, around],
      [txnId, elsewhere],
    ] as const) {
      const got = await svcpay(['tx', 'get', id.slice(0, 8), '-q'], here);
      expect(got).toMatchObject({ exitCode: 0, stdout: `${id}\n` });
    }
  });

  test('show a line for each watched transaction until all transactions have ended', async ({
    around,
  }) => {
    const asked = async (amount: string): Promise<string> => {
      const run = await svcpay(
        ['receive', 'lightning', amount, '--json', '--fields', 'txnId'],
        around,
      );
      return v.parse(v.object({ txnId: v.string() }), run.json()).txnId;
    };
    const [first, second] = [await asked('1000sat'), await asked('2000sat')];
    const tty = svcpayTty(['tx', 'watch', first, second], { ...around, columns: 100 });
    await tty.waitFor(
      new RegExp(
        `${first.slice(0, 8)}  ✓ quoted ── ● invoice ready ── ○ received\\s+${second.slice(0, 8)}  ✓ quoted ── ● invoice ready ── ○ received`,
      ),
    );
    await around.sandbox.pay(second);
    await around.sandbox.pay(first);
    expect(await tty.ended).toBe(0);
    expect(tty.text()).toMatch(/done[\s\S]*done/);
  });

  test('end with exit 6 if a watched transaction was cancelled', async ({ around, quote }) => {
    await svcpay(['tx', 'cancel', quote], around);
    const run = await svcpay(['tx', 'watch', quote, '-o', 'jsonl'], around);
    expect(run.exitCode).toBe(6);
    expect(run.stdout.trim().split('\n')).toHaveLength(1);
  });
});

describe('svcpay tx resume', () => {
  test('reads the final states of all payments from the list, without one request per payment', async ({
    around,
  }) => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const ref of names) {
      const invoice = await around.sandbox.invoice('100sat');
      const send = ['send', 'lightning', invoice, '--ref', ref, '--yes', '--no-wait', '-q'];
      expect(await svcpay(send, around)).toMatchObject({ exitCode: 0 });
    }
    await around.sandbox.clock.advance('1m');
    const before = around.sandbox.requests().length;
    const resumed = await svcpay(['tx', 'resume', '--yes', '--no-wait', '--json'], around);
    expect(resumed.json()).toMatchObject(
      names.map((ref) => ({ ref, txnState: 'completed', exitCode: 0, message: null })),
    );
    const single = around.sandbox
      .requests()
      .slice(before)
      .filter(({ path }) => /transaction\/[0-9a-f]/.test(path));
    expect(single).toEqual([]);
    expect((await svcpay(['tx', 'pending', '--json'], around)).json()).toEqual([]);
  });

  test('shows the progress of a payment that is already in flight', async ({ around }) => {
    await svcpay(
      [
        'send',
        'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
        '0.001btc',
        '--yes',
        '--no-wait',
        '--ref',
        'fourth',
      ],
      around,
    );
    const tty = svcpayTty(['tx', 'resume'], around);
    // svcpay does not know which steps follow an unrecognized state.
    await tty.waitFor(/✓ quoted ── ● (?:confirmed|0 of 1)/);
    tty.type('\u0003');
    expect(await tty.ended).toBe(8);
    // On a busy machine, Ctrl-C can come before the answer to the first read.
    expect(tty.text()).toMatch(
      /● (?:Sent, not settled yet\. It goes on without you\.\s+svcpay tx watch|Outcome unknown: the payment was submitted[^]*svcpay tx resume)/,
    );
  });
});

describe('svcpay tx export', () => {
  test('writes the complete transaction history in the requested file format', async ({
    around,
    quote,
  }) => {
    const csv = await svcpay(['tx', 'export', '--format', 'csv', '--since', '30d'], around);
    expect(csv.stdout.trim().split('\n')).toHaveLength(4);
    expect(csv.stdout).toContain(quote);
    const lines = await svcpay(['tx', 'export', '--format', 'jsonl', '--since', '30d'], around);
    expect(lines.stdout.trim().split('\n')).toHaveLength(3);
  });

  test.for([
    ['a command line without a format', [], /-o csv, -o jsonl/],
    ['--json together with --format csv', ['--format', 'csv', '--json'], /writes only csv/],
  ] as const)('refuses %s', async ([, args, message], { around }) => {
    const run = await svcpay(['tx', 'export', ...args], around);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(message);
  });
});
