// Serves the wallet over the Model Context Protocol on stdio. Agents can read and, if a person
// allows payments, pay.
import { Failure } from '../../formats/failure.js';
import { messageOf } from '../../formats/text.js';
import { toJson } from '../../terminal/rows/json.js';
import type { Context } from '../context.js';
import { defineCommand, type Branch, type Command } from '../define.js';
import { branchNamed } from '../help/suggest.js';
import { exitCodeRows } from '../help/topics.js';
import { outboxOf, outboxOption } from '../proposals/outbox.js';
import { parseMaxFee } from '../payment/payment-options.js';
import { file, flag, word, type RawValues } from '../values.js';
import { callTool, runCommand, type Tool } from './call.js';
import { demandBudget } from './rules.js';
import { serveMcp, type ResourceRow } from './server.js';
import { proposingTools, tools, type ToolRow } from './tools.js';

function readMaxFee(given: string): string {
  parseMaxFee(given);
  return given;
}

const mcpOptions = {
  allowPayments: flag().describe(
    'also offer the tools that move money, within a budget; requires --budget',
  ),
  propose: flag().describe(
    'offer only tools that decode and propose, without a login and a secret',
  ),
  outbox: outboxOption(),
  connect: file('SOCKET')
    .optional()
    .describe('pass all messages to the svcpay mcp of another user, at this Unix socket'),
  maxFee: word('AMOUNT|PERCENT', readMaxFee)
    .optional()
    .describe(
      'highest fee of a payment, 100sat or 1% ' +
        '(default 1%, or the usual fee of a small payment if that is higher)',
    ),
};

/** @param rows the tools of the server, by default all tools of svcpay */
export const mcp = (tree: Branch, rows: readonly ToolRow[] = tools): Command =>
  defineCommand({
    options: mcpOptions,
    examples: [
      ['svcpay mcp', 'serves balances, history, decoding and quotes to an agent'],
      [
        'svcpay mcp --propose --outbox /srv/outbox',
        'lets an agent propose payments that the owner pays or refuses',
      ],
      [
        'svcpay budget add agent --per-payment 20000sat --per-day 100000sat && ' +
          'svcpay mcp --allow-payments --budget agent',
        'also offers tools that pay, within the budget',
      ],
    ],
    async run({ allowPayments, propose, outbox, connect, maxFee }, context) {
      const { stdout, signal, version } = context;
      if (connect !== undefined) {
        if (allowPayments || propose)
          throw new Failure('usage', 'With --connect, the other server decides what it offers.');
        const { passThrough } = await import('./connect.js');
        return passThrough(connect, context.stdin.open(), stdout, signal);
      }
      if (propose && allowPayments)
        throw new Failure('usage', '--propose and --allow-payments exclude each other.');
      if (context.settings.accountId !== undefined && !propose) await context.account();
      if (allowPayments) await demandBudget(context);
      if (context.stdin.isTTY)
        context.out.say(
          'svcpay mcp serves a program, which sends one JSON message per line. ' +
            'Press Ctrl-C to stop.',
        );
      const stdin = context.stdin.open();
      signal.addEventListener('abort', () => stdin.destroy(), { once: true });
      const offered = await Promise.all(
        (propose ? proposing(outboxOf(outbox, context)) : rows)
          .filter(({ effect, name }) => allowPayments || (effect !== 'pays' && name !== 'budget'))
          .map(async (row): Promise<Tool> => ({
            ...row,
            runs: await commandOf(row.command, tree),
            runsForQuote:
              row.paysQuote === undefined ? undefined : await commandOf(row.paysQuote, tree),
          })),
      );
      const serving = {
        maxFee,
        allowsPayments: allowPayments,
        offered: offered.map(({ name }) => name),
      };
      await serveMcp({
        tools: offered,
        resources: propose ? [] : resourcesOf(tree, context),
        call: (tool, given, call) => callTool(tool, given, call, serving, context),
        version,
        report: (error) => context.out.warn(messageOf(error)),
        stdin,
        stdout,
      });
    },
  });

/** The tools that propose into a folder. */
const proposing = (outbox: string): readonly ToolRow[] =>
  proposingTools.map((row) =>
    row.effect === 'proposes' ? { ...row, always: { ...row.always, outbox } } : row,
  );

async function commandOf(path: string, tree: Branch): Promise<Command> {
  const loaded = await branchNamed(path.split(' '), tree).load?.();
  if (loaded === undefined)
    throw new Error(`The command of a tool must not be a group of commands: ${path}`);
  return loaded;
}

function resourcesOf(tree: Branch, context: Context): ResourceRow[] {
  const printed =
    (path: string, given: RawValues = {}) =>
    async (signal: AbortSignal): Promise<string> => {
      const command = await commandOf(path, tree);
      const { failure, data } = await runCommand(command, given, context, { signal });
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
