// Shows and resets the sandbox, lists its traffic, keeps snapshots, sets its clock, injects faults,
// and simulates the outside world: payments, invoices, blocks, and funding.
import * as v from 'valibot';
import { fixed, formatAmount, parseAmount } from '../../formats/amount.js';
import { invalid } from '../../formats/failure.js';
import {
  deliveryAnswer,
  deliveryStatuses,
  invoiceAnswer,
  paidAnswer,
  requestAnswer,
  statusAnswer,
  transferAnswer,
  walletAnswer,
  type Paid,
  clockAnswer,
  type ClockState,
  faultAnswer,
  snapshotAnswer,
} from '../../formats/sandbox/answers.js';
import { seeds } from '../../sandbox/seed.js';
import {
  deliveryList,
  requestList,
  faultList,
  faultView,
  fundedView,
  invoiceView,
  minedList,
  paidView,
  sandboxStatusView,
  walletText,
  clockView,
  snapshotList,
  snapshotView,
} from '../../terminal/views/sandbox-view.js';
import { defineCommand, done, list, record } from '../define.js';
import { resolveId } from '../tx/resolve-id.js';
import { amount, choice, duration, text, transaction, whole, literal } from '../values.js';
import {
  accountOf,
  controlSandbox,
  forgetBooks,
  listSandbox,
  queryOf,
  type SandboxDeps,
} from './control.js';
import { faultFields as fieldNames, faultKinds } from '../../sandbox/faults.js';

export const sandboxFund = defineCommand({
  arguments: { amount: amount().describe('amount to add, e.g. 0.5btc or 1000usdt') },
  examples: [['svcpay sandbox fund 0.5btc', 'adds half a bitcoin, received on-chain']],
  changes: true,
  run({ amount: added }, deps: SandboxDeps) {
    const body = { ccy: added.ccy, amount: fixed(added.value), accountId: accountOf(deps) };
    return controlSandbox(deps, 'POST fund', walletAnswer, body);
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
    return controlSandbox(deps, 'POST invoice', invoiceAnswer, body);
  },
  view: record(invoiceView),
});

/** Confirms pending transfers on every blockchain. */
export const sandboxMine = defineCommand({
  arguments: { blocks: whole(1, 1000).otherwise(1).describe('number of blocks (default 1)') },
  examples: [['svcpay sandbox mine 6', 'mines enough blocks to confirm any on-chain payment']],
  changes: true,
  run: ({ blocks }, deps: SandboxDeps) =>
    listSandbox(deps, 'POST mine', transferAnswer, { n: blocks }),
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
      controlSandbox(context, 'POST pay', paidAnswer, { target: what, amount });
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
  run: (_inputs, deps: SandboxDeps) => controlSandbox(deps, 'GET status', statusAnswer),
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
      throw invalid('--months works only with --seed history.');
    await context.ask.agree('Delete all transactions of the sandbox?', 'The sandbox is unchanged');
    const request = seed === undefined ? 'POST reset' : 'POST seed';
    await controlSandbox(context, request, v.unknown(), { seed, months });
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
  run: (filter, deps: SandboxDeps) => listSandbox(deps, `GET log${queryOf(filter)}`, requestAnswer),
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
    if (replay !== undefined)
      return [await controlSandbox(context, `POST deliveries/${replay}/replay`, deliveryAnswer)];
    const txnId = txn === undefined ? undefined : await resolveId(txn, context);
    const query = queryOf({ txnId, status, limit });
    return listSandbox(context, `GET deliveries${query}`, deliveryAnswer);
  },
  view: list(deliveryList),
});

const changeClock = (deps: SandboxDeps, how: string, body?: object): Promise<ClockState> =>
  controlSandbox(deps, `POST clock/${how}`, clockAnswer, body);

const view = record(clockView);

export const sandboxClockShow = defineCommand({
  examples: [
    [
      'svcpay sandbox clock show',
      'shows the time of the sandbox, which decides when quotes and invoices expire',
    ],
  ],
  run: (_inputs, deps: SandboxDeps) => controlSandbox(deps, 'GET clock', clockAnswer),
  view,
});

export const sandboxClockAdvance = defineCommand({
  arguments: { by: duration().describe('time to advance, e.g. 90s, 2h or 1d') },
  examples: [
    [
      'svcpay sandbox clock advance 2h',
      'lets invoices expire, confirmations arrive and webhooks retry',
    ],
  ],
  changes: true,
  run: ({ by }, deps: SandboxDeps) => changeClock(deps, 'advance', { by }),
  view,
});

export const sandboxClockFreeze = defineCommand({
  examples: [['svcpay sandbox clock freeze', 'stops the clock, so nothing settles or expires']],
  changes: true,
  run: (_inputs, deps: SandboxDeps) => changeClock(deps, 'freeze'),
  view,
});

