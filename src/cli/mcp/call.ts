// Runs the command of a tool call, under the rules for payments of agents, and describes its value
// or its failure to an agent.
import { Readable, Writable } from 'node:stream';
import { formatAmount } from '../../formats/amount.js';
import {
  asFailure,
  Failure,
  invalid,
  isUnknown,
  type NextStep,
  unlessKind,
} from '../../formats/failure.js';
import { hasLapsed } from '../../formats/states.js';
import { type Fields, isFields, jsonIn, messageOf } from '../../formats/text.js';
import { status, attemptNamed, decisive } from '../../store/journal/payment.js';
import { toJson } from '../../terminal/rows/json.js';
import { checkBudget, quotedAmounts } from '../../wallet/limits/limits.js';
import type { Approval, PaymentEvent, Repeats } from '../../wallet/payment/model.js';
import { checkTerms, highestFee } from '../../wallet/quote/quote.js';
import { nestedContext, type Context } from '../context.js';
import type { Command } from '../define.js';
import {
  type PaymentRules,
  type MaxFee,
  parseMaxFee,
  type RuledFlags,
  type RuledPayment,
} from '../payment/payment-options.js';
import { type RawValues, flagName } from '../values.js';
import { readInputs, rowsAsCsv, type GivenInputs, type ToolRow } from './tools.js';
import { aboutOf, commandFor, commands, type RunGlobals } from '../../terminal/next-step.js';
import Big from 'big.js';
import { methodProperties } from '../../formats/rails.js';
import { readBudget, unknownAccount } from '../limits/in-force.js';
import { concerned } from '../../wallet/payment/outcomes.js';

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
interface Serving {
  readonly maxFee: string | undefined;
  readonly allowsPayments: boolean;
  readonly offered: readonly ToolRow[];
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
    const data = await withOutcomes(ran.data, context);
    const content = {
      ...(Array.isArray(data) ? { [tool.name]: data } : isFields(data) ? data : {}),
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
      throw invalid(`Not called: missing: ${needs.join(', ')}, or the txnId of a quote.`);
    return { command: tool.runs, values };
  }
  const wrong = Object.keys(others).filter((name) => name !== 'maxFee' && name !== 'ref');
  if (wrong.length > 0)
    throw invalid(`Not called: with txnId, the quote is paid unchanged. Omit ${wrong.join(', ')}.`);
  return { command: tool.runsForQuote, values: { id: txnId, ...others } };
}

