// svcpay reports correct outcomes even if page metadata, journals, clocks or host names are wrong.
import { existsSync, readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { quickTime } from '../support/in-process.js';

import { lnurl, test, type Strict } from '../support/strict.js';
import { svcpayTty } from '../support/svcpay.js';

const ahead = (ms: number) => (): number => Date.now() + ms;
const day = 86_400_000;

/** Adds quotes directly to the service, which is faster than a process for each quote. */
function fill({ service }: Strict, count: number): void {
  const body = {
    sourceReq: { ccy: 'USDT', method: 'servicepay', amtRequested: 1 },
    destReq: { ccy: 'BTC', method: 'servicepay' },
  };
  for (let index = 0; index < count; index += 1) service.add({ ...body, extRefId: `old-${index}` });
}

const echoes = [
  {
    what: 'the requested limit instead of the page size',
    echo: (asked: object) => ({ ...asked, limit: 100, total: 95 }),
  },
  { what: 'a total of 0', echo: (asked: object) => ({ ...asked, total: 0 }) },
  { what: 'the page size as the total', echo: (asked: object) => ({ ...asked, total: 20 }) },
];

describe.concurrent('svcpay with a list in pages of 20', () => {
  test.override({ dialect: { pageSize: 20 } });

  test.for(echoes.map((each) => [each.what, each] as const))(
    'reads the whole transaction list if the page metadata has %s',
    async ([, { echo }], { strict }) => {
      const { service, run } = strict;
      fill(strict, 95);
      service.temper.echoes = echo;
      const [listed, exported, raw] = await Promise.all([
        run('tx list --all --json'),
        run('tx export --format jsonl', 'books'),
        run('api GET /api/v2/transaction?limit=100 --paginate', 'raw'),
      ]);
      expect(JSON.parse(listed.stdout)).toHaveLength(95);
      expect(exported.stdout.trim().split('\n')).toHaveLength(95);
      expect(raw.stdout.match(/old-\d+/g)).toHaveLength(95);
    },
  );
});

describe.concurrent('svcpay send', () => {
  test('pays nothing if the journal was emptied, and reports the journal as damaged', async ({
    strict,
  }) => {
    const { service, run, home } = strict;
    expect(await run(`${lnurl('shop')} --ref order-1`)).toMatchObject({ exitCode: 0 });
    const file = join(home('home'), 'journal.db');
    truncateSync(file, 0);
    const end = await run(`${lnurl('other')} --ref order-2`);
    expect(end).toMatchObject({ exitCode: 2, stdout: '' });
    expect(end.error().message).toMatch(/damaged/);
    expect(readdirSync(home('home')).filter((name) => name.startsWith('journal.db'))).not.toEqual(
      [],
    );
    expect(existsSync(file)).toBe(true);
    expect(service.moved()).toHaveLength(1);
  });

  test('never reports "nothing moved" if another process pays before the person answers', async ({
    strict,
  }) => {
    const { service, run, home } = strict;
    const tty = svcpayTty('send lnurl shop@example.com 1000sat --ref order-1'.split(' '), {
      home: home('home'),
      sandbox: service,
    });
    await tty.waitFor(/Pay 0\.0000/);
    // For a second process, whose clock is ahead, the lease has expired, so the second process
    // pays.
    expect(
      await run(`${lnurl('shop')} --ref order-1`, 'home', { now: ahead(3_600_000) }),
    ).toMatchObject({ exitCode: 0 });
    tty.type('\u0003');
    expect([0, 8]).toContain(await tty.ended);
    expect(tty.text()).not.toMatch(/Not sent|[Nn]othing moved/);
    expect(service.moved()).toHaveLength(1);
  });
});

describe.concurrent('svcpay send with limits', () => {
  test('enforces the daily limit under another hostname and with a machine clock that is ahead', async ({
    strict,
  }) => {
    const { service, run } = strict;
    const url = service.url.replace('127.0.0.1', 'localhost');
    expect(await run('limits set --per-day 1500sat')).toMatchObject({ exitCode: 0 });
    expect(await run(lnurl('shop'))).toMatchObject({ exitCode: 0 });
    const others = [
      await run(lnurl('other')),
      await run(lnurl('other'), 'home', { sandbox: { ...service, url } }),
      await run(lnurl('other'), 'home', { now: ahead(2 * day) }),
      await run(`${lnurl('other')} --account ${service.accountId}`),
    ];
    expect(others.map(({ exitCode }) => exitCode)).toEqual([7, 7, 7, 7]);
    expect(service.moved()).toHaveLength(1);
  });

  test('refuses an unknown profile, because its payments would bypass the limits', async ({
    strict,
  }) => {
    const { run, service } = strict;
    const ends = [
      await run(`${lnurl('shop')} --profile nosuch`),
      await run(lnurl('shop'), 'home', { env: { SVCPAY_PROFILE: 'nosuch' } }),
    ];
    expect(ends.map(({ exitCode }) => exitCode)).not.toContain(0);
    expect(service.moved()).toHaveLength(0);
  });
});

test('svcpay send pays even if the answers of the service contain a field with 4,000 nested arrays', async ({
  strict,
}) => {
  const { service, run } = strict;
  service.temper.makes = (view) => ({
    ...view,
    deep: JSON.parse(`${'['.repeat(4_000)}${']'.repeat(4_000)}`),
  });
  expect(await run(lnurl('shop'))).toMatchObject({ exitCode: 0 });
  expect(service.moved()).toHaveLength(1);
});

const deep = `${'{"error":'.repeat(20_000)}1${'}'.repeat(20_000)}`;

describe.concurrent('svcpay send with deeply nested answers', () => {
  test.for([
    ['create request', 75, 0],
    ['read', 8, 1],
  ] as const)(
    'does not crash if the answer to a %s is an error nested 20,000 levels deep, and exits %d',
    async ([exchange, exitCode, moved], { strict }) => {
      const { service, run } = strict;
      service.temper.meetings.push({
        exchange,
        status: 500,
        body: deep,
        effect: 'none',
        times: 99,
      });
      service.temper.reads = ({ state }) => (state === 'quoted' ? 'quoted' : 'srccreated');
      expect(await run(`${lnurl('shop')} --wait-timeout 5s`, 'home', quickTime())).toMatchObject({
        exitCode,
        stdout: '',
      });
      expect(service.moved()).toHaveLength(moved);
    },
  );

  test('exits 3 if the address of a quote is nested 20,000 levels deep', async ({ strict }) => {
    const { service, run } = strict;
    service.temper.makes = (view) => ({
      ...view,
      destReq: { ...Object(view['destReq']), reqDetails: { address: '\u2603' } },
    });
    service.temper.carries = (_request, body) => body.replace('"\u2603"', deep);
    expect(await run(lnurl('shop'))).toMatchObject({ exitCode: 3, stdout: '' });
    expect(service.moved()).toHaveLength(0);
  });
});

test('svcpay send shortens an error message and an error code of 1 MB', async ({ strict }) => {
  const { service, run } = strict;
  const long = 'x'.repeat(1_000_000);
  service.temper.meetings.push({
    exchange: 'create request',
    status: 400,
    body: JSON.stringify({ error: long, message: long, code: long }),
    effect: 'none',
    times: 9,
  });
  const end = await run(lnurl('shop'));
  expect(end).toMatchObject({ exitCode: 3 });
  expect(end.stderr.length).toBeLessThan(4_000);
});
