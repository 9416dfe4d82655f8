// An operator can see a payment whose process died, a target that is down, and a database that
// cannot be written.
import { hostname } from 'node:os';
import { expect } from 'vitest';
import { test } from '../support/faults.js';
import { svcpay } from '../support/in-process.js';
import { startSvcpay, test as atHome } from '../support/svcpay.js';
import { until } from '../support/until.js';
import { deliver, startApplication, startListening } from '../support/webhooks.js';

/** The samples of a metrics page, whose lines must all be samples or comments. */
async function metricsAt(url: string): Promise<Map<string, number>> {
  const response = await fetch(url);
  expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  const lines = (await response.text())
    .split('\n')
    .filter((line) => line !== '' && !/^# (HELP|TYPE) svcpay_\w+ /.test(line));
  return new Map(
    lines.map((line) => {
      const [, name = `not a sample: ${line}`, value = ''] =
        /^(svcpay_\w+(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})?) (\d[\d.e+-]*)$/.exec(line) ?? [];
      expect(name).not.toContain('not a sample');
      return [name, Number(value)];
    }),
  );
}

test('svcpay tx pending names the host and process of a payment whose process was killed', async ({
  payment,
}) => {
  const { home } = payment.around;
  const held = payment.proxy.hold('confirmation', 'after');
  const running = startSvcpay(payment.command, payment.around);
  await held;
  running.child.kill('SIGKILL');
  await running.ended;
  const requests = payment.sandbox.requests().length;

  const found = await svcpay(['tx', 'pending', '--older-than', '0s', '--fail', '--json'], { home });
  expect(found).toMatchObject({ exitCode: 8 });
  expect(found.json()).toMatchObject([
    { step: 'submitting', host: hostname(), pid: running.child.pid },
  ]);
  expect(found.error().message).toContain(`process ${running.child.pid} on ${hostname()}`);
  const young = await svcpay(['tx', 'pending', '--older-than', '10m', '--fail', '--json'], {
    home,
  });
  expect([young.exitCode, young.json()]).toEqual([0, []]);

  const status = await svcpay(['db', 'status', '--json'], { home });
  expect(status.json()).toMatchObject([
    { unfinished: [{ status: 'unattended', age: '1m', count: 1 }] },
    {},
  ]);
  const listener = await startListening(['--metrics', '0'], { home });
  const metrics = await metricsAt(listener.metricsUrl);
  expect(metrics.get('svcpay_payments{status="unattended",age="1m"}')).toBe(1);
  expect(metrics.get('svcpay_payments_oldest_seconds{status="unattended"}')).toBeLessThan(60);
  expect(payment.sandbox.requests()).toHaveLength(requests);
});

atHome(
  'svcpay webhook listen --metrics counts requests, deliveries and the backlog',
  async ({ home }) => {
    let isUp = false;
    const application = await startApplication(() => (isUp ? 200 : 503));
    const listener = await startListening(
      ['--metrics', '0', '--forward-to', `${application.url}?token=secret`, '--exec', 'exit 3'],
      { home },
    );
    const target = new URL(application.url).origin;
    const event = { txnId: 't1', txnState: 'completed', updatedAt: 1 };
    for (const secret of ['wrong', undefined, undefined])
      await deliver(listener.url, event, secret);
    let before = new Map<string, number>();
    const isRun = (): boolean =>
      before.has('svcpay_exec_exits_total{code="3"}') &&
      !before.has('svcpay_webhook_backlog{consumer="exec"}');
    await until(async () => ((before = await metricsAt(listener.metricsUrl)), isRun()));
    expect(
      Object.fromEntries(
        [...before].filter(([name]) => /requests|duplicates|backlog\{|failed|up/.test(name)),
      ),
    ).toEqual({
      'svcpay_webhook_requests_total{result="stored"}': 2,
      'svcpay_webhook_requests_total{result="wrong_signature"}': 1,
      'svcpay_webhook_requests_total{result="refused"}': 0,
      'svcpay_webhook_requests_total{result="not_stored"}': 0,
      svcpay_webhook_duplicates_total: 1,
      [`svcpay_webhook_deliveries_total{consumer="${target}",result="failed"}`]: 0,
      'svcpay_webhook_deliveries_total{consumer="exec",result="failed"}': 1,
      [`svcpay_webhook_backlog{consumer="${target}"}`]: 1,
      svcpay_database_up: 1,
    });
    expect(before.get('svcpay_database_seconds_count{call="append"}')).toBe(2);
    expect(before.get(`svcpay_webhook_backlog_oldest_seconds{consumer="${target}"}`)).toBeLessThan(
      60,
    );
    isUp = true;
    const isDelivered = (now: Map<string, number>): boolean =>
      now.get(`svcpay_webhook_deliveries_total{consumer="${target}",result="delivered"}`) === 1 &&
      !now.has(`svcpay_webhook_backlog{consumer="${target}"}`);
    await until(async () => isDelivered(await metricsAt(listener.metricsUrl)));
    const status = await svcpay(['db', 'status', '--json'], { home });
    expect(status.json()).toMatchObject([{}, { backlog: [] }]);
  },
);
