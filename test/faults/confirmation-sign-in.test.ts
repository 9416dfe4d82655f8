// The service executes a confirmation but answers 401, and the next sign-in fails. svcpay then
// reports the outcome as unknown, and the same command does not pay again.
import { describe, expect } from 'vitest';
import { test } from '../support/faults.js';
import type { Fault } from '../support/faulty-proxy.js';
import { svcpay } from '../support/in-process.js';

const signIns: readonly (readonly [why: string, fault: Fault])[] = [
  ['drops the connection', 'dropped before'],
  ['returns an HTML page', 'html after'],
  ['returns an empty object', 'empty object after'],
  ['returns 500', '500 before'],
  ['returns 401', '401 after'],
];

describe.concurrent('svcpay send after a 401 to its confirmation', () => {
  test.for(signIns)(
    'exits 8 if the service executes a confirmation but answers 401, and the next sign-in %s',
    async ([, fault], { payment }) => {
      const { proxy, command, sandbox, around } = payment;
      // This command signs in and stores the token, so svcpay signs in again only after the 401.
      expect(await svcpay(['wallets'], around)).toMatchObject({ exitCode: 0 });
      proxy.break('confirmation', '401 after', 1);
      // Reads also fail, so svcpay cannot read the outcome.
      proxy.break('read', '401 after', Infinity);
      proxy.break('sign-in', fault, Infinity);
      const run = await svcpay(command, around);
      expect(run).toMatchObject({ exitCode: 8, stdout: '' });
      expect(run.error()).toMatchObject({
        kind: 'pending',
        exitCode: 8,
        message: expect.stringContaining('svcpay could not sign in and confirm again'),
      });
      proxy.mend();
      const again = await svcpay(command, around);
      expect(again).toMatchObject({ exitCode: 0 });
      expect(again.json()).toMatchObject({ txnState: 'completed' });
      expect(await payment.timesPaid()).toBe(1);
      expect(sandbox.requests('PUT')).toHaveLength(1);
    },
  );
});
