// Ends a command that has run another one with the exit code of that one, which has said all there is to say.

export class Ended extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}
