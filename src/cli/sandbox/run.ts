// Runs a program with a temporary sandbox on a free port. The environment of the program contains
// the address and the credentials of the sandbox.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { codeOf } from '../../formats/text.js';
import { invalid } from '../../formats/failure.js';
import { startServer } from '../../sandbox/server.js';
import { type Process, Ended } from '../process.js';
import { defineCommand } from '../define.js';
import { readServerOptions, serverOptions } from './start.js';
import { file, verbatim } from '../values.js';

export const sandboxRun = defineCommand({
  changes: true,
  arguments: {
    command: verbatim('COMMAND').repeated().describe('command with its arguments and options'),
  },
  ownsRest: true,
  options: {
    file: file().optional().describe('database file to keep (default: in memory)'),
    ...serverOptions,
  },
  examples: [
    [
      'svcpay sandbox run npm test',
      'sets SVCPAY_BASE_URL, SVCPAY_API_KEY and SVCPAY_API_SECRET for the command',
    ],
    [
      "svcpay sandbox run --auto-pay off -- sh -c 'svcpay wallets --json'",
      'returns the exit code of the command',
    ],
  ],
  async run({ command, file, ...flags }, context) {
    const server = await startServer({ ...(await readServerOptions(flags, context)), file });
    context.onClose(() => server.stop());
    const { apiKey, apiSecret } = server.service.credentials;
    // Removes the inherited `SVCPAY_ACCOUNT`, because that account belongs to a different service.
    const { SVCPAY_ACCOUNT: _account, ...inherited } = context.env;
    const exitCode = await runChild(
      command,
      {
        ...inherited,
        SVCPAY_BASE_URL: server.url,
        SVCPAY_API_KEY: apiKey,
        SVCPAY_API_SECRET: apiSecret,
      },
      context,
    );
    if (exitCode !== 0) throw new Ended(exitCode);
  },
});

/**
 * The exit code of a program that a signal ended is this number plus the signal's number, as in a
 * shell.
 */
const endedBySignal = 128;

/**
 * Runs the program and passes signals on to the program. Resolves with the program's exit code.
 * Throws Failure `usage` if svcpay cannot start the program.
 */
function runChild(
  [command = '', ...args]: readonly string[],
  env: Process['env'],
  { stdin, takeSignals }: Pick<Process, 'stdin' | 'takeSignals'>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: 'inherit' });
    const releaseSignals = takeSignals((signal) => {
      // At a terminal, the child receives Ctrl-C directly, so svcpay does not pass it on.
      if (signal !== 'SIGINT' || !stdin.isTTY) child.kill(signal);
    });
    child.on('error', (cause) => {
      releaseSignals();
      const reason =
        codeOf(cause) === 'ENOENT'
          ? `Command ${command} was not found.`
          : `${command} cannot be started: ${cause.message}.`;
      reject(invalid(reason, { cause }));
    });
    child.on('exit', (code, signal) => {
      releaseSignals();
      resolve(code ?? endedBySignal + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
