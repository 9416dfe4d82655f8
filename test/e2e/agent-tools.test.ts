// Tests svcpay mcp for an agent that sees only tools/list: the size of the list, the names of the
// inputs, and the errors after wrong calls.
import { describe, expect } from 'vitest';
import { createInterface } from 'node:readline';
import * as v from 'valibot';
import { decodeInvoice } from '../../src/formats/bolt11/decode.js';
import { eras, startAgent, type Called } from '../support/agent.js';
import { startOnStreams, svcpay as inProcess } from '../support/in-process.js';
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
  ['transactions', { limit: 0 }, /limit: "0" is not a whole number from 1 to 100\./],
  ['transactions', { state: 'complted' }, /state: "complted" is not a state\. Did you mean com/],
  ['transactions', { pages: 2 }, /pages is not an input of transactions \(did you mean page\?\)/],
  ['receive_address', { ccy: 'usdt', chain: 'sol' }, /chain: "sol" is not one of tron, eth/],
  ['pay', {}, /^Not called: missing: destination, ref, or the txnId of a quote\./],
  ['pay', { destination: tron, amount: 5, ref: 'a' }, /amount: 5 has no unit\. Write 5sat/],
  [
    'pay',
    { destination: tron, amount: '5usdt', ref: 'a', reference: 'b' },
    /ref has two different values/,
  ],
  [
    'swap',
    { amount: '1usd', from: 'USDT', to: 'BTC', ref: 'a' },
    /"1usd" is an amount in USD, but the amount must be in USDT/,
  ],
  [
    'pay',
    { txnId: 'x', destination: tron },
    /^Not called: with txnId, the quote is paid unchanged\. Omit [a-z]+\.$/,
  ],
  ['pay', { destination: tron, amount: '5usdt', ref: 'a', maxFee: '1sat' }, /maxFee 1sat is in B/],
  [
    'quote_payout',
    { amount: '50000vnd', country: 'VN', acctNum: '0123456789' },
    /missing institution CODE, acctName NAME, recipientType individual\|business, .*and senderCountry CC\./,
  ],
  ['pay_many', { name: 'n', rows: 'a' }, /^Not called: rows must be a list of objects\.$/],
  [
    'pay_many',
    { name: 'n', rows: [{ too: 'a' }] },
    /^Not called: rows: row \d+: too is not an input of pay_many \(did you mean to\?\)\.$/,
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
    await inProcess(['budget', 'add', 'bot', '--per-day', '500000sat'], around);
    const options = ['--allow-payments', '--budget', 'bot', '--max-fee', '1%'];
    const { call } = await startAgent(options, around);
    const usdt = await call('swap', { amount: '5usdt', from: 'usdt', to: 'btc', ref: 'a' });
    expect(usdt.content.error?.hint).toBe(
      'Only a person can change the limits and the highest fee. A person can run: svcpay --budget bot budget show bot',
    );
    const given = { destination: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', amount: '1000sat' };
    const fee = await call('pay', { ...given, ref: 'b' });
    expect(fee.content.error).toMatchObject({
      kind: 'limit',
      hint: 'Only a person can change the limits and the highest fee.',
    });
  });
});

