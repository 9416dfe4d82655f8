// Shows a tour on a temporary sandbox: wallets, an incoming payment, an outgoing payment, a swap
// and the history.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Failure, type NextStep } from '../../formats/failure.js';
import { invoiceAnswer } from '../../formats/sandbox/answers.js';
import { commandFor, type RunGlobals } from '../../terminal/next-step.js';
import { nestedContext, type Context } from '../context.js';
import { defineCommand } from '../define.js';
import { controlSandbox } from '../sandbox/control.js';

export const demo = defineCommand({
  changes: true,
  examples: [
    ['svcpay demo', 'takes about ten seconds, needs no account and leaves nothing behind'],
  ],
  async run(_values, context) {
    const home = await mkdtemp(join(tmpdir(), 'svcpay-demo-'));
    try {
      await tour(home, context);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  },
});

async function tour(home: string, context: Context): Promise<void> {
  const { out } = context;
  const env = { ...context.env, SVCPAY_HOME: home };
  out.text('This demo runs the whole service on this machine, with play money.');
  const show = async (line: readonly string[], hidden: readonly string[] = []): Promise<void> => {
    out.text(`\n$ svcpay ${line.map(shorten).join(' ')}`);
    const colorFlags = context.globals.color ? [] : ['--no-color'];
    const code = await context.runLine(
      ['--sandbox', '-o', 'table', ...colorFlags, ...line, ...hidden],
      { env },
    );
    if (code !== 0)
      throw new Failure(
        'unexpected',
        `The demo stopped: svcpay ${line[0] ?? ''} ended with exit code ${code}.`,
      );
  };
  await show(['wallets']);
  await show(['receive', 'lightning', '50000sat'], ['--wait']);
  await show(['send', 'lightning', await outsideInvoice(context, env), '--yes']);
  await show(['swap', '25', 'USDT', 'BTC', '--yes']);
  await show(['wallets']);
  await show(['tx', 'list']);
  // Without a PATH entry, as in a clone of the repository, a person runs the file.
  const printed = (step: NextStep, run: RunGlobals): string =>
    isInstalled(context.env)
      ? commandFor(step, run)
      : commandFor(step, run).replace('svcpay', 'node bin/svcpay.js');
  out.text(`\nNext: ${printed({ do: 'see-wallets' }, { sandbox: true })}`);
  out.text(`Or connect to a service: ${printed({ do: 'sign-in' }, {})}`);
}

/** Whether a shell finds svcpay, and no npm script runs the demo. */
const isInstalled = (env: Context['env']): boolean =>
  env['npm_lifecycle_event'] === undefined &&
  (env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => ['svcpay', 'svcpay.cmd'].some((name) => existsSync(join(folder, name))));

/** Creates an external invoice for a coffee. */
async function outsideInvoice(context: Context, env: Context['env']): Promise<string> {
  const globals = { sandbox: true, baseUrl: undefined, profile: undefined };
  const inner = nestedContext(context, { env }, globals);
  const terms = { amount: '2500sat', description: 'Coffee House, order 118' };
  try {
    return (await controlSandbox(inner, 'POST invoice', invoiceAnswer, terms)).invoice;
  } finally {
    await inner.close();
  }
}

const longest = 40;

const shorten = (word: string): string =>
  word.length > longest ? `${word.slice(0, longest)}…` : word;
