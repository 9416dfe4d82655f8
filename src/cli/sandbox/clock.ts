// Shows, advances, freezes and thaws the sandbox's clock.
import { clockAnswer, type ClockState } from '../../formats/sandbox/answers.js';
import { clockView } from '../../terminal/views/sandbox-view.js';
import { controlSandbox, type SandboxDeps } from './control.js';
import { defineCommand } from '../define.js';
import { record } from '../show.js';
import { duration } from '../values.js';

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
