// A Model Context Protocol server on stdio over the same wallet, for assistants that look and, where allowed, pay.
import { Failure } from '../../formats/failure.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { limitsOf } from './orders.js';
import { payingTools } from './paying-tools.js';
import { readingTools } from './reading-tools.js';
import { serveRpc } from './rpc.js';
import { mcpMethods } from './server.js';
import { flag } from '../values.js';

export const mcp = defineCommand({
  arguments: {},
  options: { allowPayments: flag().describe('offer the paying tools too; needs limits, and keeps to them') },
  examples: [
    ['svcpay mcp', 'balances, history, decoding and quotes, for the configuration of an assistant'],
    ['svcpay limits set --per-payment 20000sat --per-day 100000sat && svcpay mcp --allow-payments', 'may also pay'],
  ],
  async run({ allowPayments }, context) {
    const { stdout, signal, version } = context;
    if (allowPayments) checkLimits(context);
    const tools = [...readingTools(context), ...(allowPayments ? payingTools(context) : [])];
    if (context.stdin.isTTY) context.out.say('This speaks to a program, one JSON message a line. Ctrl-C ends it.');
    const stdin = context.stdin.open();
    signal.addEventListener('abort', () => stdin.destroy(), { once: true });
    await serveRpc({
      input: stdin,
      write: (line) => void stdout.write(line),
      methods: mcpMethods(tools, version),
      report: (error) => context.out.warn(error instanceof Error ? error.message : String(error)),
      signal,
    }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  },
});

function checkLimits(context: Context): void {
  const { perPayment, perDay } = limitsOf(context);
  if (Object.keys(perPayment).length + Object.keys(perDay).length > 0) return;
  throw new Failure('limit', 'Paying tools need a limit: nothing says yet how much may be spent.', {
    hint: 'svcpay limits set --per-payment 20000sat --per-day 100000sat',
  });
}
