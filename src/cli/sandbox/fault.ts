// Injects faults into the sandbox, such as refused requests, stale reads, failed payments and
// webhooks in the wrong order.
import { faultAnswer, listOf } from '../../formats/sandbox/answers.js';
import { Failure } from '../../formats/failure.js';
import { faultFields as fieldNames, faultKinds } from '../../sandbox/faults.js';
import { faultList, faultView } from '../../terminal/views/sandbox-view.js';
import { defineCommand } from '../define.js';
import { list, record } from '../show.js';
import { controlSandbox, type SandboxDeps } from './control.js';
import { choice, literal, whole } from '../values.js';

const field = literal('FIELD=VALUE', (given): readonly [string, unknown] => {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(given) ?? [];
  if (name === undefined || value === undefined)
    throw new Failure('usage', `"${given}" is not a field. Write a field such as times=3.`);
  return [name, name === 'body' ? jsonOf(value) : value];
});

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Failure('usage', 'The field body must be JSON.', { cause });
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
    controlSandbox(deps, 'POST', 'faults', faultAnswer, { kind, ...Object.fromEntries(given) }),
  view: record(faultView),
});

export const sandboxFaultList = defineCommand({
  examples: [['svcpay sandbox fault list', 'lists faults and how often each was applied']],
  run: async (_inputs, deps: SandboxDeps) =>
    (await controlSandbox(deps, 'GET', 'faults', listOf(faultAnswer))).data,
  view: list(faultList),
});

export const sandboxFaultClear = defineCommand({
  arguments: { id: whole(1, 999_999_999, 'ID').optional().describe('one fault (default: all)') },
  examples: [['svcpay sandbox fault clear', 'removes all faults']],
  changes: true,
  async run({ id }, deps: SandboxDeps) {
    const path = id === undefined ? 'faults' : `faults/${id}`;
    return (await controlSandbox(deps, 'DELETE', path, listOf(faultAnswer))).data;
  },
  view: list(faultList),
});
