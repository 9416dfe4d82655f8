// A model of the service: tokens, quotes that lapse, references that serve once, confirmations that count.
import type { HttpRequest, HttpResponse } from '../../src/api/transport.js';
import type { World } from './world.js';

export interface ModelTransaction {
  readonly txnId: string;
  readonly extRefId: string;
  readonly sourceReq: { readonly ccy: string; readonly method: string; readonly amtRequested: number };
  readonly destReq: { readonly ccy: string; readonly method: string; readonly reqDetails: { readonly address: string } };
  readonly fee: number;
  readonly expiresAt: number;
  state: string;
  /** The process whose confirmation took effect. */
  confirmedBy: string | undefined;
}

export interface Model {
  readonly transactions: ModelTransaction[];
  /** Carries a request out, at this moment. @param sender the process that sent it */
  answer(request: HttpRequest, sender: string): HttpResponse;
  /** What happened that must not happen. */
  readonly violations: string[];
}

export interface ModelTraits {
  readonly tokenLifeMs: number;
  readonly quoteLifeMs: number;
  readonly pageSize: number;
  /** A quote becomes `expired` by itself; otherwise only when it is confirmed too late. */
  readonly lapsesByItself: boolean;
  /** A late confirmation is answered with the transaction, or with code 2005. */
  readonly answersLate: boolean;
  readonly failing: number;
}

/** Whether its money has moved and not come back. */
export const hasMoved = ({ state }: ModelTransaction): boolean => ['srccreated', 'destsent', 'completed'].includes(state);

export const baseRef = (extRefId: string): string => extRefId.replace(/~\d+$/, '');

export const tokenPath = '/api/v2/authentication/token-signature';
const transactionPath = '/api/v2/transaction';
export const accountId = 'ne01-sim';
/** In satoshis, as fees are: most quotes cost the same, some more, some less. */
const fees = [20, 20, 20, 50, 10] as const;
export const satoshi = 1e-8;

export function createModel(world: World, traits: ModelTraits): Model {
  const { chance } = world;
  const transactions: ModelTransaction[] = [];
  const violations: string[] = [];
  const tokens = new Map([['token-0', world.now() + traits.tokenLifeMs]]);

  const json = (status: number, body: unknown): HttpResponse => ({
    status,
    headers: { 'content-type': 'application/json', date: new Date(world.now()).toUTCString() },
    body: JSON.stringify(body),
  });
  const refuse = (message: string): HttpResponse => json(400, { error: 'bad request', message });

  function authenticate(): HttpResponse {
    const accessToken = `token-${tokens.size}`;
    const expiredAt = world.now() + traits.tokenLifeMs;
    tokens.set(accessToken, expiredAt);
    return json(200, { accessToken, expiredAt, accountId });
  }

  function create(body: string): HttpResponse {
    const { extRefId, sourceReq, destReq } = JSON.parse(body);
    if (transactions.some((each) => each.extRefId === extRefId)) return refuse('extRefId has already been used');
    const txn: ModelTransaction = {
      txnId: `txn-${transactions.length + 1}`,
      extRefId,
      sourceReq,
      destReq,
      fee: chance.pick(fees) * satoshi,
      expiresAt: world.now() + traits.quoteLifeMs,
      state: 'quoted',
      confirmedBy: undefined,
    };
    transactions.push(txn);
    if (traits.lapsesByItself) world.after(traits.quoteLifeMs, () => lapse(txn));
    return json(200, shown(txn));
  }

  function lapse(txn: ModelTransaction): void {
    if (txn.state === 'quoted') txn.state = 'expired';
  }

  function confirm(txn: ModelTransaction, sender: string): HttpResponse {
    const wasQuoted = txn.state === 'quoted';
    if (wasQuoted && world.now() >= txn.expiresAt) lapse(txn);
    if (txn.state === 'quoted') move(txn, sender);
    else if (!wasQuoted || !traits.answersLate) return tooLate(txn);
    return json(200, shown(txn));
  }

  function move(txn: ModelTransaction, sender: string): void {
    const twin = transactions.find((each) => each !== txn && hasMoved(each) && baseRef(each.extRefId) === baseRef(txn.extRefId));
    if (twin !== undefined) violations.push(`paid twice: ${twin.extRefId} (${twin.txnId}) and ${txn.extRefId} (${txn.txnId})`);
    txn.state = 'srccreated';
    txn.confirmedBy = sender;
    const end = chance.hits(traits.failing) ? chance.pick(['failed', 'rejected'] as const) : 'completed';
    const slow = chance.hits(0.1) ? 10 : 1;
    world.after(chance.below(300) * slow, () => {
      txn.state = 'destsent';
      world.after(chance.below(700) * slow, () => void (txn.state = end));
    });
  }

  const tooLate = ({ txnId, state }: ModelTransaction): HttpResponse =>
    json(400, {
      resultStatus: 'error',
      code: '2005',
      error: `transaction ${txnId} already in final state ${state}`,
      errorMetadata: { params: JSON.stringify({ txnId, txnState: state }) },
    });

  function list(query: URLSearchParams): HttpResponse {
    const limit = Math.min(Number(query.get('limit') ?? 20), traits.pageSize);
    const page = Number(query.get('page') ?? 1);
    const newestFirst = transactions.toReversed();
    const data = newestFirst.slice((page - 1) * limit, page * limit).map(shown);
    return json(200, { data, pagination: { page, limit, total: transactions.length } });
  }

  function answer({ method, url, headers, body }: HttpRequest, sender: string): HttpResponse {
    const { pathname, searchParams } = new URL(url);
    if (pathname === tokenPath) return authenticate();
    const expiry = tokens.get(headers['authorization']?.replace('Bearer ', '') ?? '');
    if (expiry === undefined || expiry <= world.now()) return json(401, { error: 'invalid token or token expired' });
    if (pathname.endsWith('/wallet/')) {
      return json(200, { data: [{ ccy: 'BTC', amount: 1, availableBalance: 1 }] });
    }
    if (pathname === transactionPath) return method === 'POST' ? create(body ?? '') : list(searchParams);
    const [id, action] = pathname.slice(transactionPath.length + 1).split('/');
    const txn = transactions.find(({ txnId }) => txnId === id);
    if (txn === undefined) return json(404, { error: 'not found' });
    return action === 'confirm' ? confirm(txn, sender) : json(200, shown(txn));
  }

  return { transactions, violations, answer };
}

function shown({ txnId, extRefId, sourceReq, destReq, fee, expiresAt, state }: ModelTransaction): object {
  return {
    txnId,
    extRefId,
    txnState: state,
    sourceReq: { ...sourceReq, servicepayFees: fee, networkFees: 0, expiresAt },
    destReq,
    fxRate: 1,
  };
}
