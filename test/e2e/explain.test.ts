// svcpay tx explain tells the story of real payments, and db verify replays each of them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect } from 'vitest';
import { startAgent } from '../support/agent.js';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { test, type Environment } from '../support/svcpay.js';

/** The steps of a payment with their sentences, without the names of user and machine. */
async function told(name: string, around: Environment): Promise<readonly string[]> {
  const run = await svcpay(['tx', 'explain', name], around);
  expect(run).toMatchObject({ exitCode: 0, stderr: '' });
  const verified = await svcpay(['db', 'verify', '--json'], around);
  expect(verified).toMatchObject({ exitCode: 0 });
  return run.stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'))
    .map(([, step, text = '']) => `${step}: ${text.replace(/\S+ \(uid \d+\) on \S+, /, '')}`);
}

describe('svcpay tx explain', () => {
  test('tells a paid payment, and where its money is', async ({ around }) => {
    const paid = await svcpay(
      ['send', 'ann@example.com', '1000sat', '--ref', 'a', '--yes', '--max-fee', '1%'],
      around,
    );
    expect(paid.exitCode).toBe(0);
    expect(await told('a', around)).toMatchInlineSnapshot(`
      [
        "asked: asked by with \`send\`, at most 1 % fee",
        "quoted: quoted: 1 000 sat, fee 3 sat, total 1 003 sat, valid 60 s",
        "approved: approved in advance with --yes",
        "submitting: submitted",
        "accepted: the service accepted the payment",
        "read: the service reports sent",
        "paid: the service reports completed",
      ]
    `);
    const explained = (await svcpay(['tx', 'explain', 'a', '--json'], around)).json();
    expect(explained).toMatchObject({
      ref: 'a',
      status: 'paid',
      end: expect.stringMatching(/^Paid once: 1 \d+ sat left your BTC wallet\.$/),
    });
  });

  test('tells a declined quote, which a person saw', async ({ around }) => {
    const tty = svcpayTty(['send', 'ann@example.com', '1000sat', '--ref', 'b'], around);
    await tty.waitFor('(y/N)');
    tty.type('n\r');
    expect(await tty.ended).toBe(9);
    expect(await told('b', around)).toMatchInlineSnapshot(`
      [
        "asked: asked by with \`send\`",
        "quoted: quoted: 1 000 sat, fee 3 sat, total 1 003 sat, valid 60 s",
        "shown: ",
        "declined: shown, declined",
        "abandoned: ",
      ]
    `);
  });

  test('tells a payment over a limit', async ({ around }) => {
    await svcpay(['limits', 'set', '--per-payment', '500sat', '--yes'], around);
    const run = await svcpay(['send', 'ann@example.com', '1000sat', '--ref', 'c', '--yes'], around);
    expect(run.exitCode).toBe(7);
    expect(await told('c', around)).toMatchInlineSnapshot(`
      [
        "asked: asked by with \`send\`",
        "refused: svcpay refused: 0.00001000 BTC (1 000 sat) is over your per-payment limit of 0.00000500 BTC (500 sat)",
        "abandoned: ",
      ]
    `);
  });

  test('tells a failed payment and its retry', async ({ around }) => {
    await svcpay(['sandbox', 'fault', 'add', 'payment', 'outcome=no-route'], around);
    const send = ['send', 'ann@example.com', '1000sat', '--ref', 'd', '--yes'];
    const failed = await svcpay(send, around);
    expect(failed.exitCode).toBe(6);
    expect(failed.stderr).toMatch(/What happened: svcpay .*tx explain [0-9a-f-]{36}/);
    expect((await svcpay([...send, '--retry'], around)).exitCode).toBe(0);
    expect(await told('d', around)).toMatchInlineSnapshot(`
      [
        "asked: asked by with \`send\`",
        "quoted: quoted: 1 000 sat, fee 3 sat, total 1 003 sat, valid 60 s",
        "approved: approved in advance with --yes",
        "submitting: submitted",
        "accepted: the service accepted the payment",
        "read: the service reports sent",
        "failed: the service reports failed",
        "requested: a new attempt began",
        "quoted: quoted: 1 000 sat, fee 3 sat, total 1 003 sat, valid 60 s",
        "approved: approved in advance with --yes",
        "submitting: submitted",
        "accepted: the service accepted the payment",
        "read: the service reports sent",
        "paid: the service reports completed",
      ]
    `);
  });

  test('tells an unknown outcome and the answer of a person', async ({ around }) => {
    await svcpay(['sandbox', 'fault', 'add', 'payment', 'outcome=error'], around);
    await svcpay(['send', 'ann@example.com', '1000sat', '--ref', 'e', '--yes'], around);
    const answer = ['--not-moved', '--note', 'ticket 4711', '--yes'];
    expect((await svcpay(['tx', 'resolve', 'e', ...answer], around)).exitCode).toBe(0);
    expect(await told('e', around)).toMatchInlineSnapshot(`
      [
        "asked: asked by with \`send\`",
        "quoted: quoted: 1 000 sat, fee 3 sat, total 1 003 sat, valid 60 s",
        "approved: approved in advance with --yes",
        "submitting: submitted",
        "accepted: the service accepted the payment",
        "read: the service reports sent",
        "error: the service reports error, which does not show whether money moved",
        "resolved: recorded by with \`tx resolve\`: the money did not move (ticket 4711)",
      ]
    `);
  });

  test('tells the row of a batch', async ({ around }) => {
    const file = join(around.home, 'payroll.csv');
    writeFileSync(file, 'to,amount,ref\nann@example.com,1000sat,f\n');
    expect((await svcpay(['batch', file, '--yes'], around)).exitCode).toBe(0);
    expect(await told('f', around)).toMatchInlineSnapshot(`
      [
        "asked: asked by with \`batch\` (line 2 of payroll.csv)",
        "quoted: quoted: 1 000 sat, fee 3 sat, total 1 003 sat, valid 60 s",
        "approved: approved in advance with --yes",
        "submitting: submitted",
        "accepted: the service accepted the payment",
        "read: the service reports sent",
        "paid: the service reports completed",
      ]
    `);
  });
});

