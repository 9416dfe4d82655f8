// svcpay loses no event, even if it is killed at any moment and its application is down half of the
// time.
import { expect } from 'vitest';
import { test } from '../support/svcpay.js';
import { until } from '../support/until.js';
import { deliver, startApplication, startListening } from '../support/webhooks.js';

const transactions = 60;
const course = ['quoted', 'srccreated', 'destsent', 'completed'];
const kills = 3;

test('svcpay webhook listen delivers every event in order despite kills and an application that is often down', async ({
  home,
}) => {
  const application = await startApplication(() => (performance.now() % 200 < 100 ? 503 : 200));
  const start = () => startListening(['--forward-to', application.url, '-q'], { home });
  let listener = await start();
  let acknowledged = 0;

  /** Delivers an event repeatedly until the listener accepts the event, as the service does. */
  async function insist(event: Parameters<typeof deliver>[1]): Promise<void> {
    await until(async () => (await deliver(listener.url, event)) === 200);
    acknowledged += 1;
  }
  const sending = Array.from({ length: transactions }, async (_, n) => {
    for (const [at, txnState] of course.entries())
      await insist({ txnId: `t${n}`, txnState, updatedAt: at });
  });
  for (let kill = 1; kill <= kills; kill += 1) {
    const share = (transactions * course.length * kill) / (kills + 1);
    await until(() => acknowledged >= share);
    listener.child.kill('SIGKILL');
    await listener.ended;
    listener = await start();
  }
  await Promise.all(sending);
  const arrived = (): Set<string> => new Set(application.bodies);
  await until(() => arrived().size === transactions * course.length);
  listener.child.kill('SIGINT');
  expect((await listener.ended).exitCode).toBe(0);

  for (let n = 0; n < transactions; n += 1) {
    const own = [...arrived()]
      .map((body): { txnId: string; txnState: string } => JSON.parse(body))
      .filter(({ txnId }) => txnId === `t${n}`);
    expect(own.map(({ txnState }) => txnState)).toEqual(course);
  }
});
