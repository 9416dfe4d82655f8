// Sends any authenticated request and prints the response.
import { failureOf, isSuccess, readAnswer, reportsError } from '../../api/answer.js';
import type { ServiceClient } from '../../api/client.js';
import { effectOf } from '../../api/request/call.js';
import { NoAnswer } from '../../api/errors.js';
import type { HttpResponse } from '../../api/transport.js';
import { Failure } from '../../formats/failure.js';
import { toJson } from '../../terminal/rows/json.js';
import { demandOwner } from '../budget/owner-only.js';
import { createOutput, type Output } from '../../terminal/output.js';
import { sanitize } from '../../terminal/sanitize.js';
import { eachItem } from './pages.js';
import {
  accountPlaceholder,
  fillIn,
  parseMethod,
  parsePath,
  readBody,
  readPipedBody,
} from './request.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { flag, verbatim, word } from '../values.js';

const methods = ['GET', 'POST', 'PUT', 'DELETE'];

export const api = defineCommand({
  arguments: {
    method: word('METHOD', parseMethod, methods).describe('GET, POST, PUT or DELETE'),
    path: word('PATH', parsePath).describe(
      `path, e.g. /api/v2/webhook or just webhook; svcpay fills in ${accountPlaceholder}`,
    ),
  },
  options: {
    data: verbatim('JSON')
      .optional()
      .short('d')
      .describe(
        'request body, sent verbatim; @FILE reads a file, - reads stdin; ' +
          'POST reads a pipe by default',
      ),
    include: flag().short('i').describe('print status and headers before the body'),
    paginate: flag().describe('follow all pages of a list and print one array'),
  },
  examples: [
    [
      'svcpay api GET transaction/ad79a67a-5e07-4094-92cd-1aeb3fbe8297',
      'prints a transaction as the service returns it',
    ],
    ["svcpay api GET '/api/v2/account/{accountId}/wallet/' -i", 'also prints status and headers'],
    [
      'svcpay api GET webhook | jq .',
      'pipes the unchanged response to jq; on a terminal, svcpay sanitizes responses',
    ],
    [
      "svcpay api GET 'transaction?time=1y' --paginate -o jsonl",
      'prints the transactions of the last year, one per line',
    ],
    [
      'svcpay api POST transaction -d @swap.json',
      'requests a quote; only its confirmation moves money',
    ],
  ],
  async run({ method, path, data, include, paginate }, context) {
    checkFlags({ method, data, include, paginate }, context);
    const body = await bodyOf(method, data, context);
    const client = path.includes(accountPlaceholder)
      ? await context.client()
      : (await context.account()).client;
    const filled = await fillIn(path, client);
    const send = async (to: string): Promise<HttpResponse> =>
      request(method, to, body, client, context);
    if (paginate) {
      const items = eachItem(filled, async (to) => readAnswer(await send(to)).json);
      return jsonOutput(context).list(items, { columns: [], quiet: () => '', empty: 'Nothing.' });
    }
    await agree(method, filled, context);
    await print(await send(filled), include, context);
  },
});

/** Returns the body of a raw request. Without `--data`, the body of a POST is the piped input. */
async function bodyOf(
  method: string,
  data: string | undefined,
  context: Context,
): Promise<string | undefined> {
  if (data !== undefined) return readBody(data, context);
  return method !== 'POST' || context.stdin.isTTY ? undefined : readPipedBody(context);
}

interface RequestFlags {
  readonly method: string;
  readonly data: string | undefined;
  readonly include: boolean;
  readonly paginate: boolean;
}

function checkFlags({ method, data, include, paginate }: RequestFlags, { globals }: Context): void {
  const usage = (message: string): Failure => new Failure('usage', message);
  const formatted = globals.json || globals.output !== undefined || globals.fields !== undefined;
  if (data !== undefined && ['GET', 'HEAD'].includes(method))
    throw usage(`A ${method} request has no body. Remove --data.`);
  if (paginate && method !== 'GET') throw usage('--paginate works only with GET.');
  if (include && (paginate || formatted))
    throw usage('Use --include without --paginate and without an output format.');
  const { output = 'json' } = globals;
  if (globals.fields === undefined && output !== 'json' && output !== 'jsonl') {
    throw usage(`-o ${output} needs --fields to name the columns.`);
  }
}

/** Asks for approval, because the journal and the limits do not cover a raw payment request. */
async function agree(method: string, path: string, context: Context): Promise<void> {
  const { ask, out, globals } = context;
  if (effectOf(method, path).effect !== 'payment') return;
  demandOwner(context);
  if (!globals.yes) ask.demand(['--yes']);
  out.warn(`${method} ${path} can move money that your journal and limits do not count.`);
  await ask.agree('Send this request?', 'Not sent');
}

/**
 * Sends the raw request. Throws Failure if the request fails, and prints the body of an error
 * response on stderr.
 */
async function request(
  method: string,
  path: string,
  body: string | undefined,
  client: ServiceClient,
  { terminal, globals }: Context,
): Promise<HttpResponse> {
  const response = await client.request(method, path, body).catch((error: unknown) => {
    throw withUnknownOutcome(error);
  });
  const answer = readAnswer(response);
  if (isSuccess(response) && !reportsError(answer)) return response;
  if (response.body !== '' && !globals.quiet) terminal.stderr.write(shown(response.body));
  throw withUnknownOutcome(failureOf(answer, effectOf(method, path), client.serviceNow()));
}

/**
 * Changes the error of a raw request to report that the outcome of the request is unknown. The
 * journal does not record raw requests, so only the service can report the outcome of a raw
 * request.
 */
function withUnknownOutcome(error: unknown): unknown {
  if (!(error instanceof NoAnswer) || error.kind !== 'pending') return error;
  const { message, txnId, status, code } = error;
  return new Failure('pending', `${message} svcpay did not repeat the request.`, {
    money: 'Outcome unknown',
    next: txnId === undefined ? { do: 'see-history' } : { do: 'show', id: txnId },
    txnId,
    status,
    code,
    cause: error,
  });
}

async function print(response: HttpResponse, include: boolean, context: Context): Promise<void> {
  const { terminal, globals } = context;
  const { content, json } = readAnswer(response);
  const asked = globals.json || globals.output !== undefined || globals.fields !== undefined;
  if (include) terminal.stdout.write(headOf(response));
  if (asked && content === 'json' && isObject(json)) {
    return jsonOutput(context).record(json, { columns: [], quiet: () => '', screen: () => [] });
  }
  if (content === 'empty') return;
  if (!terminal.stdoutIsTty) terminal.stdout.write(ensureNewline(response.body));
  else
    terminal.stdout.write(
      content === 'json' ? `${toJson(json, { indent: 2 })}\n` : shown(response.body),
    );
}

const jsonOutput = ({ terminal, globals }: Context): Output =>
  createOutput(terminal, {
    format: globals.output ?? 'json',
    json: globals.json,
    fields: globals.fields,
  });

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const headOf = ({ status, headers }: HttpResponse): string =>
  shown(
    [
      `HTTP ${status}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      '',
      '',
    ].join('\n'),
  );

/** Sanitizes text of the service line by line for a terminal. */
const shown = (text: string): string => ensureNewline(text.split(/\r?\n/).map(sanitize).join('\n'));

const ensureNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);
