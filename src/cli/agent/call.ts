// A tool call as the command line that does it: JSON in, the same command, its JSON and its exit code out.
import { Readable, Writable } from 'node:stream';
import * as v from 'valibot';
import { exitCodes, type Failure } from '../../formats/failure.js';
import { jsonIn } from '../../formats/unknown.js';
import { adviceOf } from '../../terminal/next-step.js';
import type { Context } from '../context.js';
import type { Command } from '../define.js';
import { flagName, takesWord, type Value } from '../values.js';
import { listName } from './output-schemas.js';
import { neverTaken, tools, type ToolRow } from './tools.js';

export type Given = Readonly<Record<string, unknown>>;

/** What a command line came to. */
export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The inputs of a tool by the names of its command's arguments and options. */
export const inputsOf = (
  row: ToolRow,
  command: Pick<Command, 'arguments' | 'options'>,
): [name: string, value: Value<unknown>][] =>
  Object.entries({ ...command.arguments, ...command.options }).filter(
    ([name]) => !neverTaken.has(name) && row.without?.includes(name) !== true,
  );

/** The command line of a call. What an agent gives is the value of an option or stands behind `--`, so it is never an option itself. */
export function commandLine(
  row: ToolRow,
  command: Pick<Command, 'arguments' | 'options'>,
  given: Given,
): string[] {
  const words: string[] = [];
  const options: string[] = [];
  for (const [name, value] of inputsOf(row, command)) {
    const input = given[name];
    if (input === undefined) continue;
    if (Object.hasOwn(command.arguments, name)) words.push(String(input));
    else if (!takesWord(value)) options.push(...(input === true ? [flagName(name)] : []));
    else options.push(...[input].flat().map((each) => `${flagName(name)}=${String(each)}`));
  }
  return [
    ...row.command.split(' '),
    ...(row.always ?? []),
    ...options,
    '--json',
    '--no-input',
    '--',
    ...words,
  ];
}

/** Runs a command line in this process under the server's global options, and keeps what it prints. */
export async function run(
  argv: readonly string[],
  signal: AbortSignal,
  context: Context,
  refusePayment?: Context['refusePayment'],
): Promise<Ran> {
  const [stdout, stderr] = [collected(), collected()];
  const { profile, account, baseUrl, sandbox, timeout } = context.globals;
  const globals = Object.entries({
    profile,
    account,
    baseUrl,
    timeout: timeout === undefined ? undefined : `${timeout}ms`,
  }).flatMap(([name, value]) => (value === undefined ? [] : [`${flagName(name)}=${value}`]));
  const exitCode = await context.runLine([...globals, ...(sandbox ? ['--sandbox'] : []), ...argv], {
    signal: AbortSignal.any([context.signal, signal]),
    owner: context.owner,
    refusePayment,
    stdin: { isTTY: false, open: () => Readable.from([]) },
    stdout: stdout.stream,
    stderr: stderr.stream,
    page: { isTTY: false, columns: undefined, print: (text) => void stdout.stream.write(text) },
  });
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() };
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

const problemSchema = v.object({
  error: v.looseObject({
    kind: v.string(),
    message: v.string(),
    exitCode: v.number(),
    txnId: v.optional(v.string()),
    hint: v.optional(v.string()),
  }),
});

export interface Result {
  readonly content: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  /** What the command wrote to stderr, next to its result. */
  readonly warnings: string;
}

/** What a command line came to, as a tool gives it. A payment that is on its way has not failed. */
export function resultOf(row: ToolRow, { exitCode, stdout, stderr }: Ran): Result {
  if (exitCode === 0) {
    const json = jsonIn(stdout);
    const name = listName(row.gives);
    const content =
      name === undefined
        ? v.parse(v.looseObject({}), Array.isArray(json) ? json[0] : json)
        : { [name]: json };
    return { content, isError: false, warnings: stderr.trim() };
  }
  const lines = stderr.trimEnd().split('\n');
  const read = v.safeParse(problemSchema, jsonIn(lines.pop() ?? ''));
  const error = read.success
    ? read.output.error
    : { kind: 'unexpected', message: 'The command ended without saying why.', exitCode };
  const warnings = lines.join('\n');
  const next = nextOf(error.hint ?? '');
  if (exitCode !== exitCodes.pending)
    return { content: { error: { ...error, next } }, isError: true, warnings };
  const { message, txnId, hint } = error;
  return {
    content: { outcome: 'pending', exitCode, message, txnId, hint, next },
    isError: false,
    warnings,
  };
}

/** A failure of the server's own, in the same form. */
export function failed(failure: Failure): Result {
  const { kind, message, exitCode, txnId } = failure;
  const hint = adviceOf(failure);
  return {
    content: { error: { kind, message, exitCode, txnId, hint, next: nextOf(hint ?? '') } },
    isError: true,
    warnings: '',
  };
}

/** The command that a hint names, and the tool that does the same. */
function nextOf(hint: string): { readonly command: string; readonly tool?: string }[] {
  const command = /svcpay .*/.exec(hint)?.[0];
  if (command === undefined) return [];
  const words = `${command.slice('svcpay '.length)} `;
  const [tool] = tools
    .filter((row) => words.startsWith(`${row.command} `) && !words.includes(' --'))
    .toSorted((a, b) => b.command.length - a.command.length);
  return [{ command, ...(tool !== undefined && { tool: tool.name }) }];
}
