// Services that lag, lie about what is over, take references twice or stand behind gateways: paid once, and told truly.
import { describe, expect } from 'vitest';
import type { Meeting } from '../conformance/strict-temper.js';
import { lnurl, test, isOpen } from '../support/strict.js';

const page = '<!doctype html><h1>Gateway</h1>';
const lost = (exchange: Meeting['exchange'], effect: Meeting['effect']): Meeting =>
  ({ exchange, status: 'broken off', body: '', effect, times: 1 });
const shop = `${lnurl('shop')} --ref order-1 --wait-timeout 2s --timeout 1s`;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(isOpen)('after its confirmation was sent', { concurrent: true }, () => {
  const early = [
    { what: 'taken, its answer lost', effect: 'at once' as const },
    { what: 'taken long after its answer was lost', effect: 2_500 },
  ];
  test.for(early)('a payment ($what) that is called expired too early is in doubt, and is not paid again', async ({ effect }, { strict }) => {
    const { service, run } = strict;
    Object.assign(service.temper, { quoteLifeMs: 1_500, readLagMs: 3_000, saysExpiredTooEarly: true });
    service.temper.meetings.push(lost('confirmation', effect));
    // What is new cannot be read at first: the quote lapses meanwhile.
    const first = await run(shop);
    const again = await run(shop);
    expect([first.exitCode, again.exitCode]).toEqual([8, 8]);
    await pause(3_500);
    expect(await run('tx resume --json')).toMatchObject({ exitCode: 0 });
    const end = await run(shop);
    expect(end).toMatchObject({ exitCode: 0 });
    expect(end.json()).toMatchObject({ txnState: 'completed', extRefId: 'order-1' });
    expect(service.moved()).toHaveLength(1);
  });

  test('a payment that really expired stays in doubt, until a person says --retry', async ({ strict }) => {
    const { service, run } = strict;
    service.temper.quoteLifeMs = 800;
    service.temper.meetings.push({ ...lost('confirmation', 'none'), times: 9 });
    await run(shop);
    service.temper.meetings.length = 0;
    await pause(800);
    expect((await run(shop)).exitCode).toBe(8);
    expect((await run('tx resume --json')).exitCode).toBe(8);
    expect(service.moved()).toHaveLength(0);
    service.temper.quoteLifeMs = 60_000;
    expect(await run(`${shop} --retry`)).toMatchObject({ exitCode: 0 });
    expect(service.moved()).toHaveLength(1);
  });
});

const gateways = [
  { status: 408, body: page }, { status: 409, body: '{"error":"conflict"}' }, { status: 423, body: '{"error":"locked"}' },
  { status: 425, body: '{"error":"too early"}' }, { status: 499, body: '' }, { status: 404, body: page },
  { status: 403, body: page }, { status: 400, body: '' },
];

describe.skipIf(isOpen)('a gateway that answers a confirmation', { concurrent: true }, () => {
  test('with its own 4xx is asked again: paid once, exit 0, whether the service had acted or not', async ({ strict }) => {
    const { service, run, home } = strict;
    for (const effect of ['at once', 'none'] as const) {
      for (const [index, { status, body }] of gateways.entries()) {
        // One after the other, so that each meets its own; what was told is read back at once.
        service.temper.meetings.push({ exchange: 'confirmation', status, body, effect, times: 1 });
        const end = await run(`${lnurl(`shop${index}`)} --ref ${index}-${effect.replace(' ', '-')}`, 'home');
        expect({ status, effect, exitCode: end.exitCode }).toEqual({ status, effect, exitCode: 0 });
      }
    }
    expect(home('home')).toBeTruthy();
    expect(service.moved()).toHaveLength(2 * gateways.length);
  });

  test.for(gateways)('with $status every time leaves a doubt, and the truth for resume', async ({ status, body }, { strict }) => {
    const { service, run } = strict;
    // The first is carried out later; reads are kept away by the same gateway until then.
    service.temper.meetings.push(
      { exchange: 'confirmation', status, body, effect: 1_500, times: 1 },
      { exchange: 'confirmation', status, body, effect: 'none', times: 99 },
      { exchange: 'read', status, body, effect: 'none', times: 99 },
    );
    expect((await run(shop)).exitCode).toBe(8);
    service.temper.meetings.length = 0;
    await pause(1_600);
    expect(await run('tx resume --json')).toMatchObject({ exitCode: 0 });
    expect(service.moved()).toHaveLength(1);
  });
});

describe.skipIf(isOpen)('a reference', { concurrent: true }, () => {
  test('that the service refuses as used and does not list yet is in doubt, not refused', async ({ strict }) => {
    const { service, run } = strict;
    service.temper.listLagMs = 4_000;
    service.temper.meetings.push(lost('creation', 'at once'));
    const first = await run(shop);
    expect(first).toMatchObject({ exitCode: 8, stdout: '' });
    await pause(4_000);
    expect(await run(shop)).toMatchObject({ exitCode: 0 });
    expect(service.moved()).toHaveLength(1);
  });

  test('that the service takes twice is paid once, by three homes at the same moment', async ({ strict }) => {
    const { service, run } = strict;
    Object.assign(service.temper, { takesUsedReferences: true, creationsTogether: 3 });
    const ends = await Promise.all(['a', 'b', 'c'].map((at) => run(`${shop} --wait-timeout 10s --timeout 10s`, at)));
    expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    expect(new Set(ends.map((end) => Reflect.get(Object(end.json()), 'txnId'))).size).toBe(1);
    expect(service.moved()).toHaveLength(1);
  });

  test('whose creation was answered too late is paid once, where references are taken twice', async ({ strict }) => {
    const { service, run } = strict;
    service.temper.takesUsedReferences = true;
    service.temper.meetings.push(lost('creation', 'at once'), lost('creation', 600));
    expect(await run(shop)).toMatchObject({ exitCode: 0 });
    await pause(600);
    expect(await run(shop)).toMatchObject({ exitCode: 0 });
    expect(await run(shop, 'elsewhere')).toMatchObject({ exitCode: 0 });
    expect(service.moved()).toHaveLength(1);
  });
});
