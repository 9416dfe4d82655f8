// Terminal windows of three sizes. In the window of 80 x 24, the built program runs in a
// pseudo-terminal; in the other windows, commands run in the process of the test.
import { startOnScreen, svcpayTty as svcpayTtyHere, type HereOnTerminal } from './in-process.js';
import { startInPty, type PtyRun } from './pty.js';
import { environment, svcpayTty, type TtyRun } from './svcpay.js';

export interface Window {
  readonly columns: number;
  readonly rows: number;
  readonly svcpayTty: (args: readonly string[], around: HereOnTerminal) => TtyRun;
  /** Starts a command on the screen of a terminal emulator. */
  readonly start: (args: readonly string[], around: HereOnTerminal) => PtyRun;
}

const [columns, rows] = [80, 24];

export const windows: readonly Window[] = [
  {
    columns,
    rows,
    svcpayTty: (args, around) => svcpayTty(args, { ...around, columns, rows }),
    start: (args, around) =>
      startInPty(process.execPath, ['bin/svcpay.js', ...args], {
        columns,
        rows,
        env: environment(around),
      }),
  },
  windowHere(60, 20),
  windowHere(140, 45),
];

function windowHere(columns: number, rows: number): Window {
  return {
    columns,
    rows,
    svcpayTty: (args, around) => svcpayTtyHere(args, { ...around, columns, rows }),
    start: (args, around) => startOnScreen(args, { ...around, columns, rows }),
  };
}
