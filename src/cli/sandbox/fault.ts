// Injects faults into the sandbox, such as refused requests, stale reads, failed payments and
// webhooks in the wrong order.
import { faultAnswer, listOf } from '../../formats/sandbox/answers.js';
import { Failure } from '../../formats/failure.js';
import { faultKinds, paymentOutcomes, settledSides } from '../../sandbox/world/faults.js';
import { faultList, faultView, faultFields } from '../../terminal/views/sandbox-traffic-view.js';
import { defineCommand } from '../define.js';
import { controlSandbox } from './control.js';
import { choice, duration, onOff, text, whole, word, type ValuesOf } from '../values.js';

const many = word('N|always', (given) => {
  if (given === 'always') return given;
  if (/^[1-9]\d{0,5}$/.test(given)) return Number(given);
  throw new Failure(
    'usage',
    `"${given}" is not a number of times. Write a number such as 3, or always.`,
  );
});

const json = word('JSON', (given): unknown => {
  try {
    return JSON.parse(given);
  } catch (cause) {
    throw new Failure('usage', '--body must be JSON.', { cause });
  }
});

const factor = word('FACTOR', (given): number => {
  if (/^\d{1,2}(\.\d{1,8})?$/.test(given)) return Number(given);
  throw new Failure('usage', `"${given}" is not a factor. Write a number such as 0.9 or 1.05.`);
});

const options = {
  method: text('METHOD').optional().describe('for request faults: only requests with this method'),
  path: text('PATH')
    .optional()
    .describe(
      'for request faults: only requests to this path; * is any text without a slash, ** any text',
    ),
  nth: whole(1, 1_000_000).optional().describe('start at the Nth match (default 1)'),
  times: many.optional().describe('apply this many times (default 1)'),
  status: whole(200, 599).optional().describe('for the faults status and html: the HTTP status'),
  error: text().optional().describe('for the fault status: the error text'),
  message: text().optional().describe('for the fault status: the error message'),
  body: json.optional().describe('for the fault status: the whole response body'),
  retryAfter: duration()
    .optional()
    .describe('for the fault status: the value of the Retry-After header'),
  delay: duration()
    .optional()
    .describe('for the faults latency, late-effect, returned and webhook-out-of-order: the delay'),
  commit: onOff().describe(
    'for the faults status, html and no-answer: carry out the request anyway',
  ),
  commitAfter: duration()
    .optional()
    .describe(
      'for the faults status, html and no-answer: delay after which to carry out the request',
    ),
  ago: duration()
    .optional()
    .describe('for the fault stale: how old the returned states of transactions are, e.g. 30s'),
  steps: whole(0, 100)
    .optional()
    .describe('for the fault stale: how many states the returned transactions lag behind'),
  outcome: choice(paymentOutcomes, 'OUTCOME')
    .optional()
    .describe(`for the fault payment: the outcome, one of ${paymentOutcomes.join(', ')}`),
  side: choice(settledSides, 'SIDE')
    .optional()
    .describe(
      'for the fault settled-amount: the side with a different amount, ' +
        settledSides.join(' or '),
    ),
  factor: factor
    .optional()
    .describe('for the fault settled-amount: the factor for the amount of --side, e.g. 0.9'),
  destination: text('PATTERN')
    .optional()
    .describe(
      'for the faults payment, double-payment, settled-amount and returned: only this invoice, ' +
        'address or account',
    ),
  txn: text('ID')
    .optional()
    .describe(
      'for the fault missing-row: the transaction to leave out of lists ' +
        '(default: first of the page)',
    ),
  state: text('STATE')
    .optional()
    .describe(
      'for the fault false-state: the state to show; for the fault returned: failed or ' +
        'rejected; for webhook faults: only events of this state',
    ),
};

export const sandboxFaultAdd = defineCommand({
  fields: faultFields,
  arguments: { kind: choice(faultKinds, 'KIND').describe(faultKinds.join(', ')) },
  options,
  examples: [
    [
      "svcpay sandbox fault add drop-after-commit --path '**/confirm'",
      'loses the response to a confirmation',
    ],
    [
      'svcpay sandbox fault add status --status 429 --retry-after 2s --times 3',
      'answers 429 to three requests',
    ],
    [
      'svcpay sandbox fault add stale --ago 6s --times always',
      'shows transactions and lists as they were six seconds ago',
    ],
    [
      'svcpay sandbox fault add html --status 504 --commit-after 5s',
      'answers with a gateway timeout, and still executes the request',
    ],
    [
      'svcpay sandbox fault add payment --outcome no-route',
      'fails the next payment because Lightning finds no route',
    ],
    [
      'svcpay sandbox fault add settled-amount --side dest --factor 0.9',
      'delivers only nine tenths of the next payment',
    ],
    [
      'svcpay sandbox fault add returned --delay 2h',
      'completes the next payment, and fails it two hours later',
    ],
    [
      'svcpay sandbox fault add webhook-duplicate --state completed --times always',
      'delivers completed events twice',
    ],
  ],
  async run({ kind, ...flags }, context) {
    const fault = await controlSandbox(context, 'POST', 'faults', faultAnswer, {
      kind,
      ...fieldsOf(flags),
    });
    await context.out.record(fault, faultView(fault));
  },
});

/**
 * Converts the flags to the fields of a fault, with `retryAfter` in seconds like the Retry-After
 * header.
 */
function fieldsOf({ retryAfter, ...flags }: ValuesOf<typeof options>): object {
  return {
    ...flags,
    retryAfter: retryAfter === undefined ? undefined : Math.ceil(retryAfter / 1000),
  };
}

export const sandboxFaultList = defineCommand({
  fields: faultFields,
  examples: [['svcpay sandbox fault list', 'lists faults and how often each was applied']],
  async run(_values, context) {
    const { data } = await controlSandbox(context, 'GET', 'faults', listOf(faultAnswer));
    await context.out.list(data, faultList);
  },
});

export const sandboxFaultClear = defineCommand({
  fields: faultFields,
  arguments: { id: whole(1, 999_999_999, 'ID').optional().describe('one fault (default: all)') },
  examples: [['svcpay sandbox fault clear', 'removes all faults']],
  async run({ id }, context) {
    const path = id === undefined ? 'faults' : `faults/${id}`;
    const { data } = await controlSandbox(context, 'DELETE', path, listOf(faultAnswer));
    await context.out.list(data, faultList);
  },
});