export const sandboxClockThaw = defineCommand({
  examples: [['svcpay sandbox clock thaw', 'lets the clock continue from its current time']],
  changes: true,
  run: (_inputs, deps: SandboxDeps) => changeClock(deps, 'thaw'),
  view,
});

const field = literal('FIELD=VALUE', (given): readonly [string, unknown] => {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(given) ?? [];
  if (name === undefined || value === undefined)
    throw invalid(`"${given}" is not a field. Write a field such as times=3.`);
  return [name, name === 'body' ? jsonOf(value) : value];
});

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid('The field body must be JSON.', { cause });
  }
}

export const sandboxFaultAdd = defineCommand({
  arguments: {
    kind: choice(faultKinds, 'KIND').describe(faultKinds.join(', ')),
    given: field
      .repeated()
      .otherwise([])
      .describe(
        `fields of this kind of fault, among ${fieldNames.join(', ')}; ` +
          'a wrong field lists the fields of the kind',
      ),
  },
  examples: [
    [
      "svcpay sandbox fault add drop-after-commit path='**/confirm'",
      'loses the response to a confirmation',
    ],
    [
      'svcpay sandbox fault add status status=429 retryAfter=2s times=3',
      'answers 429 to three requests',
    ],
    [
      'svcpay sandbox fault add stale ago=6s times=always',
      'shows transactions and lists as they were six seconds ago',
    ],
    [
      'svcpay sandbox fault add html status=504 commitAfter=5s',
      'answers with a gateway timeout, and still executes the request',
    ],
    [
      'svcpay sandbox fault add payment outcome=no-route',
      'fails the next payment because Lightning finds no route',
    ],
    [
      'svcpay sandbox fault add settled-amount side=dest factor=0.9',
      'delivers only nine tenths of the next payment',
    ],
    [
      'svcpay sandbox fault add returned delay=2h',
      'completes the next payment, and fails it two hours later',
    ],
    [
      'svcpay sandbox fault add webhook-duplicate state=completed times=always',
      'delivers completed events twice',
    ],
  ],
  changes: true,
  run: ({ kind, given }, deps: SandboxDeps) =>
    controlSandbox(deps, 'POST faults', faultAnswer, { kind, ...Object.fromEntries(given) }),
  view: record(faultView),
});

export const sandboxFaultList = defineCommand({
  examples: [['svcpay sandbox fault list', 'lists faults and how often each was applied']],
  run: (_inputs, deps: SandboxDeps) => listSandbox(deps, 'GET faults', faultAnswer),
  view: list(faultList),
});

export const sandboxFaultClear = defineCommand({
  arguments: { id: whole(1, 999_999_999, 'ID').optional().describe('one fault (default: all)') },
  examples: [['svcpay sandbox fault clear', 'removes all faults']],
  changes: true,
  run: ({ id }, deps: SandboxDeps) =>
    listSandbox(deps, `DELETE faults${id === undefined ? '' : `/${id}`}`, faultAnswer),
  view: list(faultList),
});

const kept = text('NAME')
  .suggesting('snapshot')
  .describe('name, as shown by svcpay sandbox snapshot list');

export const sandboxSnapshotSave = defineCommand({
  arguments: {
    name: text('NAME')
      .suggesting('snapshot')
      .describe('letters, digits, ".", "_" and "-"; replaces a state of the same name'),
  },
  examples: [
    ['svcpay sandbox snapshot save funded', 'saves a state to restore as often as needed'],
  ],
  changes: true,
  run: ({ name }, deps: SandboxDeps) =>
    controlSandbox(deps, 'POST snapshots', snapshotAnswer, { name }),
  view: record(snapshotView('Saved as')),
});

/** Restores the money, transactions, webhooks and time of a snapshot. */
export const sandboxSnapshotLoad = defineCommand({
  arguments: { name: kept },
  examples: [['svcpay sandbox snapshot load funded', 'deletes everything since the snapshot']],
  changes: true,
  async run({ name }, context) {
    const request = `POST snapshots/${encodeURIComponent(name)}/load`;
    const loaded = await controlSandbox(context, request, snapshotAnswer);
    await forgetBooks(context);
    return loaded;
  },
  view: record(snapshotView('Back at')),
});

export const sandboxSnapshotList = defineCommand({
  examples: [['svcpay sandbox snapshot list', 'lists names and times']],
  run: (_inputs, deps: SandboxDeps) => listSandbox(deps, 'GET snapshots', snapshotAnswer),
  view: list(snapshotList),
});

export const sandboxSnapshotRemove = defineCommand({
  arguments: { name: kept },
  examples: [['svcpay sandbox snapshot remove funded', 'deletes the snapshot']],
  changes: true,
  run: ({ name }, deps: SandboxDeps) =>
    listSandbox(deps, `DELETE snapshots/${encodeURIComponent(name)}`, snapshotAnswer),
  view: list(snapshotList),
});
