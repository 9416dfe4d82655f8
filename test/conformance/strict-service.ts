// A small, strict service in memory that implements the specification independently of the sandbox.
// A dialect is a set of choices for the points that the specification leaves open. The strict
// service and the sandbox share no code, so they are unlikely to share a misreading.
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { encodeTronAddress } from '../../src/formats/address.js';
import {
  judgeCreateRequest,
  judgeEnvelope,
  judgeListQuery,
  judgeWebhook,
  parseObject,
  signatureOf,
  type Json,
  type Received,
} from './strict-judge.js';
import { createGathering, evenTemper, meet, type Temper } from './strict-temper.js';
import {
  advance,
  confirmed,
  invoiceFor,
  ledger,
  quote,
  reducedView,
  view,
  type Txn,
} from './strict-transactions.js';

/** The choices of a service where the specification is silent or contradicts itself. */
export interface Dialect {
  readonly tokenField: 'expiredAt' | 'expiresAt';
  /** Whether the service wraps the token answer in `{ data: … }`. */
  readonly tokenWrapped: boolean;
  /**
   * Whether responses contain the amounts of both sides, even if the create request has only one
   * amount or none.
   */
  readonly computedAmounts: boolean;
  /** Whether exchange rates give source units per destination unit instead of the reverse. */
  readonly inverseRates: boolean;
  readonly invoices: 'mainnet' | 'testnet';
  /** The largest number of rows on a page of the list, even if the client requests more. */
  readonly pageSize: number;
  readonly oldestFirst: boolean;
  /** Whether the sides of a listed transaction contain amounts, or only the currency and method. */
  readonly listedAmounts: boolean;
  /** Whether the service answers PUT and DELETE of a webhook with 200 and an empty body. */
  readonly emptyWebhookAnswers: boolean;
  readonly cancel: boolean;
  readonly rates: boolean;
  /** The body of the answer for a country without payout methods. */
  readonly noInstitutions: string;
  /**
   * Whether the service marks a receive request as paid when the client reads the receive request.
   */
  readonly payer: boolean;
  /** How many requests the service accepts with one token. */
  readonly tokenUses: number;
}

export const literal: Dialect = {
  tokenField: 'expiredAt',
  tokenWrapped: false,
  computedAmounts: false,
  inverseRates: false,
  invoices: 'testnet',
  pageSize: 1000,
  oldestFirst: false,
  listedAmounts: true,
  emptyWebhookAnswers: true,
  cancel: false,
  rates: false,
  noInstitutions: '',
  payer: false,
  tokenUses: Infinity,
};

