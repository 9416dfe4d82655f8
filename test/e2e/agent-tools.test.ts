// Tests svcpay mcp for an agent that sees only tools/list: the size of the list, the names of the
// inputs, and the errors after wrong calls.
import { describe, expect } from 'vitest';
import * as v from 'valibot';
import { startAgent, type Called } from '../support/agent.js';
import { svcpay as inProcess } from '../support/in-process.js';
import { comesIn } from '../support/shapes.js';
import { test, type Environment } from '../support/svcpay.js';

const tron = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';

const limit = (around: Environment) =>
  inProcess(
    ['limits', 'set', '--per-day', '500000sat', '--per-day', '500usdt', '--per-day', '5000000vnd'],
    around,
  );

const transaction = v.looseObject({
  txnId: v.string(),
  txnState: v.string(),
  createdAt: v.number(),
  sourceReq: v.looseObject({ ccy: v.string(), amtRequested: v.number() }),
  destReq: v.looseObject({ ccy: v.string() }),
});
/** Returns the response of a call, and fails the test if the call failed. */
function answered<S extends v.GenericSchema>(schema: S, { content, isError }: Called) {
  expect({ isError, error: content.error }).toEqual({ isError: false, error: undefined });
  return v.parse(schema, content);
}

describe('svcpay mcp tools/list', () => {
  test('describes all tools in at most 6,000 tokens, without command-line jargon', async ({
    around,
  }) => {
    await limit(around);
    const { client } = await startAgent(['--allow-payments'], around);
    const { tools } = await client.listTools();
    // Tokenizers count about one token for every four characters of the tool list (within 5 %).
    expect(JSON.stringify(tools).length / 4).toBeLessThanOrEqual(6_000);
    const inputs = tools.flatMap(({ inputSchema }) => Object.keys(inputSchema.properties ?? {}));
    for (const jargon of ['words', 'ids', 'format', 'fail', 'olderThan', 'wait', 'quoteOnly'])
      expect(inputs).not.toContain(jargon);
    for (const { name, description = '' } of tools)
      expect({ name, jargon: /--|svcpay|stdin|exit code/i.test(description) }).toEqual({
        name,
        jargon: false,
      });
  });
});

const mistakes = [
  ['transactions', { since: 'yesterday' }, /since: "yesterday" is not a time\. Write 2h or 7d/],
  ['transactions', { limit: 0 }, /limit is 0 but must be a whole number from 1 to 1000/],
  ['transactions', { state: 'complted' }, /state: "complted" is not a state\. Did you mean com/],
  ['transactions', { pages: 2 }, /pages is not an input of transactions \(did you mean page\?\)/],
  ['receive_address', { ccy: 'usdt', chain: 'sol' }, /chain is "sol" but must be one of tron, eth/],
  ['pay', {}, /missing: destination, ref/],
  ['pay', { destination: tron, amount: 5, ref: 'a' }, /amount: 5 has no unit\. Write 5sat/],
  [
    'pay',
    { destination: tron, amount: '5usdt', ref: 'a', reference: 'b' },
    /ref has two different values/,
  ],
  [
    'swap',
    { amount: '1usd', from: 'USDT', to: 'BTC', ref: 'a' },
    /amount is 1usd but must be in U/,
  ],
  ['pay', { txnId: 'x', destination: tron }, /the quote is paid unchanged\. Omit dest/],
  ['pay', { destination: tron, amount: '5usdt', ref: 'a', maxFee: '1sat' }, /maxFee 1sat is in B/],
  [
    'quote_payout',
    { amount: '50000vnd', country: 'VN', acctNum: '0123456789' },
    /a payout must also have institution, acctName, recipientType, recipientName, recipientCountry, purpose, source, relationship, senderType, senderName, senderCountry\./,
  ],
] as const;

