// A model of the service with tokens, quotes that expire, references and confirmations. The
// parameters of the schedule decide whether the responses of the model are correct.
import type { HttpRequest, HttpResponse } from '../../src/api/errors.js';
import { listed, madeFrom, olderPayments, shown, type ModelTransaction } from './service-quotes.js';
import type { ServiceParameters } from './service-parameters.js';
import type { World } from './world.js';

/** The sender of a request, and the time of sending. */
export interface Sent {
  readonly by: string;
  readonly at: number;
}

export interface Model {
  readonly parameters: ServiceParameters;
  readonly transactions: ModelTransaction[];
  /**
   * The processes that failed to sign in at least once, and therefore may not have read the rates.
   */
  readonly signedOut: Set<string>;
  /** Executes a request now, and returns the response. */
  answer(request: HttpRequest, sent: Sent): HttpResponse;
  /** Records the sender of a confirmation, which may reach the service at any later time. */
  sent(request: HttpRequest, sender: string): void;
  /** The rules that the schedule has broken, each described in a sentence. */
  readonly violations: string[];
}

/** Whether the money of a transaction has moved and was not returned. */
export const hasMoved = ({ state, movesInError }: ModelTransaction): boolean =>
  ['srccreated', 'destsent', 'completed'].includes(state) || (state === 'error' && movesInError);

export const baseRef = (extRefId: string): string => extRefId.replace(/~\d+$/, '');

export const tokenPath = '/api/v2/authentication/token-signature';
const transactionPath = '/api/v2/transaction';
const confirmation = /^\/api\/v2\/transaction\/([^/]+)\/confirm$/;
export const accountId = 'ne01-sim';
const longestWordingMs = 200;
/** The value of `movedBy` if the service started a transaction without a confirmation. */
export const byItself = 'the service';