export interface StrictService {
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly accountId: string;
  /** The deviations of all requests from the specification: each request with a reason. */
  readonly findings: string[];
  readonly requests: Received[];
  readonly transactions: ReadonlyMap<string, Txn>;
  /** The faults of the service that the specification does not forbid. */
  readonly temper: Temper;
  /** Transactions whose money has moved and was not returned. */
  moved(): Txn[];
  /** Adds a quote without a create request. */
  add(body: Json): void;
  /** Creates an invoice that the client can pay. */
  invoice(sat: bigint): string;
  stop(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

const ok = (body: unknown): Answer => ({ status: 200, body: JSON.stringify(body) });
const refusal = (status: number, error: string): Answer => ({
  status,
  body: JSON.stringify({ error }),
});
const sub = 'ne01-child';

export async function startStrictService(changes: Partial<Dialect> = {}): Promise<StrictService> {
  const dialect = { ...literal, ...changes };
  const findings: string[] = [];
  const requests: Received[] = [];
  const temper = evenTemper();
  const gathered = createGathering(temper);
  const service = strictService(dialect, temper, (text) => findings.push(text));
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const request = await receive(incoming);
      requests.push(request);
      await gathered(request);
      const meeting = meet(
        temper,
        request,
        (path) => service.transactions.get(path.split('/')[4] ?? '')?.body['extRefId'],
      );
      if (typeof meeting?.effect === 'number')
        setTimeout(() => service.answer(request), meeting.effect);
      const answered =
        meeting === undefined || meeting.effect === 'at once' ? service.answer(request) : undefined;
      const { status, body } = meeting ?? answered ?? refusal(500, 'internal');
      if (status === 'broken off') return void outgoing.destroy();
      const type = meeting === undefined || body.startsWith('{') ? 'application/json' : 'text/html';
      outgoing
        .writeHead(status, { 'content-type': type, ...(meeting?.headers ?? temper.headers()) })
        .end(temper.carries(request, body));
    })();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    ...service,
    url: `http://127.0.0.1:${address.port}`,
    findings,
    requests,
    temper,
    moved: () =>
      [...service.transactions.values()].filter(({ state }) =>
        ['srccreated', 'destsent', 'completed'].includes(state),
      ),
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

async function receive(incoming: IncomingMessage): Promise<Received> {
  const url = new URL(incoming.url ?? '/', 'http://strict');
  const body = (await buffer(incoming)).toString('utf8');
  const { method = '', headers } = incoming;
  return { method, path: url.pathname, query: url.searchParams, headers, body };
}

type Handler = (request: Received, id: string) => Answer;
type Route = readonly [method: string, path: RegExp, handle: Handler];

function strictService(dialect: Dialect, temper: Temper, find: (text: string) => void) {
  const apiKey = randomUUID();
  const apiSecret = randomBytes(24).toString('hex');
  const accountId = 'ne01-strict';
  const signatures = new Set<string>();
  const tokens = new Map<string, number>();
  const transactions = new Map<string, Txn>();
  const funds = ledger();
  let webhook: { id: string; callback: string; createdAt: number } | undefined;

  const judge = (request: Received, reasons: readonly string[]): boolean => {
    for (const reason of reasons) find(`${request.method} ${request.path}: ${reason}`);
    return reasons.length === 0;
  };

  const authenticate: Handler = (request) => {
    const { 'x-api-key': key, 'x-api-signature': signature } = request.headers;
    const right = key === apiKey && signature === signatureOf(apiKey, apiSecret, request.body);
    if (!right || parseObject(request.body) === undefined) {
      judge(request, ['the signature does not match the body']);
      return refusal(401, 'invalid api signature');
    }
    if (signatures.has(String(signature))) {
      judge(request, ['a signature is single-use']);
      return refusal(401, 'invalid api signature');
    }
    signatures.add(String(signature));
    const part = (value: unknown): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url');
    const accessToken = `${part({ alg: 'HS256' })}.${part({ n: signatures.size })}.${randomBytes(9).toString('base64url')}`;
    tokens.set(accessToken, dialect.tokenUses);
    const token = { accessToken, [dialect.tokenField]: Date.now() + 600_000, accountId };
    return ok(dialect.tokenWrapped ? { data: token } : token);
  };

  /** Returns the refusal of an invalid token, or undefined if the token is valid. */
  const authorize = (request: Received): Answer | undefined => {
    const [, token = ''] = /^Bearer (\S+)$/.exec(String(request.headers['authorization'])) ?? [];
    const left = tokens.get(token);
    if (left === undefined) {
      judge(request, ['no Bearer token of this service']);
      return refusal(401, 'unauthorized');
    }
    if (left <= 0) return refusal(401, 'invalid token or token expired');
    tokens.set(token, left - 1);
    return undefined;
  };

  const visible = (id: string): Answer | undefined =>
    id === accountId || id === sub
      ? undefined
      : id.startsWith('ne01-')
        ? refusal(401, 'you are not authorized to view this account')
        : refusal(400, 'failed to get account');

  const create: Handler = (request) => {
    const body = parseObject(request.body);
    if (!judge(request, judgeCreateRequest(body)) || !body) return refusal(400, 'bad request');
    const ref = body['extRefId'];
    const isUsed =
      ref !== undefined && [...transactions.values()].some((txn) => txn.body['extRefId'] === ref);
    if (isUsed && !temper.takesUsedReferences) return refusal(400, 'bad request');
    const txn = quote(body, accountId, Date.now());
    if (txn === undefined) return refusal(400, 'bad request');
    transactions.set(txn.txnId, txn);
    return ok(temper.makes(view(txn, dialect)));
  };

  const withTransaction =
    (act: (txn: Txn) => Answer): Handler =>
    (_, id) => {
      const txn = transactions.get(id);
      return txn ? act(txn) : refusal(404, 'not found');
    };

  const confirm = withTransaction((txn) => {
    if (txn.state !== 'quoted') {
      const params = JSON.stringify({ state: txn.state, transactionId: txn.txnId });
      const error = `transaction ${txn.txnId} already in final state ${txn.state}`;
      return {
        status: 400,
        body: JSON.stringify({
          resultStatus: 'error',
          code: '2005',
          error,
          errorMetadata: { params },
        }),
      };
    }
    confirmed(txn, funds, dialect);
    return ok(temper.makes(view(txn, dialect)));
  });

  const list: Handler = (request) => {
    if (!judge(request, judgeListQuery(request.query))) return refusal(400, 'bad request');
    const { query } = request;
    const limit = Math.min(Number(query.get('limit') ?? 20), dialect.pageSize);
    const page = Number(query.get('page') ?? 1);
    const found = [...transactions.values()].filter(
      (txn) => matches(txn, query) && temper.lists(txn),
    );
    if (!dialect.oldestFirst) found.reverse();
    const data = found
      .slice((page - 1) * limit, page * limit)
      .map((txn) => reducedView(txn, dialect));
    return ok({ data, pagination: temper.echoes({ page, limit, total: found.length }) });
  };

  const bare = (request: Received): Received['query'] | undefined =>
    judge(
      request,
      [...request.query.keys()].map((name) => `unknown parameter ${name}`),
    )
      ? request.query
      : undefined;

  const plain =
    (handle: Handler): Handler =>
    (request, id) =>
      bare(request) ? handle(request, id) : refusal(400, 'bad request');

  const changeWebhook: Handler = (request, id) => {
    if (webhook?.id !== id) return refusal(404, 'not found');
    const body = parseObject(request.body);
    if (!judge(request, judgeWebhook(body, false)) || !body) return refusal(400, 'bad request');
    const { callback } = body;
    if (typeof callback === 'string') webhook = { ...webhook, callback };
    return dialect.emptyWebhookAnswers ? { status: 200, body: '' } : ok(webhook);
  };

  const routes: readonly Route[] = [
    ['GET', /^\/account\/onchain-address$/, plain(() => ok({ staticOnchainAddress: btcAddress }))],
    [
      'GET',
      /^\/account\/stablecoin-onchain-address$/,
      ({ query }) => {
        const chainId = query.get('chainId') ?? '';
        const staticOnchainAddress = { TRON: tronAddress, ETH: ethAddress }[chainId];
        if (query.get('walletCcy') !== 'USDT' || !staticOnchainAddress || query.size !== 2) {
          find(`GET stablecoin address: ?${query}`);
          return refusal(400, 'bad request');
        }
        return ok({
          resultStatus: 'success',
          data: { staticOnchainAddress, walletCcy: 'USDT', chainId, accountId },
        });
      },
    ],
    [
      'GET',
      /^\/account\/([^/]+)\/wallet\/$/,
      plain((_, id) => visible(id) ?? ok({ data: funds.wallets(id) })),
    ],
    [
      'GET',
      /^\/account\/([^/]+)$/,
      plain((_, id) => visible(id) ?? ok({ record: { name: 'Strict', tags: [1, 2] } })),
    ],
    ['POST', /^\/transaction\/?$/, plain(create)],
    ['GET', /^\/transaction$/, list],
    [
      'GET',
      /^\/transaction\/([^/]+)$/,
      plain(
        withTransaction((txn) => {
          const state = temper.reads(txn);
          advance(txn, funds, dialect);
          return state === undefined
            ? refusal(404, 'not found')
            : ok(temper.makes(view({ ...txn, state }, dialect)));
        }),
      ),
    ],
    [
      'PUT',
      /^\/transaction\/([^/]+)\/confirm$/,
      plain((request, id) => {
        judge(request, request.body === '' ? [] : ['confirm has no body']);
        return confirm(request, id);
      }),
    ],
    [
      'PUT',
      /^\/transaction\/([^/]+)\/cancel$/,
      withTransaction((txn) => {
        if (!dialect.cancel) return { status: 405, body: '' };
        if (txn.state === 'quoted') txn.state = 'usercanceled';
        return ok(view(txn, dialect));
      }),
    ],
    [
      'POST',
      /^\/webhook$/,
      plain((request) => {
        const body = parseObject(request.body);
        if (!judge(request, judgeWebhook(body, true))) return refusal(400, 'bad request');
        webhook = { id: randomUUID(), callback: String(body?.['callback']), createdAt: Date.now() };
        return ok(webhook);
      }),
    ],
    ['GET', /^\/webhook$/, plain(() => ok({ data: webhook ? [webhook] : [] }))],
    ['PUT', /^\/webhook\/([^/]+)$/, plain(changeWebhook)],
    [
      'DELETE',
      /^\/webhook\/([^/]+)$/,
      plain((_, id) => {
        if (webhook?.id !== id) return refusal(404, 'not found');
        webhook = undefined;
        return dialect.emptyWebhookAnswers ? { status: 200, body: '' } : ok({});
      }),
    ],
    [
      'GET',
      /^\/reference\/fiat-institution\/by-country\/([A-Z]{2})$/,
      plain((_, country) =>
        country === 'VN' ? ok(institutions) : { status: 200, body: dialect.noInstitutions },
      ),
    ],
    [
      'GET',
      /^\/rate$/,
      plain(() => {
        const data = temper.rates ?? (dialect.rates ? { BTCUSD: 100000.5 } : undefined);
        return data === undefined ? refusal(404, 'not found') : ok({ data });
      }),
    ],
  ];

  const answer = (request: Received): Answer => {
    judge(request, judgeEnvelope(request, apiSecret));
    const path = request.path.replace(/^\/api\/v2/, '');
    if (request.method === 'POST' && path === '/authentication/token-signature')
      return authenticate(request, '');
    const refused = authorize(request);
    if (refused) return refused;
    for (const [method, pattern, handle] of routes) {
      const match = method === request.method && pattern.exec(path);
      if (match) return handle(request, decodeURIComponent(match[1] ?? ''));
    }
    judge(request, ['no such endpoint']);
    return refusal(404, 'not found');
  };

  const add = (body: Json): void => {
    const txn = quote(body, accountId, Date.now());
    if (txn !== undefined) transactions.set(txn.txnId, txn);
  };
  return {
    apiKey,
    apiSecret,
    accountId,
    transactions,
    answer,
    add,
    invoice: (sat: bigint) => invoiceFor(sat, dialect),
  };
}

const btcAddress = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const tronAddress = encodeTronAddress(new Uint8Array(20).fill(9));
const ethAddress = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const institutions = {
  banks: [{ institutionCode: 'VCB', institutionType: 'bank', institutionName: 'Vietcombank' }],
  mobiles: [],
};

/**
 * Applies the filters of the transaction list (endpoint 10), except named periods such as `30d`,
 * which are longer than the life of this service.
 */
function matches(txn: Txn, query: URLSearchParams): boolean {
  const several = (name: string): string[] =>
    query.getAll(name).flatMap((value) => value.split(','));
  const wanted = (name: string, value: string): boolean =>
    !query.has(name) || several(name).includes(value);
  const [source, dest] = [String(txn.source['method']), String(txn.dest['method'])];
  const at = (name: string, otherwise: number): number =>
    query.get('time') === 'other' && query.has(name)
      ? Date.parse(query.get(name) ?? '')
      : otherwise;
  return (
    wanted('txnStatuses', txn.state) &&
    wanted('srcMethods', source) &&
    wanted('destMethods', dest) &&
    !several('excludedSrcMethods').includes(source) &&
    !several('excludedDestMethods').includes(dest) &&
    txn.createdAt >= at('startTime', 0) &&
    txn.createdAt <= at('endTime', Infinity)
  );
}
