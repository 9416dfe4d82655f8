// svcpay pays once and reports correctly even if services or gateways return stale or wrong states,
// or services accept used references.
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
/** Makes each read of the first attempt return `expired`, whatever its state. */
const calledExpired = ({ body, state }: Txn): string =>
  body['extRefId'] === 'order-1' ? 'expired' : state;

describe('svcpay send after its confirmation', { concurrent: true }, () => {
  const early = [
    { what: 'took effect and lost its answer', effect: 'at once' as const },
    { what: 'took effect after its answer was lost', effect: 400 },
  ];
  test.for(early.map((each) => [each.what, each] as const))(
    'exits 8 instead of paying again if reads return `expired` although the confirmation %s',
    async ([, { effect }], { strict }) => {
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

  test('exits 8 without --retry, and pays again with --retry, if a confirmed transaction expired unpaid', async ({
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

test('svcpay tx watch exits 8 and tx get exits 75 for a payment in flight if the service is unreachable', async ({
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

test('svcpay send does not pay again for a quote that another home confirmed if reads return `expired`', async ({
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

describe('svcpay send behind a gateway', { concurrent: true }, () => {
  test.for([
    ['carried out', 'at once'],
    ['never received', 'none'],
  ] as const)(
    'pays once if a gateway answers 4xx to a confirmation that the service %s',
    async ([, effect], { strict }) => {
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
    'exits 8 if a gateway answers $status to every confirmation and read, and tx resume finds the outcome',
    async ({ status, body }, { strict }) => {
      const { service, run } = strict;
      // The service carries out the first confirmation later; until then the gateway blocks reads.
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
 * The refusals that the service may return for a second copy of a confirmation after the first copy
 * took the money.
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

test.for(
  inAnyWords.map(
    (each) =>
      [
        `${each.status} ${each.error}${each.code === undefined ? '' : ` and code ${each.code}`}`,
        each,
      ] as const,
  ),
)(
  'svcpay send pays once despite stale reads if an executed confirmation is answered with %s',
  async ([, { status, ...body }], { strict }) => {
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

describe('svcpay send', { concurrent: true }, () => {
  test('exits 8 if the service refuses a reference as used but does not list the reference yet', async ({
    strict,
  }) => {
    const { service, run } = strict;
    service.temper.lists = () => false;
    service.temper.meetings.push(lost('create request', 'at once'));
    expect(await run(shop)).toMatchObject({ exitCode: 8, stdout: '' });
    service.temper.lists = () => true;
    expect(await run(shop)).toMatchObject({ exitCode: 0 });
    expect(service.moved()).toHaveLength(1);
  });

  test('pays once if three homes use the same reference and the service refuses a reference that is already used', async ({
    strict,
  }) => {
    const { service, run } = strict;
    Object.assign(service.temper, { createRequestsTogether: 3 });
    const ends = await Promise.all(['a', 'b', 'c'].map((at) => run(shop, at)));
    expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    expect(new Set(ends.map((end) => Reflect.get(Object(end.json()), 'txnId'))).size).toBe(1);
    expect(service.moved()).toHaveLength(1);
  });

  test('pays once if a create request takes effect late and the service accepts used references', async ({
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
