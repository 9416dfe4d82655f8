// Serves the wallet over the Model Context Protocol on stdio. Agents can read and, if a person
// allows payments, pay.
import Big from 'big.js';
import { decimalsOf, isFiat } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import { messageOf } from '../../formats/unknown.js';
import { toJson } from '../../terminal/rows/json.js';
import type { Context } from '../context.js';
import { defineCommand, type Branch, type Command } from '../define.js';
import { branchNamed } from '../help/suggest.js';
import { exitCodeRows } from '../help/topics.js';
import { limitsInForce } from '../limits/in-force.js';
import { parseMaxFee, type MaxFee } from '../payment/payment-options.js';
import { flag, word, type RawValues } from '../values.js';
import { failed, resultOf, run, type Result } from './call.js';
import { errorFor, type ToolError } from './failures.js';
import { inputsOf, rawOf, readGiven, readValues, type GivenInputs } from './inputs.js';
import { repeatsOf } from './repeats.js';
import { serveMcp, type ResourceRow } from './server.js';
import { requestReaders, payoutDraft, type RequestedPayment } from './targets.js';
import { tools, type Tool, type ToolRow } from './tools.js';

const usualMaxFee = '1%';

function readMaxFee(given: string): string {
  parseMaxFee(given);
  return given;
}

/** @param rows the tools of the server, by default all tools of svcpay */
export const mcp = (tree: Branch, rows: readonly ToolRow[] = tools): Command =>
  defineCommand({
    options: {
      allowPayments: flag().describe(
        'also offer the tools that move money, within all limits; requires a daily limit',
      ),
      maxFee: word('AMOUNT|PERCENT', readMaxFee)
        .otherwise(usualMaxFee)
        .describe(`highest fee of a payment, 100sat or 1% (default ${usualMaxFee})`),
    },
    examples: [
      ['svcpay mcp', 'serves balances, history, decoding and quotes to an agent'],
      [
        'svcpay limits set --per-payment 20000sat --per-day 100000sat && ' +
          'svcpay mcp --allow-payments',
        'also offers tools that pay',
      ],
    ],
    async run({ allowPayments, maxFee }, context) {
      const { stdout, signal, version } = context;
      if (context.settings.accountId !== undefined) await context.account();
      if (allowPayments && (await dailyLimits(context)).length === 0) {
        throw new Failure('limit', '--allow-payments requires a daily limit, but none is set.', {
          hint: limitHint('BTC'),
        });
      }
      if (context.stdin.isTTY)
        context.out.say(
          'svcpay mcp serves a program, which sends one JSON message per line. ' +
            'Press Ctrl-C to stop.',
        );
      const stdin = context.stdin.open();
      signal.addEventListener('abort', () => stdin.destroy(), { once: true });
      const offered = await Promise.all(
        rows
          .filter(({ effect }) => allowPayments || effect !== 'pays')
          .map(async (row) => ({
            ...row,
            inputs: inputsOf(row.takes, await commandOf(row.command, tree)),
          })),
      );
      const serving = { maxFee, tree, offered: offered.map(({ name }) => name) };
      await serveMcp({
        tools: offered,
        resources: resourcesOf(tree, context),
        call: (tool, given, cancelled) => callTool(tool, given, serving, cancelled, context),
        version,
        report: (error) => context.out.warn(messageOf(error)),
        stdin,
        stdout,
      });
    },
  });

async function commandOf(path: string, tree: Branch): Promise<Command> {
  const loaded = await branchNamed(path.split(' '), tree).load?.();
  if (loaded === undefined)
    throw new Error(`The command of a tool must not be a group of commands: ${path}`);
  return loaded;
}

/** The options of the server, which are the same for all tool calls. */
interface Serving {
  readonly maxFee: string;
  /** The names of the offered tools. */
  readonly offered: readonly string[];
  readonly tree: Branch;
}

async function callTool(
  row: Tool,
  inputs: GivenInputs,
  serving: Serving,
  signal: AbortSignal,
  context: Context,
): Promise<Result> {
  const errorOf = (failure: Failure): ToolError =>
    errorFor(row, failure, serving.offered, context.globals);
  try {
    const { differentFrom, ...given } = readGiven(row, inputs);
    const called = row.name === 'pay' ? payCall(row, given) : row;
    const values = definedOnly(called.as?.(given) ?? given);
    const command = await commandOf(called.command, serving.tree);
    readValues(command, values, given);
    if (row.name === 'quote_payout') payoutDraft(rawOf(values), context);
    const different = typeof differentFrom === 'string' ? differentFrom : '';
    const requested =
      row.effect === 'pays'
        ? await requestReaders[called.command]?.(rawOf(values), context)
        : undefined;
    const terms = requested && (await checkPayment(requested, values, serving, context));
    const ran = await run(
      command,
      { ...alwaysGiven(called, requested), ...rawOf({ ...values, ...terms }) },
      context,
      { signal, repeats: requested && repeatsOf(different) },
    );
    const result = resultOf(row, ran, errorOf);
    const content = result.isError ? undefined : row.answer?.(result.content, given, ran.failure);
    return { ...result, content: content ?? result.content };
  } catch (error) {
    const failure =
      error instanceof Failure
        ? error
        : new Failure('unexpected', messageOf(error), { cause: error });
    return failed(errorOf(failure));
  }
}

