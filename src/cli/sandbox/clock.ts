// The commands that look at the sandbox's clock and move it: one control endpoint each, one answer.
import { sandboxClockView } from '../../terminal/views/sandbox-view.js';
import type { Context } from '../context.js';
import { clockSchema } from './control-answers.js';
import { controlSandbox } from './control.js';

/** Controls the clock and prints what it shows then. */
export async function controlClock(
  context: Context, method: 'GET' | 'POST', path: string, body?: object,
): Promise<void> {
  const clock = await controlSandbox(context, method, path, clockSchema, body);
  await context.out.record(clock, sandboxClockView(clock));
}