describe('svcpay mcp quote', () => {
  test('reports whether the quote is payable and the reasons against it', async ({ around }) => {
    const figures = ['--per-payment', '5000sat', '--per-day', '1btc'];
    await inProcess(['budget', 'add', 'bot', ...figures], around);
    const { call } = await startAgent(['--allow-payments', '--budget', 'bot'], around);
    const quoted = async (given: object) => (await call('quote', { ...given })).content;
    const onchain = { destination: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx' };
    expect(await quoted({ ...onchain, amount: '4000sat' })).toMatchObject({
      payable: true,
      total: 0.00004308,
      maxFee: '0.00002000 BTC',
    });
    expect(await quoted({ ...onchain, amount: '20000sat' })).toMatchObject({
      payable: false,
      why: [expect.stringContaining('per-payment limit of 0.00005000 BTC')],
    });
    expect(await quoted({ destination: tron, amount: '5usdt' })).toMatchObject({
      payable: false,
      why: ['the budget bot has no figure in USDT'],
    });
    expect(await quoted({ ...onchain, amount: '100btc' })).toMatchObject({
      payable: false,
      why: [expect.stringContaining('insufficient balance')],
    });
  });
});

describe.each(eras)('svcpay mcp with a client of protocol %s that can ask a person', (era) => {
  const asked: string[] = [];
  const person = (agrees: boolean) => (message: string) => {
    asked.push(message);
    return agrees;
  };

  test('asks about a repeated payment and never about a limit, even of a client that agrees to all', async ({
    around,
  }) => {
    await inProcess(['limits', 'set', '--per-payment', '5000sat'], around);
    const pay = (ref: string, amount: string) => ({ destination: 'ann@example.com', amount, ref });
    const refusing = await startAgent(['--allow-payments'], around, era, person(false));
    await refusing.call('pay', pay('b', '1000sat'));
    const refused = await refusing.call('pay', pay('c', '1000sat'));
    expect(refused.content.error).toMatchObject({ kind: 'usage' });
    await refusing.close();
    const { call } = await startAgent(['--allow-payments'], around, era, person(true));
    asked.length = 0;
    const over = await call('pay', pay('a', '6000sat'));
    expect(over.content.error).toMatchObject({ kind: 'limit' });
    expect(await call('pay', pay('c', '1000sat'))).toMatchObject({ isError: false });
    expect(asked).toEqual([expect.stringContaining('identical payment')]);
    expect(around.sandbox.requests('PUT')).toHaveLength(2);
  });

  test('reports the steps of a payment as progress', async ({ around }) => {
    await limit(around);
    const { client } = await startAgent(['--allow-payments'], around, era);
    const messages: unknown[] = [];
    const given = { destination: 'ann@example.com', amount: '1000sat', ref: 'a' };
    await client.callTool(
      { name: 'pay', arguments: given },
      { onprogress: ({ message }) => messages.push(message) },
    );
    expect(messages).toEqual(
      expect.arrayContaining(['quoted: the total is 0.00001003 BTC', 'submitted']),
    );
  });
});

describe('svcpay mcp', () => {
  test('answers a JSON-RPC batch with one array', async ({ around }) => {
    const { input, output } = startOnStreams(['mcp'], around);
    const ask = (id: number, method: string, params: object) => ({
      jsonrpc: '2.0',
      id,
      method,
      params,
    });
    const clientInfo = { name: 'test', version: '1' };
    const start = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo };
    const lines = createInterface({ input: output })[Symbol.asyncIterator]();
    const answer = async (): Promise<unknown> => JSON.parse((await lines.next()).value ?? '');
    input.write(`${JSON.stringify(ask(1, 'initialize', start))}\n`);
    expect(await answer()).toMatchObject({ id: 1 });
    input.write(`${JSON.stringify([ask(2, 'ping', {}), ask(3, 'tools/list', {})])}\n`);
    const answers = v.parse(v.array(v.looseObject({ id: v.number() })), await answer());
    expect(answers.map(({ id }) => id).toSorted()).toEqual([2, 3]);
    input.end();
  });

  test('marks a payment with an unknown outcome, and never repeats it', async ({ around }) => {
    await limit(around);
    const { call } = await startAgent(['--allow-payments'], around);
    await around.sandbox.faults.add({ kind: 'payment', outcome: 'error' });
    const given = { destination: 'ann@example.com', amount: '1000sat', ref: 'a' };
    const paid = await call('pay', given);
    expect(paid).toMatchObject({ isError: false, content: { outcome: 'unknown' } });
    const txnId = String(paid.content['txnId']);
    for (const tool of ['transaction', 'watch', 'resume'])
      expect((await call(tool, { id: txnId })).content).toMatchObject({ outcome: 'unknown' });
    const { content } = await call('transactions', { limit: 1 });
    expect(content['transactions']).toMatchObject([{ txnId, outcome: 'unknown' }]);
    const again = { ...given, ref: 'b', differentFrom: txnId };
    expect((await call('pay', again)).content.error?.message).toContain('identical payment');
    expect(around.sandbox.requests('PUT')).toHaveLength(1);
  });

  test('reports a failed payment that it is asked to resume', async ({ around }) => {
    await limit(around);
    const { call } = await startAgent(['--allow-payments'], around);
    await around.sandbox.faults.add({ kind: 'payment', outcome: 'no-route' });
    await call('pay', { destination: 'ann@example.com', amount: '1000sat', ref: 'a' });
    const { error } = (await call('resume', { id: 'a' })).content;
    expect(error).toMatchObject({ kind: 'payment-failed', exitCode: 6 });
    expect(around.sandbox.requests('PUT')).toHaveLength(1);
  });

  test('finds a transaction by text, invoice and payment hash', async ({ around }) => {
    await limit(around);
    const { call } = await startAgent(['--allow-payments'], around);
    const invoice = await around.sandbox.invoice('1000sat', { description: 'Coffee house' });
    const { txnId } = (await call('pay', { destination: invoice, ref: 'a' })).content;
    const found = await call('transactions', { search: 'coffee' });
    expect(found.content['transactions']).toMatchObject([{ txnId, with: 'Coffee house' }]);
    for (const id of [invoice, decodeInvoice(invoice).paymentHash, 'a'])
      expect((await call('transaction', { id })).content['txnId']).toBe(txnId);
  });
});

