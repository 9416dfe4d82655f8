// A Model Context Protocol server on stdio over the same wallet, for assistants that look and, where allowed, pay.
import { Failure } from '../../formats/failure.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { limitsOf } from './orders.js';
import { payingTools } from './paying-tools.js';
import { readingTools } from './reading-tools.js';
import { parseMaxFee } from '../payment/payment-options.js';
import { flag, word } from '../values.js';
import { lineTransport } from './line-transport.js';
import { serveMcp } from './server.js';
import { messageOf } from '../../formats/unknown.js';

const usualMaxFee = '1%';

export const mcp = defineCommand({
  options: {
    allowPayments: flag().describe('offer the paying tools too; needs a limit per day, and keeps to all limits'),
    maxFee: word('AMOUNT|PERCENT', parseMaxFee)
      .otherwise(parseMaxFee(usualMaxFee))
      .describe(`highest fee of a payment, 100sat or 1% (default ${usualMaxFee})`),
  },
  examples: [
    ['svcpay mcp', 'balances, history, decoding and quotes, for the configuration of an assistant'],
    ['svcpay limits set --per-payment 20000sat --per-day 100000sat && svcpay mcp --allow-payments', 'may also pay'],
  ],
  async run({ allowPayments, maxFee }, context) {
    const { stdout, signal, version } = context;
    if (context.settings.accountId !== undefined) await context.account();
    if (allowPayments) checkLimits(context);
    const tools = [...readingTools(context), ...(allowPayments ? payingTools(maxFee, context) : [])];
    if (context.stdin.isTTY) context.out.say('This speaks to a program, one JSON message a line. Ctrl-C ends it.');
    const stdin = context.stdin.open();
    signal.addEventListener('abort', () => stdin.destroy(), { once: true });
    const transport = lineTransport(stdin, (line) => void stdout.write(line));
    const report = (error: unknown): void => context.out.warn(messageOf(error));
    const server = serveMcp({ tools, version, transport, report, signal });
    await transport.ended
      .catch((error: unknown) => {
        if (!signal.aborted) throw error;
      })
      .finally(() => server.close());
  },
});

function checkLimits(context: Context): void {
  if (Object.keys(limitsOf(context).perDay).length > 0) return;
  throw new Failure('limit', 'Paying tools need a limit per day: nothing says yet how much may be spent.', {
    hint: 'svcpay limits set --per-payment 20000sat --per-day 100000sat',
  });
}
