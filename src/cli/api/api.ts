// Sends any authenticated request and prints the response, or all pages of a list.
import {
  effectOf,
  failureOf,
  isSuccess,
  readAnswer,
  reportsError,
  type Answer,
} from '../../api/answer.js';
import type { ServiceClient } from '../../api/client.js';
import { NoAnswer, type HttpResponse } from '../../api/errors.js';
import { invalid } from '../../formats/failure.js';
import { toJson } from '../../terminal/rows/json.js';
import { createOutput } from '../../terminal/output.js';
import { sanitize } from '../../terminal/text.js';
import type { Context } from '../context.js';
import { demandOwner } from '../tree.js';
import { defineCommand } from '../define.js';
import { flag, verbatim, word } from '../values.js';
import { eachRow, type Page, pageSize } from '../../api/pages.js';
import { count, Misread, rowsOf, text } from '../../api/reading.js';
import { isFields, messageOf, withoutMark } from '../../formats/text.js';
import { readGivenText, readStdin } from '../process.js';

const accountPlaceholder = '{accountId}';
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
  async run({ path, ...given }, context): Promise<Answer | AsyncIterable<object>> {
    const { method, data, paginate } = given;
    checkFlags(given, context);
    const body = await bodyOf(method, data, context);
    const isFilled = path.includes(accountPlaceholder);
    const client = isFilled ? await context.client() : (await context.account()).client;
    const filled = isFilled
      ? path.replaceAll(accountPlaceholder, encodeURIComponent(await client.accountId()))
      : path;
    const send = (to: string): Promise<Answer> => request(method, to, body, client, context);
    if (paginate) return eachItem(filled, async (to) => (await send(to)).json);
    await agree(method, filled, context);
    return send(filled);
  },
  view: { fields: [], dataOf: (result) => ('json' in result ? result.json : result), print },
  adapt: (_result, { include }) => ({ include }),
});

/** Returns the body of a raw request. Without `--data`, the body of a POST is the piped input. */
async function bodyOf(
  method: string,
  data: string | undefined,
  context: Context,
): Promise<string | undefined> {
  const isPiped = data === undefined && method === 'POST' && !context.stdin.isTTY;
  if (data === undefined && !isPiped) return undefined;
  const text = data?.startsWith('@')
    ? await readGivenText(data.slice(1), context)
    : data === undefined || data === '-'
      ? await readStdin(context)
      : data;
  if (isPiped && text.trim() === '') return undefined;
  const body = withoutMark(text);
  try {
    JSON.parse(body);
  } catch (cause) {
    throw invalid(`The body is not JSON: ${messageOf(cause)}.`, { cause });
  }
  return body;
}

interface RequestFlags {
  readonly method: string;
  readonly data: string | undefined;
  readonly include: boolean;
  readonly paginate: boolean;
}

const isFormatted = ({ json, output, fields }: Context['globals']): boolean =>
  json || output !== undefined || fields !== undefined;

function checkFlags({ method, data, include, paginate }: RequestFlags, { globals }: Context): void {
  const { output = 'json', fields } = globals;
  const problem =
    data !== undefined && ['GET', 'HEAD'].includes(method)
      ? `A ${method} request has no body. Remove --data.`
      : paginate && method !== 'GET'
        ? '--paginate works only with GET.'
        : include && (paginate || isFormatted(globals))
          ? 'Use --include without --paginate and without an output format.'
          : fields === undefined && output !== 'json' && output !== 'jsonl'
            ? `-o ${output} needs --fields to name the columns.`
            : undefined;
  if (problem !== undefined) throw invalid(problem);
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
): Promise<Answer> {
  try {
    const answer = readAnswer(await client.request(method, path, body));
    if (isSuccess(answer.response) && !reportsError(answer)) return answer;
    const { body: text } = answer.response;
    if (text !== '' && !globals.quiet) terminal.stderr.write(shown(text));
    throw failureOf(answer, effectOf(method, path), client.serviceNow());
  } catch (error) {
    throw withUnknownOutcome(error);
  }
}

