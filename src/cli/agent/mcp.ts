// A Model Context Protocol server on stdio over the same wallet, for agents that look and, where a person allows it, pay.
import Big from 'big.js';
import * as v from 'valibot';
import { Failure } from '../../formats/failure.js';
import { jsonIn, messageOf } from '../../formats/unknown.js';
import type { Context } from '../context.js';
import { defineCommand, type Branch, type Command } from '../define.js';
import { branchNamed } from '../help/suggest.js';
import { parseMaxFee } from '../payment/payment-options.js';
import { flag, word, type RawValues } from '../values.js';
import { commandLine, failed, resultOf, run, type Given, type Result } from './call.js';
import { refuseRepeat, refuseRepeatAtSubmission } from './pay-once.js';
import { serveMcp, type ResourceRow, type Tool } from './server.js';
import { askedBy, type Asked } from './targets.js';
import { shortWait, tools, type ToolRow } from './tools.js';

const usualMaxFee = '1%';

function readMaxFee(given: string): string {
  parseMaxFee(given);
  return given;
}

export const mcp = (tree: Branch): Command =>
  defineCommand({
    options: {
      allowPayments: flag().describe(
        'offer the paying tools too; needs a limit per day, and keeps to all limits',
      ),
      maxFee: word('AMOUNT|PERCENT', readMaxFee)
        .otherwise(usualMaxFee)
        .describe(`highest fee of a payment, 100sat or 1% (default ${usualMaxFee})`),
    },
    examples: [
      ['svcpay mcp', 'balances, history, decoding and quotes, for the configuration of an agent'],
      [
        'svcpay limits set --per-payment 20000sat --per-day 100000sat && svcpay mcp --allow-payments',
        'may also pay',
      ],
    ],
    async run({ allowPayments, maxFee }, context) {
      const { stdout, signal, version } = context;
      if (context.settings.accountId !== undefined) await context.account();
      if (allowPayments && (await dailyLimits(signal, context)).length === 0) {
        throw new Failure('limit', 'Paying tools need a limit per day, and none is set.', {
          hint: limitHint,
        });
      }
      if (context.stdin.isTTY)
        context.out.say('This serves a program, one JSON message per line. Ctrl-C ends it.');
      const stdin = context.stdin.open();
      signal.addEventListener('abort', () => stdin.destroy(), { once: true });
      const offered = tools.filter(({ effect }) => allowPayments || effect !== 'pays');
      await serveMcp({
        tools: await Promise.all(
          offered.map(async (row) => ({ row, command: await commandOf(row, tree) })),
        ),
        resources: resourcesOf(context),
        call: (tool, given, cancelled) => callTool(tool, given, maxFee, cancelled, context),
        version,
        report: (error) => context.out.warn(messageOf(error)),
        stdin,
        stdout,
      });
    },
  });

async function commandOf({ name, command }: ToolRow, tree: Branch): Promise<Command> {
  const loaded = await branchNamed(command.split(' '), tree).load?.();
  if (loaded === undefined)
    throw new Error(`The tool ${name} names a group of commands: ${command}`);
  return loaded;
}

const limitHint = 'svcpay limits set --per-payment 20000sat --per-day 100000sat';

async function callTool(
  { row, command }: Tool,
  given: Given,
  most: string,
  signal: AbortSignal,
  context: Context,
): Promise<Result> {
  const { differentFrom, ...inputs } = given;
  try {
    const asked =
      row.effect === 'pays' ? askedBy[row.command]?.(rawOf(inputs), context) : undefined;
    const different = typeof differentFrom === 'string' ? differentFrom : '';
    const terms =
      asked === undefined
        ? {}
        : await checkPayment(asked, inputs, different, most, signal, context);
    const always =
      asked?.slow === true
        ? row.always?.map((each) => (each === shortWait ? '--no-wait' : each))
        : row.always;
    const refuse =
      asked === undefined ? undefined : refuseRepeatAtSubmission(different, context.now);
    const result = resultOf(
      row,
      await run(
        commandLine({ ...row, always }, command, { ...inputs, ...terms }),
        signal,
        context,
        refuse,
      ),
    );
    return row.effect === 'asks'
      ? { ...result, content: withTotal(result.content, inputs['deductFees'] === true) }
      : result;
  } catch (error) {
    return failed(
      error instanceof Failure
        ? error
        : new Failure('unexpected', messageOf(error), { cause: error }),
    );
  }
}

