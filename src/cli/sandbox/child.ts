// Runs another program in place of this one for a while: same terminal, signals passed on, its exit code handed back.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { Failure } from '../../formats/failure.js';
import { codeOf } from '../../formats/unknown.js';
import type { Process } from '../context.js';

/** What a shell answers for a program that a signal has ended: this and the signal's number. */
const endedBySignal = 128;

/** Resolves with the exit code. Throws Failure `usage` when the program cannot be started. */
export function runChild(
  [command = '', ...args]: readonly string[],
  env: Process['env'],
  { stdin, takeSignals }: Pick<Process, 'stdin' | 'takeSignals'>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: 'inherit' });
    const giveBack = takeSignals((signal) => {
      // Ctrl-C at a terminal reaches the child by itself, and twice would mean something else.
      if (signal !== 'SIGINT' || !stdin.isTTY) child.kill(signal);
    });
    child.on('error', (cause) => {
      giveBack();
      const reason = codeOf(cause) === 'ENOENT' ? `There is no command ${command}.` : `${command} cannot be started: ${cause.message}.`;
      reject(new Failure('usage', reason, { cause }));
    });
    child.on('exit', (code, signal) => {
      giveBack();
      resolve(code ?? endedBySignal + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