describe('svcpay mcp pay_many', () => {
  test('checks rows, then pays them once within the limits', async ({ around }) => {
    await limit(around);
    const { call } = await startAgent(['--allow-payments'], around);
    const rows = ['ann', 'ben', 'eve'].map((name, n) => ({
      ref: `salary-${n}`,
      to: `${name}@example.com`,
      amount: '1000sat',
    }));
    const run = { rows, name: 'salaries-2026-11', acceptChanges: true };
    const checked = await call('pay_many', { ...run, dryRun: true });
    expect(checked).toMatchObject({ isError: false, content: { cost: [{ ccy: 'BTC' }] } });
    expect(around.sandbox.requests('PUT').filter(isConfirmation)).toHaveLength(0);
    const paid = await call('pay_many', run);
    expect(paid).toMatchObject({ isError: false, content: { paid: 3 } });
    const again = await call('pay_many', run);
    expect(again.content).toMatchObject({ paidBefore: 3 });
    expect(around.sandbox.requests('PUT').filter(isConfirmation)).toHaveLength(3);
    const wrong = await call('pay_many', { ...run, rows: [{ destination: 'ann@example.com' }] });
    expect(wrong.content.error?.message).toContain('destination is not an input of pay_many');
    const usdt = { ...run, name: 'x', rows: [{ ref: 'u', to: tron, amount: '1000usdt' }] };
    expect((await call('pay_many', usdt)).content.error?.kind).toBe('limit');
  });
});

const isConfirmation = ({ path }: { path: string }): boolean => path.endsWith('/confirm');

describe('svcpay mcp remarks', () => {
  test('name no shell command for a payment in flight or an ended payment', async ({ around }) => {
    await around.sandbox.clock.freeze();
    const given = { destination: 'ann@example.com', amount: '1000sat', ref: 'a' };
    const pay = ['send', given.destination, given.amount, '--ref', 'a', '--yes', '--no-wait'];
    await inProcess(pay, around);
    const { call } = await startAgent([], around);
    // Every call checks that its remarks name no command.
    expect(await call('quote', given)).toMatchObject({ content: { txnState: 'srccreated' } });
    await around.sandbox.clock.advance('10m');
    expect((await call('pending')).text).toContain('done: 0.00001000 BTC');
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

  test('refuses the reference of a different payment and names both', async ({ around }) => {
    await inProcess(['limits', 'set', '--per-day', '500000sat'], around);
    const { call } = await startAgent(['--allow-payments'], around);
    const given = { destination: 'ann@example.com', amount: '1000sat', ref: 'a' };
    expect(await call('pay', given)).toMatchObject({ isError: false });
    for (const other of [{ destination: 'bob@example.com' }, { amount: '2000sat' }])
      expect((await call('pay', { ...given, ...other })).content.error).toMatchObject({
        kind: 'usage',
        exitCode: 2,
        message: expect.stringMatching(
          /a belongs to a different payment: 1 000 sat to ann@example\.com, and this is /,
        ),
      });
    expect(around.sandbox.requests('PUT')).toHaveLength(1);
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
      });
      const month = new Date().toISOString().slice(0, 7);
      const { spending } = answered(sums, await call('spending', { since: month }));
      const unread = await call('spending', { since: '7d' });
      expect(unread.content.error?.message).toContain('from: "7d" is not a date');
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
        transactions: v.array(v.looseObject({ txnId: v.string(), with: v.nullable(v.string()) })),
        page: v.number(),
        total: v.number(),
        more: v.boolean(),
      });
      const rows: string[] = [];
      for (let number = 1, more = true; more; number += 1) {
        const found = answered(page, await call('transactions', { limit: 4, page: number }));
        rows.push(...found.transactions.map(({ txnId }) => txnId));
        for (const row of found.transactions)
          expect(JSON.stringify(row).length / 4).toBeLessThanOrEqual(90);
        more = found.more;
        if (!more) expect(rows).toHaveLength(found.total);
      }
      expect(new Set(rows).size).toBe(rows.length);
      expect(rows.length).toBeGreaterThan(7);
    },
  );
});
