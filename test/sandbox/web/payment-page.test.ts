// Tests from which websites the sandbox accepts a press of the button on the payment page. The
// tests use no browser.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fresh, lightningReceive, type Fresh } from '../support.js';

let sandbox: Fresh;
beforeEach(async () => {
  sandbox = await fresh();
});
afterEach(() => sandbox.close());

const press = (txnId: string, headers: Record<string, string>): Promise<Response> =>
  sandbox.send(new Request(`${sandbox.url}/pay/${txnId}/pay`, { method: 'POST', headers }));

describe('the button of the payment page', () => {
  test.for([
    ['same-origin', 303, 'completed'],
    ['cross-site', 403, 'srccreated'],
    ['same-site', 403, 'srccreated'],
    ['none', 403, 'srccreated'],
  ] as const)(
    'checks Sec-Fetch-Site: a press with the value "%s" gets status %i',
    async ([site, status, state]) => {
      const { txnId } = await sandbox.run(lightningReceive(0.0005));
      const answer = await press(txnId, { 'sec-fetch-site': site });
      expect([answer.status, await sandbox.state(txnId)]).toEqual([status, state]);
    },
  );

  test('returns to the payment page after a press, even if the request is already paid', async () => {
    const { txnId } = await sandbox.run(lightningReceive(0.0005));
    for (const _ of [1, 2]) {
      const answer = await press(txnId, {});
      expect([answer.status, answer.headers.get('location')]).toEqual([303, `/pay/${txnId}`]);
    }
    expect((await sandbox.balance('BTC'))[0]).toBe(1.0005);
  });

  test('answers 404 if the receive request is unknown', async () => {
    expect((await press('00000000-0000-4000-8000-000000000000', {})).status).toBe(404);
  });
});