describe('svcpay mcp after a wrong tool call', () => {
  test('reports the wrong input, its value and the allowed values', async ({ around }) => {
    await limit(around);
    const { call } = await startAgent(['--allow-payments'], around);
    for (const [tool, given, message] of mistakes) {
      const { content, isError } = await call(tool, given);
      expect({ isError, ...content.error }).toMatchObject({
        isError: true,
        kind: 'usage',
        exitCode: 2,
        message: expect.stringMatching(message),
      });
      expect(content.error?.message).not.toMatch(/--[a-z]|svcpay /);
    }
    expect(around.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(0);
  });

  test('states in its hint that only a person can change limits and fees', async ({ around }) => {
    await inProcess(['limits', 'set', '--per-day', '500000sat'], around);
    const { call } = await startAgent(['--allow-payments'], around);
    const usdt = await call('pay', { destination: tron, amount: '5usdt', ref: 'a' });
    expect(usdt.content.error?.hint).toBe(
      'Only a person can change the limits and the highest fee. A person can run: svcpay limits set --per-day 100usdt',
    );
    const given = { destination: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', amount: '1000sat' };
    const fee = await call('pay', { ...given, ref: 'b' });
    expect(fee.content.error).toMatchObject({
      kind: 'limit',
      hint: 'Only a person can change the limits and the highest fee.',
    });
  });
});

describe('svcpay mcp pay', () => {
  test('pays a quote by its transaction id exactly once', async ({ around }) => {
    await limit(around);
    const { call } = await startAgent(['--allow-payments'], around);
    const given = { destination: 'ann@example.com', amount: '1000sat' };
    const { txnId } = answered(transaction, await call('quote', { ...given, ref: 'a' }));
    const other = await call('pay', { txnId, ref: 'b' });
    expect(other.content.error?.message).toContain('the reference of this quote is a');
    for (const named of [{ txnId, reference: 'a' }, { txnId }, { ...given, ref: 'a' }])
      expect(answered(transaction, await call('pay', named))).toMatchObject({
        txnId,
        txnState: 'completed',
      });
    expect(around.sandbox.requests('PUT')).toHaveLength(1);
    const again = answered(transaction, await call('quote', { ...given, ref: 'b' }));
    const refused = await call('pay', { txnId: again.txnId });
    expect(refused.content.error).toMatchObject({ kind: 'usage', txnId });
    expect(around.sandbox.requests('PUT')).toHaveLength(1);
    const invoice = answered(transaction, await call('receive_lightning', { amount: '1000sat' }));
    expect((await call('pay', { txnId: invoice.txnId })).content.error?.kind).toBe('usage');
  });

  test('pays a dollar amount from the bitcoin wallet once per reference', async ({ around }) => {
    await limit(around);
    const { call } = await startAgent(['--allow-payments'], around);
    const given = { destination: 'ann@example.com', amount: '10usd', from: 'BTC', ref: 'a' };
    const paid = answered(transaction, await call('pay', given));
    expect(paid.sourceReq).toMatchObject({ ccy: 'BTC', amtRequested: 0.0001 });
    expect(answered(transaction, await call('pay', given)).txnId).toBe(paid.txnId);
    expect(around.sandbox.requests('PUT')).toHaveLength(1);
  });
});

describe('an agent that sees only svcpay mcp tools/list', () => {
  test('refunds a received Lightning payment', async ({ around }) => {
    await limit(around);
    const { sandbox } = around;
    const { call } = await startAgent(['--allow-payments'], around);
    const request = answered(
      transaction,
      await call('receive_lightning', { amount: '5000sat', ref: 'order-7' }),
    );
    await sandbox.pay(request.txnId);
    const received = answered(transaction, await call('transaction', { id: 'order-7' }));
    expect(received.txnState).toBe('completed');
    const destination = await sandbox.invoice('5000sat');
    const decoded = await call('decode', { text: destination });
    expect(decoded.content['amountMsat']).toBe('5000000');
    const quote = answered(
      v.looseObject({ txnId: v.string(), total: v.number() }),
      await call('quote', { destination, ref: 'refund-order-7' }),
    );
    expect(quote.total).toBeLessThan(0.000051);
    const paid = answered(transaction, await call('pay', { txnId: quote.txnId }));
    expect(paid.txnState).toBe('completed');
    expect(answered(transaction, await call('transaction', { id: 'refund-order-7' })).txnId).toBe(
      quote.txnId,
    );
  });

  test('pays three salaries in bitcoin, USDT and dong', async ({ around }) => {
    await limit(around);
    const { call } = await startAgent(['--allow-payments', '--max-fee', '30%'], around);
    const wallets = answered(
      v.looseObject({ wallets: v.array(v.looseObject({ ccy: v.string() })) }),
      await call('wallets'),
    );
    expect(wallets.wallets.map(({ ccy }) => ccy)).toEqual(expect.arrayContaining(['BTC', 'USDT']));
    const limits = answered(
      v.looseObject({ limits: v.array(v.looseObject({ rule: v.string() })) }),
      await call('limits'),
    );
    expect(limits.limits.map(({ rule }) => rule)).toContain('per day');
    const { institutions } = answered(
      v.looseObject({ institutions: v.array(v.looseObject({ institutionCode: v.string() })) }),
      await call('institutions', { country: 'VN' }),
    );
    const salaries = [
      ['pay', { destination: 'ann@example.com', amount: '20000sat' }],
      ['pay', { destination: tron, amount: '25usdt' }],
      [
        'payout',
        {
          country: 'VN',
          institution: institutions[0]?.institutionCode,
          acctNum: '0123456789',
          acctName: 'Nguyen Van A',
          amount: '500000vnd',
          from: 'USDT',
          purpose: 1,
          source: 1,
          relationship: 1,
          senderType: 'business',
          senderName: 'Acme',
          senderCountry: 'CA',
          recipientType: 'individual',
          recipientName: 'Nguyen Van A',
          recipientCountry: 'VN',
        },
      ],
    ] as const;
    const ids: string[] = [];
    for (const [index, [tool, given]] of salaries.entries()) {
      const ref = `payroll-2026-10-${index}`;
      const { txnId } = answered(
        v.looseObject({ txnId: v.string() }),
        await call(tool, { ...given, ref }),
      );
      ids.push(txnId);
      expect(answered(transaction, await call('transaction', { id: ref })).txnId).toBe(txnId);
    }
    expect(new Set(ids).size).toBe(3);
    expect(around.sandbox.requests('PUT')).toHaveLength(3);
    expect((await call('watch', { id: ids[0] })).content['txnId']).toBe(ids[0]);
  });

  test.skipIf(comesIn('list-abbreviated', 'list-without-pagination', 'list-bare'))(
    'sums the spending of a month without counting unpaid quotes',
    async ({ around }) => {
      await limit(around);
      const { sandbox } = around;
      const { call } = await startAgent(['--allow-payments', '--max-fee', '30%'], around);
      let [sent, fees, swapped] = [0, 0, 0];
      for (let n = 1; n <= 3; n += 1) {
        const quote = { destination: 'ann@example.com', amount: `${n}000sat` };
        await call('quote', quote);
        const paid = answered(
          v.looseObject({
            sourceReq: v.looseObject({
              amtRequested: v.number(),
              servicepayFees: v.number(),
              networkFees: v.number(),
            }),
          }),
          await call('pay', { ...quote, ref: `order-${n}` }),
        ).sourceReq;
        sent += Math.round(paid.amtRequested * 1e8);
        fees += Math.round((paid.servicepayFees + paid.networkFees) * 1e8);
      }
      const swap = { amount: '10usdt', from: 'USDT', to: 'BTC', ref: 'swap-1' };
      swapped += answered(transaction, await call('swap', swap)).sourceReq.amtRequested;
      await sandbox.clock.advance('2h');
      const sums = v.object({
        spending: v.array(
          v.object({
            ccy: v.string(),
            kind: v.string(),
            count: v.number(),
            in: v.number(),
            out: v.number(),
            fee: v.number(),
          }),
        ),
        ties: v.literal(true),
      });
      const month = new Date().toISOString().slice(0, 7);
      const { spending } = answered(sums, await call('spending', { since: month }));
      const unread = await call('spending', { since: '7d' });
      expect(unread.content.error?.message).toContain('since: "7d" is not a date');
      const of = (ccy: string, kind: string) =>
        spending.find((each) => each.ccy === ccy && each.kind === kind);
      expect(of('BTC', 'send')).toMatchObject({
        count: 3,
        in: 0,
        out: sent / 1e8,
        fee: fees / 1e8,
      });
      expect(of('USDT', 'swap')).toMatchObject({ count: 1, out: swapped });
      const page = v.looseObject({
        transactions: v.array(transaction),
        page: v.number(),
        total: v.number(),
        more: v.boolean(),
      });
      const rows: string[] = [];
      for (let number = 1, more = true; more; number += 1) {
        const found = answered(page, await call('transactions', { limit: 4, page: number }));
        rows.push(...found.transactions.map(({ txnId }) => txnId));
        more = found.more;
        if (!more) expect(rows).toHaveLength(found.total);
      }
      expect(new Set(rows).size).toBe(rows.length);
      expect(rows.length).toBeGreaterThan(7);
    },
  );
});
