// Tests budgets as agents, jobs and their owner use them: what the owner approves instead, who may
// change a budget, and that no run passes its budget.
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { openPayments, openSqliteJournal, WalletClient } from '../../src/index.js';
import { startAgent } from '../support/agent.js';
import { svcpay } from '../support/in-process.js';
import { test, type Environment } from '../support/svcpay.js';
import type { Sandbox } from '../../src/sandbox/server.js';

const budget = (around: Around, ...rules: string[]) =>
  svcpay(
    ['budget', 'add', 'bot', '--per-day', '50000sat', '--per-day', '50usdt', ...rules],
    around,
  );
type Around = Environment & { readonly sandbox: Sandbox };

interface Proposed {
  readonly id: string;
  readonly what: readonly string[];
}

const proposalsIn = async (around: Around): Promise<readonly Proposed[]> =>
  JSON.parse((await svcpay(['proposals', '--json'], around)).stdout);

const confirmations = ({ sandbox }: Around): number => sandbox.requests('PUT').length;
const ofBot = (around: Around): Around => ({
  ...around,
  env: { ...around.env, SVCPAY_BUDGET: 'bot' },
});

describe('a payment that a budget leaves to the owner', () => {
  test('waits for the owner, and the same reference reports what the owner paid', async ({
    around,
  }) => {
    await budget(around, '--ask-above', '5000sat');
    const given = { destination: 'ann@example.com', amount: '6000sat', ref: 'order-1' };
    const first = await startAgent(['--allow-payments', '--budget', 'bot'], around);
    const asked = await first.call('pay', given);
    expect(asked).toMatchObject({
      isError: false,
      content: { outcome: 'awaiting-approval', ref: 'order-1', proposal: expect.any(String) },
    });
    const again = await first.call('pay', given);
    expect(again.content).toMatchObject({
      outcome: 'awaiting-approval',
      proposal: asked.content['proposal'],
    });
    await first.close();
    expect(confirmations(around)).toBe(0);

    const id = String(asked.content['proposal']);
    expect(await proposalsIn(around)).toMatchObject([
      { id, what: ['6 000 sat to ann@example.com'] },
    ]);
    const paid = await svcpay(['proposals', 'pay', id, '--digest', id, '--yes', '-q'], around);
    expect(paid.exitCode).toBe(0);

    const later = await startAgent(['--allow-payments', '--budget', 'bot'], around);
    const reported = await later.call('pay', given);
    expect(reported.content).toMatchObject({
      txnId: paid.stdout.trim(),
      txnState: 'completed',
    });
    expect((await later.call('budget')).content).toMatchObject({ spentToday: [] });
    expect(confirmations(around)).toBe(1);
  });

  test('is refused for good with the proposal, under the same reference', async ({ around }) => {
    await budget(around, '--to', 'bob@example.com');
    const pay = ['send', 'ann@example.com', '1000sat', '--ref', 'a', '--yes', '--json'];
    const asked = await svcpay(pay, ofBot(around));
    expect(asked.exitCode).toBe(7);
    expect(asked.error().message).toMatch(/The owner decides about the proposal [0-9a-f]+\.$/);
    const [only] = await proposalsIn(around);
    await svcpay(['proposals', 'refuse', only?.id ?? ''], around);
    const refused = await svcpay(pay, ofBot(around));
    expect(refused.exitCode).toBe(9);
    expect(refused.error().message).toContain('the owner refused the proposal');
    expect(confirmations(around)).toBe(0);
  });

  test('is proposed for a row of a batch and for the confirmation of a quote', async ({
    around,
  }) => {
    await budget(around, '--ask-above', '5000sat');
    const rows = 'ref,to,amount\na,ann@example.com,6000sat\nb,bob@example.com,1000sat\n';
    const batch = ['batch', '-', '--yes', '--accept-changes', '--wait', '--json'];
    const paid = await svcpay(batch, { ...ofBot(around), input: rows });
    expect(paid.exitCode).not.toBe(0);
    const quote = ['send', 'cid@example.com', '7000sat', '--ref', 'c', '--quote-only', '-q'];
    const { stdout } = await svcpay(quote, around);
    const confirmed = await svcpay(['tx', 'confirm', stdout.trim(), '--yes'], ofBot(around));
    expect(confirmed.exitCode).toBe(7);
    const proposals = await proposalsIn(around);
    expect(proposals.map(({ what }) => what[0]).toSorted()).toEqual([
      '6 000 sat to ann@example.com',
      '7 000 sat to cid@example.com',
    ]);
    expect(confirmations(around)).toBe(1);
  });
});

