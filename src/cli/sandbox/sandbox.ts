// Shows and resets the sandbox, lists its traffic, and simulates the outside world: payments,
// invoices, blocks, and funding.
import * as v from 'valibot';
import { fixed, formatAmount, parseAmount } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import {
  deliveryAnswer,
  deliveryStatuses,
  invoiceAnswer,
  listOf,
  paidAnswer,
  requestAnswer,
  statusAnswer,
  transferAnswer,
  walletAnswer,
  type Paid,
} from '../../formats/sandbox/answers.js';
import { seeds } from '../../sandbox/seed.js';
import {
  deliveryList,
  requestList,
  fundedView,
  invoiceView,
  minedList,
  paidView,
  sandboxStatusView,
  walletText,
} from '../../terminal/views/sandbox-view.js';
import { defineCommand } from '../define.js';
import { resolveId } from '../tx/resolve-id.js';
import { done, list, record } from '../show.js';
import { amount, choice, duration, text, transaction, whole } from '../values.js';
import { accountOf, controlSandbox, forgetBooks, queryOf, type SandboxDeps } from './control.js';

export const sandboxFund = defineCommand({
  arguments: { amount: amount().describe('amount to add, e.g. 0.5btc or 1000usdt') },
  examples: [['svcpay sandbox fund 0.5btc', 'adds half a bitcoin, received on-chain']],
  changes: true,
  run({ amount: added }, deps: SandboxDeps) {
    const body = { ccy: added.ccy, amount: fixed(added.value), accountId: accountOf(deps) };
    return controlSandbox(deps, 'POST', 'fund', walletAnswer, body);
  },
  view: record(fundedView),
  adapt: (wallet, { amount: added }) => ({
    screen: () => [`  Added ${formatAmount(added)}; the wallet now holds ${walletText(wallet)}.`],
  }),
});

export const sandboxInvoice = defineCommand({
  arguments: { amount: text('AMOUNT').describe('amount of the invoice, e.g. 1000sat') },
  options: {
    description: text().optional().describe('description of the invoice'),
    expires: duration().optional().describe('time until the invoice expires (default 1h)'),
  },
  examples: [
    ['svcpay sandbox invoice 1000sat -q', 'prints only the invoice, to pipe into svcpay send'],
  ],
  changes: true,
  async run({ amount, description, expires: expiry }, deps: SandboxDeps) {
    const body = { amount: fixed(parseAmount(amount, 'BTC').value), description, expiry };
    return controlSandbox(deps, 'POST', 'invoice', invoiceAnswer, body);
  },
  view: record(invoiceView),
});

/** Confirms pending transfers on every blockchain. */
export const sandboxMine = defineCommand({
  arguments: { blocks: whole(1, 1000).otherwise(1).describe('number of blocks (default 1)') },
  examples: [['svcpay sandbox mine 6', 'mines enough blocks to confirm any on-chain payment']],
  changes: true,
  run: async ({ blocks }, deps: SandboxDeps) =>
    (await controlSandbox(deps, 'POST', 'mine', listOf(transferAnswer), { n: blocks })).data,
  view: list(minedList),
});

export const sandboxPay = defineCommand({
  arguments: {
    target: text('INVOICE|ADDRESS|TXN').describe('invoice, address or transaction to pay'),
    amount: amount()
      .optional()
      .describe('amount to send to an address; a permanent address accepts any amount'),
  },
  examples: [
    ['svcpay sandbox pay lntb500u1…', 'makes the payment that svcpay receive waits for'],
    ['svcpay sandbox pay tb1q… 0.01btc', 'deposits to a permanent address'],
  ],
  changes: true,
  async run({ target, amount: sent }, context) {
    const amount = sent && `${fixed(sent.value)}${sent.ccy.toLowerCase()}`;
    const pay = (what: string): Promise<Paid> =>
      controlSandbox(context, 'POST', 'pay', paidAnswer, { target: what, amount });
    return pay(target).catch(async (error: unknown) => {
      const txnId = await resolveId(target, context).catch(() => undefined);
      if (txnId === undefined || txnId === target) throw error;
      return pay(txnId);
    });
  },
  view: record(paidView),
});

export const sandboxStatus = defineCommand({
  examples: [
    ['svcpay sandbox status', 'shows the embedded sandbox'],
    ['svcpay sandbox status --json --fields clock.now', 'prints the sandbox time, for a script'],
  ],
  run: (_inputs, deps: SandboxDeps) => controlSandbox(deps, 'GET', 'status', statusAnswer),
  view: record(sandboxStatusView),
});

/** Resets the sandbox, whose credentials stay valid. */
export const sandboxReset = defineCommand({
  options: {
    seed: choice(seeds, 'SEED')
      .optional()
      .describe(`contents after the reset: ${seeds.join(', ')} (default: as before)`),
    months: whole(1, 36)
      .optional()
      .describe('with --seed history: how many months of transactions (default 1)'),
  },
  examples: [
    ['svcpay sandbox reset --yes', 'starts again with a fresh sandbox'],
    [
      'svcpay sandbox reset --seed history --months 12 --yes',
      'starts with a year of transactions that add up to the wallet balances',
    ],
  ],
  changes: true,
  async run({ seed, months }, context) {
    if (months !== undefined && seed !== 'history')
      throw new Failure('usage', '--months works only with --seed history.');
    await context.ask.agree('Delete all transactions of the sandbox?', 'The sandbox is unchanged');
    if (seed === undefined) await controlSandbox(context, 'POST', 'reset', v.unknown());
    else await controlSandbox(context, 'POST', 'seed', v.unknown(), { seed, months });
    await forgetBooks(context);
    context.out.say('The sandbox was reset.');
    return { reset: true };
  },
  view: done,
});

export const sandboxLog = defineCommand({
  arguments: {
    path: text('PATH').optional().describe('only requests to this path, whatever the query'),
  },
  options: {
    method: text('METHOD').optional().describe('only requests of this method, such as PUT'),
    limit: whole(1, 10_000)
      .otherwise(50)
      .describe('show this many of the latest rows (default 50)'),
  },
  examples: [
    ['svcpay sandbox log --method PUT', 'shows the confirmations'],
    ['svcpay sandbox log -o jsonl --limit 1000', 'includes the bodies of requests and responses'],
  ],
  run: async (filter, deps: SandboxDeps) =>
    (await controlSandbox(deps, 'GET', `log${queryOf(filter)}`, listOf(requestAnswer))).data,
  view: list(requestList),
});

export const sandboxDeliveries = defineCommand({
  options: {
    txn: transaction().optional().describe('only deliveries of this transaction'),
    state: choice(deliveryStatuses, 'STATE')
      .optional()
      .describe(`only deliveries in this state: ${deliveryStatuses.join(', ')}`),
    limit: whole(1, 1000).otherwise(50).describe('show this many of the latest rows (default 50)'),
    replay: whole(1, 999_999_999, 'ID').optional().describe('deliver this event again'),
  },
  examples: [
    ['svcpay sandbox deliveries', 'lists each event with its last response'],
    ['svcpay sandbox deliveries --replay 7', 'delivers event 7 again'],
  ],
  async run({ txn, state: status, limit, replay }, context) {
    if (replay !== undefined) {
      const again = await controlSandbox(
        context,
        'POST',
        `deliveries/${replay}/replay`,
        deliveryAnswer,
      );
      return [again];
    }
    const txnId = txn === undefined ? undefined : await resolveId(txn, context);
    const path = `deliveries${queryOf({ txnId, status, limit })}`;
    return (await controlSandbox(context, 'GET', path, listOf(deliveryAnswer))).data;
  },
  view: list(deliveryList),
});
