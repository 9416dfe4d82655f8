// Runs a tool call as a command line, and returns the JSON or the failure of the command.
import { Readable, Writable } from 'node:stream';
import * as v from 'valibot';
import type { Failure } from '../../formats/failure.js';
import { jsonIn } from '../../formats/unknown.js';
import type { Context } from '../context.js';
import type { Command } from '../define.js';
import { flagName, takesWord } from '../values.js';
import type { ToolError } from './failures.js';
import type { GivenInputs } from './inputs.js';
import { rowsName } from './output-schemas.js';
import type { ToolRow } from './tools.js';

/** The result of a command line. */
export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly failure: Failure | undefined;
}

/**
 * Builds the command line of a tool call. Passes each word from an agent as the value of an option
 * or after `--`, so that svcpay never reads the word as an option.
 * @param given the inputs by the names of the command's arguments and options
 */
export function commandLine(
  { command: path, always = [] }: Pick<ToolRow, 'command' | 'always'>,
  command: Pick<Command, 'arguments' | 'options'>,
  given: GivenInputs,
): string[] {
  const words = Object.keys(command.arguments).flatMap((name) => given[name] ?? []);
  const options = Object.entries(command.options).flatMap(([name, value]) => {
    const input = given[name];
    if (!takesWord(value)) return input === true ? [flagName(name)] : [];
    return [input ?? []].flat().map((each) => `${flagName(name)}=${String(each)}`);
  });
  return [
    ...path.split(' '),
    ...always,
    ...options,
    '--json',
    '--no-input',
    '--',
    ...words.map(String),
  ];
}

/**
 * Runs a command line in this process with the server's global options, and captures the output.
 */
export async function run(
  argv: readonly string[],
  signal: AbortSignal,
  context: Context,
  refusePayment?: Context['refusePayment'],
): Promise<CommandResult> {
  const [stdout, stderr] = [collected(), collected()];
  const { profile, account, baseUrl, sandbox, timeout } = context.globals;
  const globals = Object.entries({
    profile,
    account,
    baseUrl,
    timeout: timeout === undefined ? undefined : `${timeout}ms`,
  }).flatMap(([name, value]) => (value === undefined ? [] : [`${flagName(name)}=${value}`]));
  let failure: Failure | undefined;
  await context.runLine([...globals, ...(sandbox ? ['--sandbox'] : []), ...argv], {
    signal: AbortSignal.any([context.signal, signal]),
    owner: context.owner,
    refusePayment,
    withoutProgress: true,
    onFailure: (reason) => (failure = reason),
    stdin: { isTTY: false, open: () => Readable.from([]) },
    stdout: stdout.stream,
    stderr: stderr.stream,
    page: { isTTY: false, columns: undefined, print: (text) => void stdout.stream.write(text) },
  });
  return { failure, stdout: stdout.text(), stderr: stderr.text() };
}

function collected(): { readonly stream: Writable; text(): string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}

export interface Result {
  readonly content: GivenInputs;
  readonly isError: boolean;
  /** The warnings and remarks that the command wrote to stderr, without the failure. */
  readonly warnings: string;
}

/**
 * Turns the result of a command line into a tool result. A payment with an unknown outcome does not
 * count as a failed call.
 */
export function resultOf(
  row: ToolRow,
  { failure, stdout, stderr }: CommandResult,
  errorOf: (failure: Failure) => ToolError,
): Result {
  if (failure === undefined || failure.kind === 'books-differ') {
    const json = jsonIn(stdout);
    const name = rowsName(row.gives);
    const content =
      Array.isArray(json) && name !== undefined
        ? { [name]: json }
        : v.parse(v.looseObject({}), Array.isArray(json) ? json[0] : json);
    return { content, isError: false, warnings: stderr.trim() };
  }
  // Removes the last line of stderr, because the last line is the failure itself, not a warning.
  const warnings = stderr.trimEnd().split('\n').slice(0, -1).join('\n');
  const error = errorOf(failure);
  if (failure.kind !== 'pending') return { content: { error }, isError: true, warnings };
  const { kind: _pending, ...rest } = error;
  return { content: { outcome: 'pending', ...rest }, isError: false, warnings };
}

export const failed = (error: ToolError): Result => ({
  content: { error },
  isError: true,
  warnings: '',
});
