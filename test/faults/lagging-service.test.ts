// Services with stale or wrong states, reused references or gateways: paid once, with a correct
// report.
import { describe, expect } from 'vitest';
import type { Meeting } from '../conformance/strict-temper.js';
import type { Txn } from '../conformance/strict-transactions.js';
import { quickTime } from '../support/in-process.js';
import { lnurl, shop, test } from '../support/strict.js';
import { until } from '../support/until.js';

const page = '<!doctype html><h1>Gateway</h1>';
const lost = (exchange: Meeting['exchange'], effect: Meeting['effect']): Meeting => ({
  exchange,
  status: 'broken off',
  body: '',
  effect,
  times: 1,
});
/** Reads that say of the first attempt that it is over, whatever has become of it. */
const calledExpired = ({ body, state }: Txn): string =>
  body['extRefId'] === 'order-1' ? 'expired' : state;

describe('after its confirmation', { concurrent: true }, () => {
  const early = [
    { what: 'taken, its answer lost', effect: 'at once' as const },
    { what: 'taken after its answer was lost', effect: 400 },
  ];
  test.for(early)(
    'a payment ($what) that reads expired has an unknown outcome, and is not repeated',
    async ({ effect }, { strict }) => {
      const { service, run } = strict;
      service.temper.meetings.push(lost('confirmation', effect));
      service.temper.reads = calledExpired;
      const [first, again] = [await run(shop), await run(`${shop} --no-wait`)];
      expect([first.exitCode, again.exitCode]).toEqual([8, 8]);
      service.temper.reads = ({ state }) => state;
      expect(await run('tx resume --json')).toMatchObject({ exitCode: 0 });
      const end = await run(shop);
      expect(end).toMatchObject({ exitCode: 0 });
      expect(end.json()).toMatchObject({ txnState: 'completed', extRefId: 'order-1' });
      expect(service.moved()).toHaveLength(1);
    },
  );

  test('a payment that really expired has an unknown outcome, until --retry', async ({
    strict,
  }) => {
    const { service, run } = strict;
    service.temper.meetings.push(lost('confirmation', 'none'));
    service.temper.reads = calledExpired;
    const first = await run(`${shop} --no-wait`);
    expect(first.exitCode).toBe(8);
    const { txnId } = first.error();
    for (const line of [
      `tx watch ${txnId}`,
      `tx confirm ${txnId} --yes`,
      `tx cancel ${txnId}`,
      'tx resume order-1 --no-wait --yes',
    ]) {
      expect(await run(`${line} --json`)).toMatchObject({ exitCode: 8, stdout: '' });
    }
    expect(service.moved()).toHaveLength(0);
    const end = await run(`${shop} --retry`);
    expect(end).toMatchObject({ exitCode: 0 });
    expect(end.json()).toMatchObject({ txnState: 'completed', extRefId: 'order-1~2' });
    expect(service.moved()).toHaveLength(1);
    for (const line of [`tx watch ${txnId}`, `tx cancel ${txnId}`]) {
      expect((await run(`${line} --json`)).error()).toMatchObject({
        exitCode: 8,
        hint: expect.stringContaining('svcpay tx resume order-1'),
      });
    }
    expect(await run('tx resume order-1 --json')).toMatchObject({ exitCode: 0 });
    expect((await run(`tx get ${txnId} --json`)).json()).toMatchObject({ txnId });
  });
});

test('a payment in flight at an unreachable service has an unknown outcome for watch, and is temporary for get', async ({
  strict,
}) => {
  const { service, run } = strict;
  service.temper.reads = () => 'srccreated';
  const { txnId } = (await run(`${shop} --no-wait`)).json() as { txnId: string };
  await service.stop();
  expect((await run(`tx watch ${txnId} --timeout 1s --json`)).error()).toMatchObject({
    exitCode: 8,
    txnId,
    hint: expect.stringContaining('tx resume'),
  });
  expect((await run(`tx get ${txnId} --timeout 1s --json`)).error()).toMatchObject({
    exitCode: 75,
    txnId,
  });
});

test('a quote that another home confirmed, as seen here, is not paid again if it reads expired', async ({
  strict,
}) => {
  const { service, run } = strict;
  const { txnId } = (await run(`${shop} --quote-only`)).json() as { txnId: string };
  expect(await run(`tx confirm ${txnId} --yes --json`, 'another home')).toMatchObject({
    exitCode: 0,
  });
  expect(await run(`tx get ${txnId} --json`)).toMatchObject({ exitCode: 0 });
  service.temper.reads = calledExpired;
  expect([0, 8]).toContain((await run(`${shop} --no-wait`)).exitCode);
  expect(service.transactions.size).toBe(1);
});

const gateways = [
  { status: 408, body: page },
  { status: 409, body: '{"error":"conflict"}' },
  { status: 423, body: '{"error":"locked"}' },
  { status: 425, body: '{"error":"too early"}' },
  { status: 499, body: '' },
  { status: 404, body: page },
  { status: 403, body: page },
  { status: 400, body: '' },
];

