// Runs the command of a tool call, and describes its value or its failure to an agent.
import { Readable, Writable } from 'node:stream';
import { formatAmount } from '../../formats/amount.js';
import { Failure, isUnknown } from '../../formats/failure.js';
import { hasLapsed } from '../../formats/states.js';
import { isFields, jsonIn, messageOf } from '../../formats/text.js';
import { status } from '../../store/journal/payment.js';
import { toJson } from '../../terminal/rows/json.js';
import { checkBudget, quotedAmounts } from '../../wallet/limits/limits.js';
import type { Approval, PaymentEvent } from '../../wallet/payment/model.js';
import { checkTerms, highestFee } from '../../wallet/quote/quote.js';
import { nestedContext, type Context } from '../context.js';
import type { Command } from '../define.js';
import type { PaymentRules } from '../payment/payment-options.js';
import type { RawValues } from '../values.js';
import { errorFor } from './failures.js';
import { readInputs, rowsAsCsv, type GivenInputs } from './inputs.js';
import { budgetInForce, ceilingFor, Repetition, rulesFor } from './rules.js';
import type { ToolRow } from './tools.js';

/** A tool with its command, and the command that pays a quote. */
export interface Tool extends ToolRow {
  readonly runs: Command;
  readonly runsForQuote: Command | undefined;
}

/** What the server knows about a call, apart from the inputs. */
export interface Call {
  readonly signal: AbortSignal;
  /** Whether a person agreed that this call repeats a payment. */
  readonly mayRepeat: boolean;
  readonly progress: (message: string) => void;
}

/** The options of the server, which are the same for all tool calls. */
export interface Serving {
  readonly maxFee: string | undefined;
  readonly allowsPayments: boolean;
  /** The names of the offered tools. */
  readonly offered: readonly string[];
}

export interface Result {
  readonly content: GivenInputs;
  readonly isError: boolean;
  readonly warnings: string;
  /** Whether the call repeats a payment, which a person can allow. */
  readonly isRepetition?: boolean;
}

/** Calls a tool. Never throws, because an agent gets every failure as a result. */
export async function callTool(
  tool: Tool,
  given: GivenInputs,
  call: Call,
  serving: Serving,
  context: Context,
): Promise<Result> {
  const failed = (failure: Failure, warnings = '', data?: unknown): Result => {
    const known = isFields(data) ? data : {};
    const { kind, ...rest } = errorFor(tool, failure, serving.offered, context.globals);
    const { proposal, message } = failure;
    if (proposal !== undefined) {
      const content = { ...known, outcome: 'awaiting-approval', proposal, message, ref: rest.ref };
      return { content, isError: false, warnings };
    }
    if (!isUnknown(failure))
      return {
        content: { ...known, error: { kind, ...rest } },
        isError: true,
        warnings,
        isRepetition: tool.effect === 'pays' && failure instanceof Repetition,
      };
    const outcome = failure.kind === 'pending' ? 'pending' : 'unknown';
    return { content: { ...known, outcome, ...rest }, isError: false, warnings };
  };
  try {
    const { rows, ...others } = given;
    const input = tool.rows && rowsAsCsv(tool.name, tool.rows, rows);
    const { command, values } = chosen(tool, tool.rows === undefined ? given : others);
    const { differentFrom, ...inputs } = values;
    const steps = stepsOf(call.progress);
    const terms = {
      maxFee: serving.maxFee,
      differentFrom: String(differentFrom ?? ''),
      ref: typeof values['ref'] === 'string' ? values['ref'] : undefined,
      mayRepeat: call.mayRepeat,
    };
    const agent = tool.effect === 'pays' ? rulesFor(terms, steps.on) : { on: steps.on };
    const ran = await runCommand(
      command,
      { ...tool.always, ...(tool.as?.(inputs) ?? inputs) },
      context,
      { signal: call.signal, agent, fields: tool.fields, input },
    );
    const { failure, warnings } = ran;
    const isQuote = tool.always?.['quoteOnly'] === true;
    if (isQuote && failure?.kind === 'limit') {
      const { txnId, txnState = 'quoted', message } = failure;
      const quoted = txnId === undefined ? {} : { txnId, txnState };
      return {
        content: { ...quoted, payable: false, why: [message] },
        isError: false,
        warnings,
      };
    }
    if (failure !== undefined && failure.kind !== 'books-differ')
      return failed(failure, warnings, ran.data);
    const content = {
      ...(await withOutcomes(
        Array.isArray(ran.data) ? { [tool.name]: ran.data } : ran.data,
        context,
      )),
      ...(isQuote && steps.approval && (await costOf(steps.approval, serving, context))),
      ...(failure !== undefined && { message: failure.message }),
    };
    return { content, isError: false, warnings };
  } catch (error) {
    return failed(
      error instanceof Failure
        ? error
        : new Failure('unexpected', messageOf(error), { cause: error }),
    );
  }
}

