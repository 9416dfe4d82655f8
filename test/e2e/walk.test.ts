// A walk through the commands as a person at a terminal takes it, in windows of three sizes: waits, questions, interruptions.
import { describe, expect } from 'vitest';
import { svcpayTty, test } from '../support/svcpay.js';

const sizes = [[80, 24], [60, 20], [140, 45]] as const;
const enter = '\r';

describe.for(sizes)('at %dx%d', { timeout: 60_000 }, ([columns, rows]) => {
  test('a wait names the host and takes no key: only what is typed at the question answers it', async ({ around, sandbox }) => {
    await sandbox.faults.add({ kind: 'latency', delay: '1500ms', times: 3 });
    const tty = svcpayTty(['send', 'alice@example.com', '5000sat'], { ...around, columns, rows });
    await tty.waitFor(/Waiting for 127\.0\.0\.1:\d+/);
    tty.type(`yes${enter}echo typed ahead`);
    await tty.waitFor(/You pay[^]*Pay .*\? \(y\/N\)/);
    expect(tty.text()).not.toMatch(/yes|typed/);
    tty.type(`n${enter}`);
    expect(await tty.ended).toBe(9);
    expect(tty.text()).not.toMatch(/yes|typed/);
    expect(sandbox.requests('PUT')).toHaveLength(0);
  });
});