/** Reports the steps of a payment as progress, and remembers the latest quote. */
function stepsOf(progress: Call['progress']) {
  const steps: { approval?: Approval; on: (event: PaymentEvent) => void } = {
    on(event) {
      if (event.type === 'quoted') {
        steps.approval = event;
        progress(`quoted: the total is ${formatAmount(event.quote.total)}`);
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
      why.push(asFailure(error).clause);
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
        await readBudget(context.settings.budget ?? '', context),
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
async function withOutcomes(data: unknown, context: Context): Promise<unknown> {
  if (Array.isArray(data)) return Promise.all(data.map((each) => withOutcomes(each, context)));
  if (!isFields(data)) return data;
  const fields = Object.entries(data).map(async ([name, value]) => [
    name,
    Array.isArray(value) ? await withOutcomes(value, context) : value,
  ]);
  const isUnknown = await hasUnknownOutcome(data, context);
  return {
    ...Object.fromEntries(await Promise.all(fields)),
    ...(isUnknown && { outcome: 'unknown' }),
  };
}

async function hasUnknownOutcome({ txnId, txnState }: Fields, context: Context): Promise<boolean> {
  if (typeof txnId !== 'string' || typeof txnState !== 'string') return false;
  if (!hasLapsed(txnState) && txnState !== 'error') return false;
  const { scope, journal } = await context.account();
  const payment = await (await journal()).find(scope, txnId);
  return ['unknown', 'error'].includes(payment === undefined ? txnState : status(payment));
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
  } catch (error) {
    return { data: undefined, failure: asFailure(error), warnings: warnings() };
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

/** The form in which a tool returns a failure: with the tools to call next. */
function errorFor(row: ToolRow, failure: Failure, offered: readonly ToolRow[], run: RunGlobals) {
  const { missing, next } = failure;
  // Nobody can be asked for an answer that the command line would ask for.
  const shown =
    missing === undefined
      ? failure
      : failure.saying(`Not called: missing ${missing}.`, { kind: 'usage', money: undefined });
  const { proposal: _proposal, ...fields } = shown.toJSON();
  const call = next && callFor(next, offered);
  return {
    ...fields,
    message: inInputs(row, shown.message),
    hint: hintFor(row, failure, call?.tool, run),
    next: call === undefined ? [] : [call],
  };
}

/** Replaces flags in a message with the names of the tool's inputs. */
const inInputs = ({ takes = {} }: ToolRow, words: string): string =>
  Object.keys(takes).reduce(
    (text, name) => text.replaceAll(new RegExp(`${flagName(name)}(?![a-z-])`, 'g'), name),
    words,
  );

function hintFor(
  row: ToolRow,
  { kind, hint, next }: Failure,
  tool: string | undefined,
  run: RunGlobals,
): string | undefined {
  if (kind === 'limit') {
    const person = 'Only a person can change the limits and the highest fee.';
    return next?.do === 'run' ? `${person} A person can run: ${commandFor(next, run)}` : person;
  }
  if (next !== undefined && tool === undefined)
    return `Only a person can run: ${commandFor(next, run)}`;
  if (kind === 'temporary' || kind === 'pending')
    return (row.effect ?? 'reads') === 'reads'
      ? `Call ${row.name} again.`
      : `Call ${row.name} again with the same inputs.`;
  if (hint === undefined) return undefined;
  return inInputs(row, tool === undefined ? hint : `${hint}: call ${tool}`);
}

/**
 * Returns the call of the tool whose command takes the next step, or undefined if only a person can
 * take the step.
 */
function callFor(step: NextStep, offered: readonly ToolRow[]) {
  if (step.do === 'run') return undefined;
  const command = commands[step.do].replace(/ --time .*/, '');
  const found = offered.find(({ name, command: runs = name, paysQuote }) =>
    [runs, paysQuote].includes(command),
  );
  if (found === undefined) return undefined;
  const [input = ''] = found.paysQuote === command ? ['txnId'] : (found.needs ?? []);
  const about = aboutOf(step);
  return { tool: found.name, arguments: about === undefined ? {} : { [input]: about } };
}

interface AgentTerms {
  /** The server's fee limit, or undefined for the default of each rail. */
  readonly maxFee: string | undefined;
  /** The reference or the id of the payment that the agent repeats on purpose. */
  readonly differentFrom: string;
  /** The reference that the agent gave to the payment. */
  readonly ref: string | undefined;
  /** Whether a person agreed to this repetition. */
  readonly mayRepeat: boolean;
}

function rulesFor(
  { maxFee, differentFrom, ref, mayRepeat }: AgentTerms,
  on: (event: PaymentEvent) => void,
): PaymentRules {
  return {
    on,
    repeats: repeatsOf(differentFrom, mayRepeat),
    async admit(payment, flags) {
      checkReference(payment, ref);
      const isQuick = methodProperties(payment.method)?.pace === 'quick';
      return {
        ...flags,
        maxFee: Object.assign(
          (from: string, method: RuledPayment['method'] = payment.method) =>
            lowerFee(ceilingFor(maxFee, { from, method }), flags, from),
          { written: maxFee ?? `${usualPercent}%` },
        ),
        ...(!isQuick && { wait: false, waitTimeout: undefined }),
      };
    },
  };
}

function checkReference({ txn }: RuledPayment, ref: string | undefined): void {
  const [own] = attemptNamed(txn?.extRefId ?? '');
  if (txn === undefined || ref === undefined || ref === own) return;
  throw invalid(`Not called: ref is ${ref}, but the reference of this quote is ${own}. Omit ref.`);
}

/** Throws Failure `usage` for a server that pays without a budget, or with an unknown one. */
export async function demandBudget(context: Context): Promise<void> {
  const { budget } = context.settings;
  const next = { do: 'run', command: 'budget add agent --per-day 100000sat' } as const;
  if (budget === undefined)
    throw invalid('--allow-payments requires a budget: --budget NAME.', { next });
  const exists = readBudget(budget, context).then((found) => found !== undefined);
  // The account may be known at the first payment.
  if ((await unlessKind(unknownAccount, exists)) === false)
    throw invalid(`there is no budget "${budget}".`, { money: 'Not served', next });
}

const usualPercent = '1';

/**
 * Returns the server's fee limit for a payment. The default limit is 1 %, or the usual fee of the
 * rail if the usual fee is higher. Throws Failure `limit` if the currency of the server's limit
 * differs from the currency of the fees.
 */
function ceilingFor(
  maxFee: string | undefined,
  { from, method }: Pick<RuledPayment, 'from' | 'method'>,
): MaxFee {
  if (maxFee === undefined)
    return { percent: usualPercent, floor: methodProperties(method)?.usualFees?.[from] };
  try {
    return parseMaxFee(maxFee)(from);
  } catch (error) {
    const cause = asFailure(error);
    throw new Failure(
      'limit',
      `this server's fee limit is ${maxFee}, but the payment's fees are in ${from}.`,
      { money: 'Not sent', cause },
    );
  }
}

/**
 * Returns the lower of the server's fee limit and the call's `maxFee`. Throws Failure `usage` if
 * one limit is a percentage and the other an amount.
 */
function lowerFee(ceiling: MaxFee, { maxFee }: RuledFlags, ccy: string): MaxFee {
  const given = maxFee?.(ccy);
  if (given === undefined) return ceiling;
  if ('percent' in given && 'percent' in ceiling)
    return new Big(given.percent).lt(ceiling.percent) ? given : ceiling;
  if ('amount' in given && 'amount' in ceiling)
    return new Big(given.amount).lt(ceiling.amount) ? given : ceiling;
  const form = 'percent' in ceiling ? 'a percentage' : 'an amount';
  throw invalid(`maxFee must be ${form}, as the server's fee limit.`, {
    money: 'Not sent',
  });
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Refuses the same payment within 24 hours, whatever its reference. To permit the repetition, the
 * caller sets `differentFrom` to the reference or transaction id of the latest one, or a person
 * agrees. A payment whose outcome is unknown is never repeated.
 */
export const repeatsOf = (differentFrom: string, isAgreed = false): Repeats => ({
  of: 'every reference',
  paidWithinMs: dayMs,
  async decide({ payment }) {
    const { ref, attempts } = payment;
    const isNamed = [ref, ...attempts.map(({ txnId }) => txnId)].includes(differentFrom);
    const isUnknown = ['unknown', 'error'].includes(status(payment));
    if ((isNamed || isAgreed) && !isUnknown) return 'another';
    const attempt = decisive(payment);
    const name = attempt.txnId ?? ref;
    const advice = isUnknown
      ? 'Its outcome must be known before the same payment can be made again. To see it'
      : `For a different payment, set differentFrom to ${name}. To see the earlier payment`;
    const Refusal = isUnknown ? Failure : Repetition;
    throw new Refusal(
      'usage',
      'an identical payment to this destination is already paid or in flight ' +
        `as ${ref} (${name}).`,
      {
        money: 'Not sent',
        ...concerned(payment, attempt),
        hint: `For the same purpose, use the ref ${ref}. ${advice}`,
        next: { do: 'show', id: name },
      },
    );
  },
});

/** The refusal of a repetition that a person can permit. */
class Repetition extends Failure {}