describe('a run that belongs to a budget', () => {
  test.for([
    ['budget', 'add', 'mine', '--per-day', '1btc'],
    ['budget', 'add', 'bot', '--per-day', '1btc', '--yes'],
    ['budget', 'start', 'bot'],
    ['budget', 'start', '--all'],
    ['budget', 'remove', 'bot'],
    ['stop-all'],
    ['limits', 'clear', '--yes'],
    ['limits', 'set', '--per-day', '1btc', '--yes'],
    ['proposals', 'pay', 'abcdef'],
    ['proposals', 'refuse', 'abcdef'],
    ['tx', 'resolve', 'a', '--not-moved', '--note', 'n', '--yes'],
    ['tx', 'resume', '--new-journal'],
    ['api', 'PUT', '/api/v2/transaction/a/confirm', '--yes'],
  ])('may not run svcpay %s', async (words, { around }) => {
    await budget(around);
    const run = await svcpay([...words, '--json'], ofBot(around));
    expect(run).toMatchObject({ exitCode: 2 });
    expect(run.error().message).toContain('this run belongs to the budget bot');
  });

  test('is charged for every way of paying, and names the budget in its trail', async ({
    around,
  }) => {
    await budget(around);
    await svcpay(['send', 'ann@example.com', '1000sat', '--ref', 'a', '--yes'], ofBot(around));
    const { stdout } = await svcpay(
      ['send', 'bob@example.com', '2000sat', '--ref', 'b', '--quote-only', '-q'],
      around,
    );
    await svcpay(['tx', 'confirm', stdout.trim(), '--yes'], ofBot(around));
    await svcpay(['swap', '1usdt', 'BTC', '--yes'], ofBot(around));
    await svcpay(['send', 'cid@example.com', '9000sat', '--yes'], around);
    const shown = JSON.parse((await svcpay(['budget', 'show', 'bot', '--json'], around)).stdout);
    expect(shown.spentToday).toEqual([
      { ccy: 'BTC', value: expect.closeTo(0.00003, 6) },
      { ccy: 'USDT', value: expect.closeTo(1, 1) },
    ]);
    const story = (await svcpay(['tx', 'explain', 'b', '--json'], around)).json();
    expect(JSON.stringify(story)).toContain('submitted, within the budget bot');
    expect((await svcpay(['db', 'verify'], around)).exitCode).toBe(0);
  });

  test('may be a program, which the budget refuses what it leaves to the owner', async ({
    around,
  }) => {
    await budget(around, '--ask-above', '5000sat');
    const { sandbox, home } = around;
    const { url: baseUrl, apiKey, apiSecret } = sandbox;
    const journal = await openSqliteJournal(join(home, 'journal.db'));
    const client = new WalletClient({ baseUrl, apiKey, apiSecret });
    onTestFinished(() => Promise.all([journal.close(), client.close()]).then(() => undefined));
    const payments = openPayments({ client, journal, budget: 'bot' });
    const pays = (amount: string) => payments.send({ to: 'ann@example.com', amount, wait: false });
    expect(await pays('1000sat')).toMatchObject({ txnId: expect.any(String) });
    await expect(pays('6000sat')).rejects.toMatchObject({ kind: 'limit' });
    expect(confirmations(around)).toBe(1);
  });
});
