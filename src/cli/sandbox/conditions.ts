// Changes the conditions of a sandbox: its clock, its saved states, and its faults, such as refused
// requests, stale reads, failed payments and webhooks in the wrong order.
import {
  clockAnswer,
  type ClockState,
  faultAnswer,
  listOf,
  snapshotAnswer,
} from '../../formats/sandbox/answers.js';
import { clockView, snapshotList, snapshotView } from '../../terminal/views/sandbox-view.js';
import { controlSandbox, forgetBooks, type SandboxDeps } from './control.js';
import { defineCommand } from '../define.js';
import { list, record } from '../show.js';
import { choice, duration, literal, text, whole } from '../values.js';
import { Failure } from '../../formats/failure.js';
import { faultFields as fieldNames, faultKinds } from '../../sandbox/world/faults.js';
import { faultList, faultView } from '../../terminal/views/sandbox-traffic-view.js';

const changeClock = (deps: SandboxDeps, how: string, body?: object): Promise<ClockState> =>
  controlSandbox(deps, 'POST', `clock/${how}`, clockAnswer, body);

const view = record(clockView);

export const sandboxClockShow = defineCommand({
  examples: [
    [
      'svcpay sandbox clock show',
      'shows the time of the sandbox, which decides when quotes and invoices expire',
    ],
  ],
  run: (_inputs, deps: SandboxDeps) => controlSandbox(deps, 'GET', 'clock', clockAnswer),
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
    controlSandbox(deps, 'POST', 'snapshots', snapshotAnswer, { name }),
  view: record(snapshotView('Saved as')),
});

/** Restores the money, transactions, webhooks and time of a snapshot. */
export const sandboxSnapshotLoad = defineCommand({
  arguments: { name: kept },
  examples: [['svcpay sandbox snapshot load funded', 'deletes everything since the snapshot']],
  changes: true,
  async run({ name }, context) {
    const path = `snapshots/${encodeURIComponent(name)}/load`;
    const loaded = await controlSandbox(context, 'POST', path, snapshotAnswer);
    await forgetBooks(context);
    return loaded;
  },
  view: record(snapshotView('Back at')),
});

export const sandboxSnapshotList = defineCommand({
  examples: [['svcpay sandbox snapshot list', 'lists names and times']],
  run: async (_inputs, deps: SandboxDeps) =>
    (await controlSandbox(deps, 'GET', 'snapshots', listOf(snapshotAnswer))).data,
  view: list(snapshotList),
});

export const sandboxSnapshotRemove = defineCommand({
  arguments: { name: kept },
  examples: [['svcpay sandbox snapshot remove funded', 'deletes the snapshot']],
  changes: true,
  async run({ name }, deps: SandboxDeps) {
    const path = `snapshots/${encodeURIComponent(name)}`;
    return (await controlSandbox(deps, 'DELETE', path, listOf(snapshotAnswer))).data;
  },
  view: list(snapshotList),
});