test('svcpay tx explain of a receive says what the service reports, and how to see it', async ({
  around,
}) => {
  await svcpay(['receive', 'lightning', '500sat', '--ref', 'in', '--no-wait'], around);
  const run = await svcpay(['tx', 'explain', 'in'], around);
  expect(run).toMatchObject({ exitCode: 5, stdout: '' });
  expect(run.stderr).toMatch(
    /^No trail .* did not pay it\. The service reports invoice ready\.\n +svcpay .*tx get [0-9a-f-]{36}\n$/,
  );
});

describe('svcpay tx note', () => {
  test('adds notes to both directions of money, for lists, search, exports and the story', async ({
    around,
  }) => {
    await svcpay(['send', 'ann@example.com', '1000sat', '--ref', 'out', '--yes'], around);
    await svcpay(['receive', 'lightning', '500sat', '--ref', 'in', '--no-wait'], around);
    for (const [id, note] of [
      ['out', 'invoice 4711'],
      ['out', 'paid late'],
      ['in', 'for the bakery'],
    ] as const)
      expect((await svcpay(['tx', 'note', id, note], around)).exitCode).toBe(0);
    const found = await svcpay(['tx', 'list', '--search', 'bakery', '--json'], around);
    expect(found.json()).toMatchObject([{ extRefId: 'in', note: 'for the bakery' }]);
    const all = await svcpay(['tx', 'list', '--all', '--json'], around);
    expect(all.json()).toContainEqual(expect.objectContaining({ note: 'for the bakery' }));
    const csv = await svcpay(['tx', 'export', '-o', 'csv'], around);
    const rows: Record<string, string>[] = parse(csv.stdout, { columns: true });
    const [row] = rows.filter(({ extRefId }) => extRefId === 'out');
    expect(row).toMatchObject({
      note: 'invoice 4711; paid late',
      destination: 'ann@example.com',
      reference: 'out',
      approvedBy: expect.stringMatching(/ on .*, with `send`$/),
    });
    expect((await told('out', around)).slice(-2)).toEqual([
      expect.stringMatching(/^note: noted by .*: invoice 4711$/),
      expect.stringMatching(/^note: noted by .*: paid late$/),
    ]);
  });

  test('refuses an empty text and a text over 500 characters', async ({ around }) => {
    for (const text of [' ', 'x'.repeat(501)])
      expect(await svcpay(['tx', 'note', 'a', text], around)).toMatchObject({ exitCode: 2 });
  });
});

describe('the tool explain', () => {
  test('tells an agent what happened to its payment', async ({ around }) => {
    await svcpay(['limits', 'set', '--per-day', '0.01btc', '--yes'], around);
    const agent = await startAgent(['--allow-payments'], around);
    await agent.call('pay', { destination: 'ann@example.com', amount: '1000sat', ref: 'g' });
    const { content } = await agent.call('explain', { id: 'g' });
    expect(content).toMatchObject({ status: 'paid', end: expect.stringMatching(/^Paid once/) });
    await agent.close();
    expect((await told('g', around))[0]).toMatch(/^asked: asked by through an agent, /);
  });
});