/** Chooses the command of a call: with `txnId`, the tool `pay` pays a quote. */
function chosen(tool: Tool, given: GivenInputs): { command: Command; values: RawValues } {
  const values = readInputs(tool, tool.runs, given);
  const { txnId, ...others } = values;
  if (tool.runsForQuote === undefined) return { command: tool.runs, values };
  if (txnId === undefined) {
    const needs = ['destination', 'ref'].filter((name) => values[name] === undefined);
    if (needs.length > 0)
      throw new Failure(
        'usage',
        `Not called: missing: ${needs.join(', ')}, or the txnId of a quote.`,
      );
    return { command: tool.runs, values };
  }
  const wrong = Object.keys(others).filter((name) => name !== 'maxFee' && name !== 'ref');
  if (wrong.length > 0)
    throw new Failure(
      'usage',
      `Not called: with txnId, the quote is paid unchanged. Omit ${wrong.join(', ')}.`,
    );
  return { command: tool.runsForQuote, values: { id: txnId, ...others } };
}

/** Reports the steps of a payment as progress, and remembers the latest quote. */
function stepsOf(progress: Call['progress']) {
  const steps: { approval?: Approval; on: (event: PaymentEvent) => void } = {
    on(event) {
      if (event.type === 'quoted') {
        steps.approval = event.approval;
        progress(`quoted: the total is ${formatAmount(event.approval.quote.total)}`);
      } else if (event.type === 'submitting') progress('submitted');
      else if (event.type === 'state') progress(`state: ${event.txn.txnState}`);
    },
  };
  return steps;
}

/** Describes the cost of a quote, and whether an agent could pay the quote. */
async function costOf(
  { quote, unusual, order }: Approval,
  { maxFee, allowsPayments }: Serving,
  context: Context,
): Promise<GivenInputs> {
  const { total, serviceFee, networkFee } = quote;
  const why = [...unusual];
  const check = async (rule: () => unknown): Promise<void> => {
    try {
      await rule();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      why.push(error.clause);
    }
  };
  const payment = { from: total.ccy, method: order.body.destReq.method };
  let highest: string | undefined;
  await check(() => {
    const ceiling = ceilingFor(maxFee, payment);
    highest = formatAmount(highestFee(ceiling, quote));
    checkTerms({ maxFee: ceiling }, quote);
  });
  if (allowsPayments)
    await check(async () =>
      checkBudget(
        context.settings.budget ?? '',
        await budgetInForce(context),
        order,
        quotedAmounts(order, quote),
      ),
    );
  return {
    total: total.value.toNumber(),
    fee: serviceFee.value.plus(networkFee.value).toNumber(),
    maxFee: highest,
    payable: why.length === 0,
    ...(why.length > 0 && { why }),
  };
}

/**
 * Marks each transaction whose outcome only a person can find out, because the service reports
 * `error`, or `expired` after the submission.
 */
async function withOutcomes(data: unknown, context: Context): Promise<GivenInputs> {
  const mark = async (value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return Promise.all(value.map(mark));
    if (!isFields(value) || typeof value['txnId'] !== 'string') return value;
    const { txnId, txnState } = value;
    if (typeof txnState !== 'string' || !(hasLapsed(txnState) || txnState === 'error'))
      return value;
    const { scope, journal } = await context.account();
    const payment = await (await journal()).find(scope, txnId);
    const known = payment === undefined ? txnState : status(payment);
    return ['unknown', 'error'].includes(known) ? { ...value, outcome: 'unknown' } : value;
  };
  const marked = await mark(data);
  if (!isFields(marked)) return {};
  const fields = Object.entries(marked).map(async ([name, value]) =>
    Array.isArray(value) ? [name, await mark(value)] : [name, value],
  );
  return Object.fromEntries(await Promise.all(fields));
}

interface Ran {
  /** The data of the command as JSON values. */
  readonly data: unknown;
  readonly failure: Failure | undefined;
  /** The warnings and remarks of the command. */
  readonly warnings: string;
}

/** Runs a command in this process without questions, and returns its value. */
export async function runCommand(
  command: Command,
  { yes, ...given }: RawValues,
  context: Context,
  changes: {
    readonly signal: AbortSignal;
    readonly agent?: PaymentRules;
    readonly fields?: readonly string[] | undefined;
    /** The data on stdin. */
    readonly input?: string | undefined;
  },
): Promise<Ran> {
  const { signal, agent, fields, input = '' } = changes;
  const remarks: Buffer[] = [];
  const stderr = new Writable({
    write(chunk: Buffer, _encoding, done) {
      remarks.push(chunk);
      done();
    },
  });
  const nested = nestedContext(
    context,
    {
      signal: AbortSignal.any([context.signal, signal]),
      owner: context.owner,
      isServed: true,
      stdin: { isTTY: false, open: () => Readable.from([Buffer.from(input)]) },
      stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
      stderr,
      agent,
    },
    { json: true, input: false, yes: yes === true, debug: false },
  );
  const warnings = (): string => Buffer.concat(remarks).toString('utf8').trim();
  try {
    if (command.call === undefined) throw new Error('The command of a tool returns no value.');
    const { data, failure } = await command.call(given, nested, fields);
    return { data: jsonIn(toJson(await whole(data))), failure, warnings: warnings() };
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    return { data: undefined, failure, warnings: warnings() };
  } finally {
    await nested.close();
  }
}

/** Collects rows that arrive one after the other. */
async function whole(data: unknown): Promise<unknown> {
  if (!isStream(data)) return data;
  const rows: unknown[] = [];
  for await (const row of data) rows.push(row);
  return rows;
}

const isStream = (data: unknown): data is AsyncIterable<unknown> =>
  typeof data === 'object' && data !== null && Symbol.asyncIterator in data;
