// Ends a command without a further message: with the exit code of a nested command, or with the
// exit code for `declined` if the person left at the first question.
import { exitCodes } from '../formats/failure.js';
import type { Context } from './context.js';

export class Ended extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/**
 * Prints one line if the person goes back from the first question, because going back is not an
 * error.
 */
export function leftAtOnce({ out }: Context, what = 'Nothing was sent'): Ended {
  out.say(`  ${what}: you went back.`);
  return new Ended(exitCodes.declined);
}