export function createModel(world: World, parameters: ServiceParameters): Model {
  const { chance } = world;
  const transactions: ModelTransaction[] = [];
  const older = olderPayments(parameters, world.now());
  const violations: string[] = [];
  const tokens = new Map([['token-0', world.now() + parameters.tokenLifeMs]]);
  const find = (id: string | undefined): ModelTransaction | undefined =>
    transactions.find(({ txnId }) => txnId === id);

  const json = (status: number, body: unknown): HttpResponse => ({
    status,
    headers: { 'content-type': 'application/json', date: new Date(world.now()).toUTCString() },
    body: JSON.stringify(body),
  });
  const refuse = (message: string): HttpResponse => json(400, { error: 'bad request', message });

  function authenticate(): HttpResponse {
    const accessToken = `token-${tokens.size}`;
    const expiredAt = world.now() + parameters.tokenLifeMs;
    tokens.set(accessToken, expiredAt);
    return json(200, { accessToken, expiredAt, accountId });
  }

  function change(txn: ModelTransaction, state: string): void {
    txn.state = state;
    txn.history.push({ at: world.now(), state });
  }

  function create(body: string): HttpResponse {
    const asked = JSON.parse(body);
    const isUsed = transactions.some(({ extRefId }) => extRefId === asked.extRefId);
    if (isUsed && parameters.refusesUsedReferences) return refuse('extRefId has already been used');
    const txn = madeFrom(asked, `txn-${transactions.length + 1}`, world, parameters);
    transactions.push(txn);
    if (parameters.lapsesByItself) world.after(parameters.quoteLifeMs, () => lapse(txn));
    if (chance.hits(parameters.beginning)) move(txn, { by: byItself, at: world.now() });
    return json(200, shown(txn, txn.state, parameters));
  }

  function lapse(txn: ModelTransaction): void {
    if (txn.state === 'quoted') change(txn, 'expired');
  }

  function confirm(txn: ModelTransaction, sent: Sent): HttpResponse {
    if (txn.isTaken && txn.state === 'quoted' && parameters.waitingRefusesMore)
      return refuse('a confirmation of it is being carried out');
    if (txn.isRefused)
      return chance.pick([
        refuse('insufficient balance'),
        json(403, { error: 'Permission denied' }),
      ]);
    const wasQuoted = txn.state === 'quoted';
    if (wasQuoted && world.now() >= txn.expiresAt) lapse(txn);
    if (txn.state === 'quoted') takeConfirmation(txn, sent);
    else if (!wasQuoted || !parameters.answersLate) return tooLate(txn);
    return json(200, shown(txn, inWords(txn), parameters));
  }

  /**
   * Returns the reported state of a transaction, which may be `expired` just before the quote
   * expires.
   */
  function inWords(txn: ModelTransaction): string {
    const isLate =
      parameters.saysExpiredTooEarly &&
      world.now() + chance.below(longestWordingMs) >= txn.expiresAt;
    return isLate && txn.state === 'quoted' ? 'expired' : txn.state;
  }

  function takeConfirmation(txn: ModelTransaction, sent: Sent): void {
    const waits = chance.below(parameters.confirmationWaitsMs);
    if (waits === 0 || chance.hits(0.5)) return move(txn, sent);
    txn.isWaiting ||= parameters.waitingOutlivesExpiry;
    txn.isTaken = true;
    world.after(waits, () => {
      txn.isTaken = false;
      const holds =
        txn.state === 'quoted' && (world.now() < txn.expiresAt || parameters.waitingOutlivesExpiry);
      if (holds || (txn.state === 'expired' && parameters.waitingOutlivesExpiry)) move(txn, sent);
    });
  }

  function move(txn: ModelTransaction, { by, at }: Sent): void {
    change(txn, 'srccreated');
    txn.movedBy = by;
    txn.submittedAt = at;
    world.note(() => `${txn.txnId} moves, by ${by}`);
    const isSwap = txn.dest.method === 'servicepay';
    const errs = parameters.erring > 0 && chance.hits(parameters.erring);
    const end = errs
      ? 'error'
      : chance.hits(parameters.failing)
        ? chance.pick(['failed', 'rejected'] as const)
        : 'completed';
    if (isSwap && end === 'completed') return change(txn, end);
    const slow = chance.hits(0.1) ? 10 : 1;
    world.after(chance.below(300) * slow, () => {
      change(txn, 'destsent');
      world.after(chance.below(700) * slow, () => change(txn, end));
    });
  }

  const tooLate = ({ txnId, state }: ModelTransaction): HttpResponse =>
    json(400, {
      resultStatus: 'error',
      code: '2005',
      error: `transaction ${txnId} already in final state ${state}`,
      errorMetadata: { params: JSON.stringify({ txnId, txnState: state }) },
    });

  function cancel(txn: ModelTransaction): HttpResponse {
    if (!parameters.cancels) return json(404, { error: 'not found' });
    if (txn.state !== 'quoted' || txn.isWaiting) return tooLate(txn);
    change(txn, 'usercanceled');
    return json(200, shown(txn, txn.state, parameters));
  }

  /** Returns the state of a transaction at an earlier time, or undefined before its creation. */
  function past(txn: ModelTransaction, at: number): string | undefined {
    const state = txn.history.findLast((each) => each.at <= at)?.state;
    const tooEarly =
      parameters.saysExpiredTooEarly && state === 'quoted' && world.now() >= txn.expiresAt;
    return tooEarly ? 'expired' : state;
  }

  function read(txn: ModelTransaction): HttpResponse {
    const state = past(txn, world.now() - chance.below(parameters.readLagMs));
    return state === undefined
      ? json(404, { error: 'not found' })
      : json(200, shown(txn, state, parameters));
  }

  function list(query: URLSearchParams): HttpResponse {
    const limit = Math.min(Number(query.get('limit') ?? 20), parameters.pageSize);
    const page = Number(query.get('page') ?? 1);
    const at =
      world.now() -
      (parameters.lagsSteadily ? parameters.listLagMs : chance.below(parameters.listLagMs));
    const [from, to] = ['startTime', 'endTime'].map((name) => Date.parse(query.get(name) ?? ''));
    const isAskedFor = ({ createdAt }: { readonly createdAt: number }): boolean =>
      createdAt >= (from ?? 0) && createdAt <= (to ?? 0);
    const known = transactions.filter(isAskedFor).flatMap((txn) => {
      const state = past(txn, at);
      return state === undefined ? [] : [listed(txn, state)];
    });
    const all = [...older.filter(isAskedFor), ...known];
    if (!parameters.oldestFirst) all.reverse();
    const data = all.slice((page - 1) * limit, page * limit);
    return json(200, {
      data,
      pagination: { page, limit, total: parameters.miscounts ? data.length : all.length },
    });
  }

  const rates = (): HttpResponse =>
    parameters.showsRates
      ? json(200, {
          data: { BTCUSD: 100_000, BTCUSDT: 100_000, BTCVND: 2_500_000_000, USDTVND: 25_000 },
        })
      : json(404, { error: 'not found' });
  const wallets = (): HttpResponse =>
    json(200, {
      data: ['BTC', 'USDT'].map((ccy) => ({ ccy, amount: 1_000, availableBalance: 1_000 })),
    });

  function answer({ method, url, headers, body }: HttpRequest, sent: Sent): HttpResponse {
    const { pathname, searchParams } = new URL(url);
    if (pathname === tokenPath) return authenticate();
    const expiry = tokens.get(headers['authorization']?.replace('Bearer ', '') ?? '');
    if (expiry === undefined || expiry <= world.now())
      return json(401, { error: 'invalid token or token expired' });
    if (pathname.endsWith('/wallet/')) return wallets();
    // Without a list of institutions, svcpay accepts the code of any institution.
    if (pathname.includes('/fiat-institution/')) return json(200, { data: [] });
    if (pathname === '/api/v2/rate') return rates();
    if (pathname === transactionPath)
      return method === 'POST' ? create(body ?? '') : list(searchParams);
    const [id, action] = pathname.slice(transactionPath.length + 1).split('/');
    const early = older.find(({ txnId }) => txnId === id);
    if (early !== undefined) return json(200, early);
    const txn = find(id);
    if (txn === undefined) return json(404, { error: 'not found' });
    if (action === 'cancel') return cancel(txn);
    return action === 'confirm' ? confirm(txn, sent) : read(txn);
  }

  return {
    parameters,
    transactions,
    signedOut: new Set(),
    violations,
    answer,
    sent({ method, url }, sender) {
      const [, id] = (method === 'PUT' && confirmation.exec(url.slice(url.indexOf('/api/')))) || [];
      find(id)?.confirmedBy.add(sender);
    },
  };
}