/**
 * Changes the error of a raw request to report that the outcome of the request is unknown. The
 * journal does not record raw requests, so only the service can report the outcome of a raw
 * request.
 */
function withUnknownOutcome(error: unknown): unknown {
  if (!(error instanceof NoAnswer) || error.kind !== 'pending') return error;
  const { message, txnId } = error;
  return error.saying(`${message} svcpay did not repeat the request.`, {
    money: 'Outcome unknown',
    next: txnId === undefined ? { do: 'see-history' } : { do: 'show', id: txnId },
    hint: undefined,
  });
}

async function print(
  result: Answer | AsyncIterable<object>,
  { include = false }: { readonly include?: boolean },
  { terminal, globals }: Context,
): Promise<void> {
  const { json: isJson, output = 'json', fields } = globals;
  const out = createOutput(terminal, { format: output, json: isJson, fields });
  const view = { columns: [], quiet: () => '' };
  if (!('json' in result)) return out.list(result, { ...view, empty: 'Nothing.' });
  const { response, content, json } = result;
  if (include) terminal.stdout.write(headOf(response));
  if (isFormatted(globals) && content === 'json' && typeof json === 'object' && json !== null)
    return out.record(json, { ...view, screen: () => [] });
  if (content === 'empty') return;
  terminal.stdout.write(
    !terminal.stdoutIsTty
      ? ensureNewline(response.body)
      : content === 'json'
        ? `${toJson(json, { indent: 2 })}\n`
        : shown(response.body),
  );
}

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

/**
 * Yields each item of the list once (see {@link eachRow}). Throws Failure `usage` if the response
 * is not a list, and `temporary` if a page repeats the previous page.
 * @param get reads the JSON of a path
 */
export function eachItem(
  path: string,
  get: (path: string) => Promise<unknown>,
): AsyncGenerator<object, void, void> {
  const [pathname = '', search = ''] = path.split('?', 2);
  const query = new URLSearchParams(search);
  if (!query.has('limit')) query.set('limit', String(pageSize));
  const fetch = async (page: number): Promise<Page<object>> => {
    const asked = new URLSearchParams(query);
    asked.set('page', String(page));
    return readPage(await get(`${pathname}?${asked}`));
  };
  const page = count.read(query.get('page')) ?? 1;
  const size = count.read(query.get('limit')) ?? pageSize;
  return eachRow({ fetch, idOf, from: { page, size } });
}

/** Returns the id of an item, or the whole content of an item without an id. */
const idOf = (item: object): string =>
  (isFields(item) ? (text.read(item['txnId']) ?? text.read(item['id'])) : undefined) ??
  toJson(item);

function readPage(json: unknown): Page<object> {
  const pagination = isFields(json) && isFields(json['pagination']) ? json['pagination'] : {};
  try {
    const rows = rowsOf(json);
    if (rows.every((row): row is object => typeof row === 'object' && row !== null))
      return { rows, total: count.read(pagination['total']) };
  } catch (error) {
    if (!(error instanceof Misread)) throw error;
  }
  throw invalid('The response is not a list, so it has no pages.', {
    hint: 'Remove --paginate.',
  });
}

/**
 * Reads the path of a raw request, to which svcpay adds `/api/v2/` if the path has no leading
 * slash. Throws Failure `usage` for a URL, because svcpay sends the token only to the configured
 * service.
 */
function parsePath(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(text) || /\s/.test(text) || text === '') {
    throw invalid(`"${text}" is not a path.`, {
      hint:
        'Give the path without the host, e.g. /api/v2/transaction. To choose the service, ' +
        'use --base-url.',
    });
  }
  return text.startsWith('/') ? text : `/api/v2/${text}`;
}

function parseMethod(text: string): string {
  if (/^[a-z]{3,7}$/i.test(text)) return text.toUpperCase();
  throw invalid(`"${text}" is not a method: use GET, POST, PUT or DELETE.`);
}
