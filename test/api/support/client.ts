// A ServiceClient for tests, with a stubbed service and a clock that advances only during pauses.
import { ServiceClient, type ClientOptions } from '../../../src/api/client.js';
import { NetworkError } from '../../../src/api/errors.js';
import type { Token } from '../../../src/api/types.js';
import { answer, fakeService, type FakeService } from '../../support/fake-transport.js';

export const baseUrl = 'https://api.example.com';
export const tokenPath = '/api/v2/authentication/token-signature';
export const start = Date.UTC(2025, 0, 15, 12);
export const credentials = { apiKey: 'key-1', apiSecret: 'secret-1' };

export const kept: Token = {
  accessToken: 'kept-token',
  expiresAt: start + 3_600_000,
  accountId: 'ne01-7f3a',
};

export const tokenAnswer = (accessToken: string, expiredAt = start + 3_600_000) =>
  answer(200, { accessToken, expiredAt, accountId: 'ne01-7f3a' });

export const refused = (): NetworkError =>
  new NetworkError('the connection was refused', { requestSent: false, code: 'ECONNREFUSED' });
export const lost = (): NetworkError =>
  new NetworkError('the connection closed', { requestSent: true, code: 'ECONNRESET' });

export interface World {
  client: ServiceClient;
  service: FakeService;
  /** The length of each pause of the client, in ms. */
  pauses: number[];
  log: string[];
  /** The content of the token store. */
  tokens: { token: Token | undefined };
  time: { now: number };
}

/** Creates a client with a stored token by default, so that most tests observe a single request. */
export function world(options: Partial<ClientOptions> & { token?: Token | null } = {}): World {
  const { token, ...others } = options;
  const service = fakeService(baseUrl);
  const time = { now: start };
  const pauses: number[] = [];
  const log: string[] = [];
  const tokens: World['tokens'] = { token: token === null ? undefined : (token ?? kept) };
  const client = new ServiceClient({
    baseUrl,
    credentials,
    transport: service.transport,
    tokens: {
      load: async () => tokens.token,
      save: async (saved) => void (tokens.token = saved),
    },
    maker: 'service',
    clock: () => time.now,
    sleep: async (ms) => {
      pauses.push(ms);
      time.now += ms;
    },
    random: () => 0.5,
    log: (line) => log.push(line),
    timeoutMs: 30_000,
    userAgent: 'svcpay/1.2.3',
    ...others,
  });
  return { client, service, pauses, log, tokens, time };
}

/** A transaction in the form that the service returns. */
export function transaction(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    txnId: 't1',
    accountId: 'ne01-7f3a',
    extRefId: 'order-118',
    txnState: 'quoted',
    sourceReq: {
      ccy: 'BTC',
      method: 'servicepay',
      amtRequested: 0.00002507,
      amtSettled: null,
      reqDetails: {},
      servicepayFees: 5e-8,
      networkFees: 2e-8,
      reqStatus: '0',
      expiresAt: start + 30_000,
      createAt: start,
    },
    destReq: {
      ccy: 'BTC',
      method: 'lightning',
      amtRequested: 0.000025,
      reqDetails: { paymentRequest: 'lnbc25u1' },
    },
    fxRate: 1,
    createdAt: start,
    ...changes,
  };
}
