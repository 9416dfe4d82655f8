// svcpay alone, as a person at a terminal and as a script run it.
import { describe, expect } from 'vitest';
import { svcpay, svcpayTty, test } from '../support/svcpay.js';
import { asSpecified } from '../support/shapes.js';

const down = '\u001B[B';
const enter = '\r';
const escape = '\u001B';

describe('svcpay alone', { timeout: 20_000 }, () => {
  // A list without the other side does not say to whom.
  test.skipIf(!asSpecified)('shows balances, their worth and what is on its way, and comes back after what was chosen', async ({ around }) => {
    const invoice = await around.sandbox.invoice('2500sat');
    await around.sandbox.clock.freeze();
    expect(await svcpay(['send', 'lightning', invoice, '--yes', '--no-wait'], around)).toMatchObject({ exitCode: 0 });
    const tty = svcpayTty([], { ...around, columns: 100 });
    await tty.waitFor(/default · 127\.0\.0\.1:\d+ · ne01-\w+ +as of \d\d:\d\d:\d\d/);
    await tty.waitFor(/BTC +0\.9999\d+ +≈ [\d ]+ USD/);
    await tty.waitFor(/On its way: 2 500 sat over Lightning to .*, confirmed/);
    await tty.waitFor('What next?');
    tty.type(`${down}${down}${down}${down}${enter}`);
    await tty.waitFor(/Open which one\?[^]*↑ Lightning +−2 500 sat .* confirmed/);
    tty.type(enter);
    await tty.waitFor(/Lightning send +confirmed[^]*Open which one\?/);
    tty.type(escape);
    await tty.waitFor(/as of[^]*What next\?/);
    tty.type(escape);
    expect(await tty.ended).toBe(0);
  });

  test('tells of a payment that was settled meanwhile what the service tells', async ({ around }) => {
    const invoice = await around.sandbox.invoice('2500sat');
    await svcpay(['send', 'lightning', invoice, '--yes', '--no-wait', '--ref', 'tea'], around);
    await around.sandbox.clock.advance('1m');
    const run = await svcpayTty(['--json'], around);
    expect(await run.ended).toBe(0);
    expect(JSON.parse(run.text())).toMatchObject({ pending: [], unfinished: [], recent: [{ txnState: 'completed' }] });
    const pending = await svcpay(['tx', 'pending', '--json'], around);
    expect(pending.json()).toEqual([]);
  });

  test('ends where Ctrl-C is pressed within what was chosen', async ({ around }) => {
    const tty = svcpayTty([], around);
    await tty.waitFor('What next?');
    tty.type(`${down}${down}${down}${enter}`);
    await tty.waitFor('Country to pay out to');
    tty.type('\u0003');
    expect(await tty.ended).toBe(130);
  });

  test('can be left without doing anything', async ({ around }) => {
    const tty = svcpayTty([], around);
    await tty.waitFor('What next?');
    tty.type(escape);
    expect(await tty.ended).toBe(0);
    expect(around.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(0);
  });

  test('says on a fresh machine what can be done', async ({ home }) => {
    const tty = svcpayTty([], { home });
    await tty.waitFor('No account is connected yet.');
    await tty.waitFor('Try the sandbox');
    tty.type(`${down}${enter}`);
    await tty.waitFor('svcpay login --sandbox');
    await tty.waitFor('Account');
    expect(await tty.ended).toBe(0);
  });

  test('is one document under --json, without a menu', async ({ around }) => {
    const tty = svcpayTty(['--json'], around);
    expect(await tty.ended).toBe(0);
    expect(JSON.parse(tty.text())).toMatchObject({ profile: 'default', pending: [], unfinished: [] });
  });

  test('is a usage error in a pipe, with the help beside it', async ({ around }) => {
    const run = await svcpay([], around);
    expect(run).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('Usage: svcpay') });
  });
});