/**
 * What holds for an agent beyond what holds for everybody: the wallet has a limit per day, the fee stays below what the server was
 * started with, and nothing is paid again under a new reference. Gives the fee to keep to.
 */
async function checkPayment(
  asked: Asked,
  inputs: Given,
  differentFrom: string,
  most: string,
  signal: AbortSignal,
  context: Context,
): Promise<{ maxFee: string }> {
  if (!(await dailyLimits(signal, context)).includes(asked.from)) {
    throw new Failure(
      'limit',
      `Not sent: no limit per day is set for ${asked.from}, and without a limit an agent pays nothing.`,
      { hint: limitHint },
    );
  }
  const maxFee = lowerFee(most, inputs['maxFee'], asked.from);
  await refuseRepeat(asked.target, String(inputs['ref']), differentFrom, context);
  return { maxFee };
}

/** Numbers are words on a command line. */
const rawOf = (inputs: Given): RawValues =>
  Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [
      name,
      typeof value === 'boolean' ? value : String(value),
    ]),
  );

const limitRows = v.array(
  v.looseObject({ rule: v.optional(v.string()), ccy: v.nullish(v.string()) }),
);

/** The currencies that have a limit per day, as they are now. */
async function dailyLimits(
  signal: AbortSignal,
  context: Context,
): Promise<readonly (string | null | undefined)[]> {
  const { exitCode, stdout, stderr } = await run(['limits', 'list', '--json'], signal, context);
  if (exitCode !== 0)
    throw new Failure('unexpected', `The limits cannot be read: ${stderr.trim()}`);
  return v
    .parse(limitRows, jsonIn(stdout))
    .filter(({ rule }) => rule === 'per day')
    .map(({ ccy }) => ccy);
}

/** Throws Failure `usage` for two that cannot be compared. */
function lowerFee(most: string, asked: unknown, ccy: string): string {
  if (typeof asked !== 'string') return most;
  const [a, b] = [parseMaxFee(most)(ccy), parseMaxFee(asked)(ccy)];
  if ('percent' in a && 'percent' in b) return new Big(b.percent).lt(a.percent) ? asked : most;
  if ('amount' in a && 'amount' in b) return new Big(b.amount).lt(a.amount) ? asked : most;
  throw new Failure(
    'usage',
    `Not sent: the highest fee here is ${most}; write maxFee in the same way, or leave it out.`,
  );
}

const quoteSchema = v.object({
  txnState: v.literal('quoted'),
  sourceReq: v.object({
    method: v.literal('servicepay'),
    amtRequested: v.number(),
    servicepayFees: v.nullish(v.number()),
    networkFees: v.nullish(v.number()),
  }),
});

/** What leaves the wallet: models add decimals badly. */
function withTotal(content: Given, deducted: boolean): Given {
  const read = v.safeParse(quoteSchema, content);
  if (!read.success) return content;
  const { amtRequested, servicepayFees, networkFees } = read.output.sourceReq;
  if (deducted) return { ...content, total: amtRequested };
  return {
    ...content,
    total: new Big(amtRequested)
      .plus(servicepayFees ?? 0)
      .plus(networkFees ?? 0)
      .toNumber(),
  };
}

function resourcesOf(context: Context): ResourceRow[] {
  const printed =
    (...argv: string[]) =>
    async (signal: AbortSignal): Promise<string> => {
      const { exitCode, stdout, stderr } = await run([...argv, '--json'], signal, context);
      if (exitCode !== 0) throw new Error(stderr.trim());
      return stdout;
    };
  return [
    {
      name: 'limits',
      uri: 'svcpay://limits',
      description: 'what may be spent, and how much of it is left',
      read: printed('limits', 'list'),
    },
    {
      name: 'exit-codes',
      uri: 'svcpay://exit-codes',
      description: 'what each exit code means for the money',
      read: printed('help', 'exit-codes'),
    },
    {
      name: 'recent',
      uri: 'svcpay://transactions/recent',
      description: 'the latest transactions',
      read: printed('tx', 'list', '--limit', '10'),
    },
  ];
}
