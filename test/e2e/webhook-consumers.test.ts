// Tests named consumers, former targets, and the use of two webhook secrets while the secret
// changes.
import Database from 'libsql';
import { describe, expect } from 'vitest';
import { eventsFile, findHome } from '../../src/store/files/home.js';
import { signBody } from '../../src/webhooks/events.js';
import { svcpay } from '../support/in-process.js';
import { startSvcpay, test } from '../support/svcpay.js';
import { until } from '../support/until.js';
import { deliver, startApplication, startListening } from '../support/webhooks.js';

const event = (txnId: string) => ({ txnId, txnState: 'completed', updatedAt: 1 });

const inboxOf = (home: string): string => eventsFile(findHome({ SVCPAY_HOME: home }));

/** Records in the inbox that svcpay last served a consumer `ms` milliseconds ago. */
function servedAgo(home: string, consumer: string, ms: number): void {
  const db = new Database(inboxOf(home));
  try {
    db.prepare('UPDATE consumers SET served_at = ? WHERE consumer = ?').run(
      Date.now() - ms,
      consumer,
    );
  } finally {
    db.close();
  }
}

const dayMs = 86_400_000;

describe('svcpay webhook consumers', () => {
  test('keeps the backlog of a named consumer if its address changes', async ({ home }) => {
    const [old, moved] = [await startApplication(() => 503), await startApplication(() => 200)];
    const named = ['--consumer', 'app'];
    const first = await startListening(['--forward-to', old.url, ...named], { home });
    await deliver(first.url, event('t1'));
    first.child.kill('SIGTERM');
    await first.ended;
    const list = () => svcpay(['webhook', 'consumers', 'list', '--json'], { home });
    expect((await list()).json()).toMatchObject([{ consumer: 'app', count: 1 }]);
    const second = await startListening(['--forward-to', moved.url, ...named], { home });
    await until(() => moved.bodies.length === 1);
    second.child.kill('SIGTERM');
    await second.ended;
    expect((await list()).json()).toMatchObject([{ consumer: 'app', count: 0, oldest: null }]);
  });

  test('renames and removes a consumer only while no listener serves the consumer', async ({
    home,
  }) => {
    const application = await startApplication(() => 503);
    const listener = await startListening(['--forward-to', application.url], { home });
    await deliver(listener.url, event('t1'));
    const change = (...args: string[]) => svcpay(['webhook', 'consumers', ...args], { home });
    const served = await change('rename', application.url, 'app');
    expect(served).toMatchObject({ exitCode: 75 });
    expect(served.stderr).toContain('Nothing was changed');
    listener.child.kill('SIGTERM');
    await listener.ended;
    expect(await change('rename', application.url, '../x')).toMatchObject({ exitCode: 2 });
    expect(await change('rename', 'nobody', 'app')).toMatchObject({ exitCode: 5 });
    expect(await change('rename', application.url, 'app', '-q')).toMatchObject({
      exitCode: 0,
      stdout: 'app\n',
    });
    expect(await change('remove', 'app')).toMatchObject({ exitCode: 9 });
    expect((await change('remove', 'app', '--yes', '--json')).json()).toEqual({
      consumer: 'app',
      dropped: 1,
    });
    expect((await change('list', '--json')).json()).toEqual([]);
    expect(await change('remove', 'app', '--yes')).toMatchObject({ exitCode: 5 });
  });

  test('drops an unserved consumer from the metrics after a day and from the inbox after 30 days', async ({
    home,
  }) => {
    const application = await startApplication(() => 503);
    const args = ['--forward-to', `${application.url}/secret-path`, '--metrics', '0'];
    const first = await startListening(args, { home });
    await deliver(first.url, event('t1'));
    const consumer = `${application.url}/secret-path`;
    const { origin } = new URL(application.url);
    const label = `svcpay_webhook_backlog{consumer="${origin}"} 1`;
    expect(await (await fetch(first.metricsUrl)).text()).toContain(label);
    first.child.kill('SIGTERM');
    await first.ended;
    servedAgo(home, consumer, 2 * dayMs);
    const second = await startListening(['--metrics', '0'], { home });
    const page = await (await fetch(second.metricsUrl)).text();
    expect(page).not.toContain('svcpay_webhook_backlog{');
    second.child.kill('SIGTERM');
    await second.ended;
    servedAgo(home, consumer, 31 * dayMs);
    const third = await startListening([], { home });
    await until(() => third.stderr().includes('no receiver has served'));
    third.child.kill('SIGTERM');
    expect((await third.ended).stderr).toContain('svcpay dropped 1 waiting event of');
    expect((await svcpay(['webhook', 'consumers', 'list', '--json'], { home })).json()).toEqual([]);
  });

  test.for([
    ['a consumer without a target', ['--consumer', 'app'], 'Give --consumer once for each'],
    [
      'two consumers for one target',
      ['--forward-to', 'http://a/', '--consumer', 'a', '--consumer', 'b'],
      '2 for 1',
    ],
    [
      'the same consumer for two targets',
      ['--forward-to', 'http://a/', '--exec', 'true', '--consumer', 'a', '--consumer', 'a'],
      'cannot have the same',
    ],
    [
      'a consumer name with a blank',
      ['--forward-to', 'http://a/', '--consumer', 'a b'],
      'is not a consumer name',
    ],
  ] as const)('refuses to start webhook listen with %s', async ([, args, why], { home }) => {
    const run = await startSvcpay(['webhook', 'listen', '--port', '0', ...args], {
      home,
      env: { SVCPAY_WEBHOOK_SECRET: 's' },
    }).ended;
    expect(run).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(why) });
  });
});

test('svcpay accepts signatures of two webhook secrets and signs with the first secret', async ({
  home,
}) => {
  const env = { SVCPAY_WEBHOOK_SECRET: 'newer,older' };
  const listener = await startListening([], { home, env }, 'newer,older');
  const delivered = [];
  for (const secret of ['newer', 'older', 'other', 'newer,older'])
    delivered.push(await deliver(listener.url, event(secret), secret));
  expect(delivered).toEqual([200, 200, 401, 401]);
  listener.child.kill('SIGTERM');
  await listener.ended;
  const body = '{"txnId":"t1"}';
  const signed = await svcpay(['webhook', 'sign', '-q'], { home, env, input: body });
  expect(signed.stdout.trim()).toBe(signBody(Buffer.from(body), 'newer'));
  const verify = (secret: string) => {
    const signature = signBody(Buffer.from(body), secret);
    return svcpay(['webhook', 'verify', '--signature', signature], { home, env, input: body });
  };
  expect([
    (await verify('newer')).exitCode,
    (await verify('older')).exitCode,
    (await verify('other')).exitCode,
  ]).toEqual([0, 0, 3]);
});
