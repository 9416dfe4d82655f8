// Ends a command of which all is said: one that has run another ends with its exit code, one that was left at its first
// question as declined.
import { exitCodes } from '../formats/failure.js';
import type { Context } from './context.js';

export class Ended extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** Whoever goes back from the first question has made no mistake: a quiet line says what holds. */
export function leftAtOnce({ out }: Context, what = 'Nothing was sent'): Ended {
  out.say(`  ${what}: you went back.`);
  return new Ended(exitCodes.declined);
}