/**
 * `pay` confirms the quote of the given transaction, or requests a new quote for the given
 * destination.
 */
function payCall(row: Tool, { txnId, ...given }: GivenInputs): Tool {
  if (txnId === undefined) {
    readGiven({ ...row, needs: ['destination', 'ref'] }, given);
    return row;
  }
  const others = Object.keys(given).filter((name) => name !== 'maxFee' && name !== 'ref');
  if (others.length > 0) {
    throw new Failure(
      'usage',
      `Not called: with txnId, the quote is paid unchanged. Omit ${others.join(', ')}.`,
    );
  }
  return { ...row, command: 'tx confirm', as: ({ txnId: id, ...rest }) => ({ id, ...rest }) };
}

const definedOnly = (given: GivenInputs): GivenInputs =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

/**
 * Returns the inputs that the command of the tool always receives. If the requested payment is
 * slow, the command does not wait for the payment's outcome.
 */
const alwaysGiven = (
  { always = {} }: ToolRow,
  requested: RequestedPayment | undefined,
): RawValues =>
  requested?.slow === true ? { ...always, waitTimeout: undefined, wait: false } : always;

/**
 * Checks the rules that apply only to agents: the wallet has a daily limit, and the fee stays below
 * the server's limit. Returns the fee limit of the payment.
 */
async function checkPayment(
  requested: RequestedPayment,
  values: GivenInputs,
  { maxFee: most }: Serving,
  context: Context,
): Promise<{ maxFee: string }> {
  const { from } = requested;
  if (!(await dailyLimits(context)).includes(from)) {
    throw new Failure(
      'limit',
      `Not sent: no daily limit is set for ${from}. An agent can pay only within a daily limit.`,
      { hint: limitHint(from) },
    );
  }
  return { maxFee: lowerFee(most, values['maxFee'], from) };
}

const someLimit = (ccy: string): string =>
  ccy === 'BTC'
    ? '100000sat'
    : `${isFiat(ccy) && decimalsOf(ccy) === 0 ? '1000000' : '100'}${ccy.toLowerCase()}`;

const limitHint = (ccy: string): string => `svcpay limits set --per-day ${someLimit(ccy)}`;

/** Returns the currencies that currently have a daily limit. */
const dailyLimits = async (context: Context): Promise<readonly string[]> =>
  Object.keys((await limitsInForce(context)).perDay);

/**
 * Returns the lower of the server's fee limit and the call's `maxFee`. Throws Failure `usage` if
 * one limit is a percentage and the other an amount, and `limit` if the currency of the server's
 * limit differs from the currency of the fees.
 */
function lowerFee(most: string, given: unknown, ccy: string): string {
  const own = feeIn(most, ccy);
  if (own === undefined) {
    throw new Failure(
      'limit',
      `Not sent: this server's fee limit is ${most}, but the payment's fees are in ${ccy}.`,
    );
  }
  if (typeof given !== 'string') return most;
  const requestedFee = parseMaxFee(given)(ccy);
  if ('percent' in own && 'percent' in requestedFee)
    return new Big(requestedFee.percent).lt(own.percent) ? given : most;
  if ('amount' in own && 'amount' in requestedFee)
    return new Big(requestedFee.amount).lt(own.amount) ? given : most;
  throw new Failure(
    'usage',
    `Not sent: maxFee is ${given}, but this server's fee limit is ${most}. ` +
      'Write maxFee in the same form as the limit (an amount or a percentage), or omit maxFee.',
  );
}

/**
 * Returns the fee limit for a wallet, or undefined if the limit and the wallet have different
 * currencies.
 */
function feeIn(maxFee: string, ccy: string): MaxFee | undefined {
  try {
    return parseMaxFee(maxFee)(ccy);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

function resourcesOf(tree: Branch, context: Context): ResourceRow[] {
  const printed =
    (path: string, given: RawValues = {}) =>
    async (signal: AbortSignal): Promise<string> => {
      const { failure, data } = await run(await commandOf(path, tree), given, context, { signal });
      if (failure !== undefined) throw failure;
      return toJson(data);
    };
  return [
    {
      name: 'limits',
      uri: 'svcpay://limits',
      description: 'the spending limits, and how much is left',
      read: printed('limits list'),
    },
    {
      name: 'exit-codes',
      uri: 'svcpay://exit-codes',
      description: 'what each exit code means for the money',
      read: async () => toJson(exitCodeRows),
    },
    {
      name: 'recent',
      uri: 'svcpay://transactions/recent',
      description: 'the latest transactions',
      read: printed('tx list', { limit: '10' }),
    },
  ];
}
