// Checks the installation, its files, the service and the clock, says what to do; exit 1 for a problem.
import { platform, versions } from 'node:process';
import { checkupLines, checkupList, type Check } from '../../terminal/views/checkup-view.js';
import { checkUp } from './checkup.js';
import { defineCommand } from '../define.js';
import { Ended } from '../exit-with.js';

export const doctor = defineCommand({
  examples: [
    ['svcpay doctor', 'what is in order and what is not'],
    ['svcpay doctor --json', 'for a script; exit code 1 when something is wrong'],
  ],
  async run(_values, context) {
    const { out } = context;
    const checks: Check[] = [];
    const machine = { nodeVersion: versions.node, hasModes: platform !== 'win32' };
    for await (const check of checkUp(machine, context)) checks.push(check);
    if (out.forPeople) out.screen((canvas) => checkupLines(checks, canvas));
    else await out.list(checks, checkupList);
    if (checks.some(({ state }) => state === 'problem')) throw new Ended(1);
  },
});