describe("a gateway's answer to a confirmation", { concurrent: true }, () => {
  test.for(['at once', 'none'] as const)(
    'with its own 4xx, whose effect is %s, leads to a repetition: paid once, exit 0',
    async (effect, { strict }) => {
      const { service, run } = strict;
      const codes = await Promise.all(
        gateways.map(async ({ status, body }, index) => {
          const ref = `order-${index}`;
          service.temper.meetings.push({
            exchange: 'confirmation',
            ref,
            status,
            body,
            effect,
            times: 1,
          });
          return (await run(`${lnurl(`shop${index}`)} --ref ${ref}`, `home-${index}`)).exitCode;
        }),
      );
      expect(codes).toEqual(gateways.map(() => 0));
      expect(service.moved()).toHaveLength(gateways.length);
    },
  );

  test.for([1, 5, 6].map((index) => gateways[index] ?? { status: 0, body: '' }))(
    'with $status every time leaves an unknown outcome, which resume clarifies',
    async ({ status, body }, { strict }) => {
      const { service, run } = strict;
      // The first is carried out in the end; reads are kept away by the same gateway until then.
      service.temper.meetings.push(
        { exchange: 'confirmation', status, body, effect: 300, times: 1 },
        { exchange: 'confirmation', status, body, effect: 'none', times: 99 },
        { exchange: 'read', status, body, effect: 'none', times: 99 },
      );
      expect((await run(shop)).exitCode).toBe(8);
      service.temper.meetings.length = 0;
      await until(() => service.moved().length > 0);
      expect(await run('tx resume --json')).toMatchObject({ exitCode: 0 });
      expect(service.moved()).toHaveLength(1);
    },
  );
});

/**
 * Refusals in any words: of two copies the first takes the money, and its effect refuses the
 * second.
 */
const inAnyWords = [
  { status: 400, error: 'insufficient balance' },
  { status: 400, error: 'insufficient balance', code: '2001', resultStatus: 'error' },
  { status: 400, error: 'quote expired', code: '2006', resultStatus: 'error' },
  { status: 400, error: 'daily limit exceeded' },
  { status: 404, error: 'not found' },
  { status: 403, error: 'insufficient permissions' },
  { status: 401, error: 'invalid token or token expired' },
  { status: 400, error: 'session expired' },
  { status: 400, error: 'rate limit exceeded' },
  { status: 400, error: 'too many requests, limit 5/s' },
  { status: 200, error: 'request limit', resultStatus: 'error' },
];

test.for(inAnyWords)(
  'a confirmation with an effect, answered with $status $error, is paid once despite stale reads',
  async ({ status, ...body }, { strict }) => {
    const { service, run } = strict;
    let reads = 0;
    service.temper.reads = ({ state }) => ((reads += 1) <= 3 ? 'quoted' : state);
    service.temper.meetings.push({
      exchange: 'confirmation',
      status,
      body: JSON.stringify(body),
      effect: 'at once',
      times: 9,
    });
    const invoice = service.invoice(1000n);
    const ends = [
      await run(`send lightning ${invoice} --yes --json --ref one`, 'home', quickTime()),
      await run(`send lightning ${invoice} --yes --json --ref two`, 'home', quickTime()),
    ];
    expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 2]);
    expect(service.moved()).toHaveLength(1);
  },
);

describe('a reference', { concurrent: true }, () => {
  test('refused as used, but not listed yet, has an unknown outcome', async ({ strict }) => {
    const { service, run } = strict;
    service.temper.lists = () => false;
    service.temper.meetings.push(lost('create request', 'at once'));
    expect(await run(shop)).toMatchObject({ exitCode: 8, stdout: '' });
    service.temper.lists = () => true;
    expect(await run(shop)).toMatchObject({ exitCode: 0 });
    expect(service.moved()).toHaveLength(1);
  });

  test('refused as used is paid once by three concurrent homes', async ({ strict }) => {
    const { service, run } = strict;
    Object.assign(service.temper, { createRequestsTogether: 3 });
    const ends = await Promise.all(['a', 'b', 'c'].map((at) => run(shop, at)));
    expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    expect(new Set(ends.map((end) => Reflect.get(Object(end.json()), 'txnId'))).size).toBe(1);
    expect(service.moved()).toHaveLength(1);
  });

  test('whose creation took effect late is paid once, although the service accepts references twice', async ({
    strict,
  }) => {
    const { service, run } = strict;
    service.temper.takesUsedReferences = true;
    service.temper.meetings.push(lost('create request', 1_000));
    expect(await run(shop)).toMatchObject({ exitCode: 0 });
    await until(() => service.transactions.size > 1);
    expect(await run(shop)).toMatchObject({ exitCode: 0 });
    expect(service.moved()).toHaveLength(1);
  });
});
