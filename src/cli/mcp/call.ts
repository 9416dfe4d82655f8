// Runs the command of a tool call, and returns the data or the failure of the command.
import { Readable, Writable } from 'node:stream';
import * as v from 'valibot';
import { Failure, isUnknown } from '../../formats/failure.js';
import { jsonIn } from '../../formats/unknown.js';
import { toJson } from '../../terminal/rows/json.js';
import { nestedContext, type Context } from '../context.js';
import type { Command } from '../define.js';
import type { Process } from '../process.js';
import type { RawValues } from '../values.js';
import type { ToolError } from './failures.js';
import type { GivenInputs } from './inputs.js';
import { rowsName } from './output-schemas.js';
import type { ToolRow } from './tools.js';

/** The result of a command. */
export interface CommandResult {
  /** The data of the command as JSON values. */
  readonly data: unknown;
  /** The warnings and remarks of the command. */
  readonly warnings: string;
  readonly failure: Failure | undefined;
}

/**
 * Runs a command in this process without questions, and captures its warnings.
 * @param changes the parts of the process that this call changes, such as the check of a payment
 */
export async function run(
  command: Command,
  { yes, ...given }: RawValues,
  context: Context,
  { signal, ...changes }: Partial<Process> & Pick<Process, 'signal'>,
): Promise<CommandResult> {
  const [stdout, stderr] = [collected(), collected()];
  const nested = nestedContext(
    context,
    {
      signal: AbortSignal.any([context.signal, signal]),
      owner: context.owner,
      withoutProgress: true,
      stdin: { isTTY: false, open: () => Readable.from([]) },
      stdout: stdout.stream,
      stderr: stderr.stream,
      ...changes,
    },
    { json: true, input: false, yes: yes === true, debug: false },
  );
  const ended = (data: unknown, failure?: Failure): CommandResult => ({
    data,
    failure,
    warnings: stderr.text().trim(),
  });
  try {
    if (command.call === undefined) {
      await command.execute(given, nested);
      return ended(jsonIn(stdout.text()));
    }
    const { data, failure } = await command.call(given, nested);
    return ended(jsonIn(toJson(data)), failure);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    return ended(jsonIn(stdout.text()), failure);
  } finally {
    await nested.close();
  }
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
  readonly warnings: string;
}

/**
 * Turns the result of a command into a tool result. A payment with an unknown outcome does not
 * count as a failed call.
 */
export function resultOf(
  row: ToolRow,
  { failure, data, warnings }: CommandResult,
  errorOf: (failure: Failure) => ToolError,
): Result {
  if (failure === undefined || failure.kind === 'books-differ') {
    const name = rowsName(row.gives);
    const content =
      Array.isArray(data) && name !== undefined
        ? { [name]: data }
        : v.parse(v.looseObject({}), Array.isArray(data) ? data[0] : data);
    return { content, isError: false, warnings };
  }
  const error = errorOf(failure);
  if (!isUnknown(failure)) return { content: { error }, isError: true, warnings };
  const { kind: _unknown, ...rest } = error;
  const outcome = failure.kind === 'pending' ? 'pending' : 'unknown';
  return { content: { outcome, ...rest }, isError: false, warnings };
}

export const failed = (error: ToolError): Result => ({
  content: { error },
  isError: true,
  warnings: '',
});
