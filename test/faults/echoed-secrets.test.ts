// svcpay shows no secret, even if a service or proxy echoes requests in its errors.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { quickTime, svcpay } from '../support/in-process.js';
import { runsAll } from '../support/part.js';
import { test as base } from '../support/svcpay.js';

const apiSecret = 'sk+live/9f2c"7 d1';
const token = 'opaque-token-4f1d8c77aa02';
const webhookSecret = 'hooks-1970';

type Echo = (echoed: string) => { status: number; body: string; headers?: Record<string, string> };

const inPage = (echoed: string): string =>
  echoed.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** For each kind of echo, the answer that echoes a secret of the request. */
const echoes: Readonly<Record<string, Echo>> = {
  'an error': (echoed) => ({
    status: 400,
    body: JSON.stringify({ error: 'bad request', message: echoed, code: echoed }),
  }),
  'an error in upper case': (echoed) => ({
    status: 400,
    body: JSON.stringify({ error: echoed.toUpperCase() }),
  }),
  'JSON inside JSON': (echoed) => ({
    status: 403,
    body: JSON.stringify({ error: JSON.stringify({ echoed }) }),
  }),
  'escaped JSON': (echoed) => ({
    status: 404,
    body: `{"error":"${[...echoed].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"}`,
  }),
  'a field name': (echoed) => ({
    status: 400,
    body: JSON.stringify({ error: 'bad request', [echoed]: true }),
  }),
  'form encoding': (echoed) => ({
    status: 400,
    body: JSON.stringify({ error: `${new URLSearchParams({ echoed })}` }),
  }),
  'HTML text': (echoed) => ({ status: 400, body: JSON.stringify({ error: inPage(echoed) }) }),
  hex: (echoed) => ({
    status: 400,
    body: JSON.stringify({ error: Buffer.from(echoed).toString('hex') }),
  }),
  base64: (echoed) => ({
    status: 400,
    body: JSON.stringify({ error: Buffer.from(echoed).toString('base64') }),
  }),
  'base64url data': (echoed) => ({
    status: 200,
    body: JSON.stringify({ data: Buffer.from(echoed).toString('base64url') }),
  }),
  'base64 of a longer text': (echoed) => ({
    status: 400,
    body: JSON.stringify({ error: Buffer.from(`key:${echoed}.`).toString('base64') }),
  }),
  'an HTML page': (echoed) => ({ status: 502, body: `<h1>${echoed.slice(0, 78)}</h1>` }),
  'a redirect': (echoed) => ({
    status: 302,
    body: '',
    headers: { location: `/${encodeURIComponent(echoed)}` },
  }),
  'the request id': (echoed) => ({
    status: 500,
    body: '{"error":"internal"}',
    headers: { 'x-request-id': encodeURIComponent(echoed).slice(0, 79) },
  }),
  'an error with status 200': (echoed) => ({
    status: 200,
    body: JSON.stringify({ resultStatus: 'error', code: '9', error: echoed }),
  }),
  'data of another type': (echoed) => ({ status: 200, body: JSON.stringify({ data: echoed }) }),
};

interface Fixtures {
  /**
   * Starts a service that echoes one secret of the sender in each answer. If `signsIn` is set, the
   * service accepts sign-ins and echoes no secret in their answers. Each run of svcpay uses its own
   * URL path of the service, and `sent` returns the secrets of the run that uses the given path.
   */
  readonly echoing: (
    echo: Echo,
    signsIn: boolean,
  ) => Promise<{ url: string; sent: (path: string) => Set<string> }>;
}

const test = base.extend<Fixtures>({
  echoing: async ({}, use) => {
    const stops: (() => void)[] = [];
    await use(async (echo, signsIn) => {
      const runs = new Map<string, Set<string>>();
      const sent = (path: string): Set<string> =>
        runs.get(path) ?? runs.set(path, new Set([apiSecret])).get(path)!;
      let turn = 0;
      const answer = async (request: IncomingMessage): Promise<ReturnType<Echo>> => {
        const [, path = '', rest = ''] = /^\/([^/]*)(.*)$/.exec(request.url ?? '') ?? [];
        const secrets = sent(path);
        const body = await text(request);
        for (const secret of [
          request.headers['x-api-signature'],
          request.headers.authorization?.slice(7),
        ])
          if (secret !== undefined) secrets.add(String(secret));
        if (body.includes(webhookSecret)) secrets.add(webhookSecret);
        const isToken = signsIn && rest.includes('token-signature');
        if (isToken)
          return {
            status: 200,
            body: JSON.stringify({
              accessToken: token,
              accountId: 'ne01-a',
              expiredAt: Date.now() + 1e6,
            }),
          };
        return echo([...secrets][(turn += 1) % secrets.size] ?? '');
      };
      const server = createServer((request, response) => {
        void answer(request).then(({ status, body, headers }) =>
          response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body),
        );
      });
      await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
      stops.push(() => (server.close(), server.closeAllConnections()));
      return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent };
    });
    for (const stop of stops) stop();
  },
});

const commands: readonly (readonly [line: string, input?: string])[] = [
  ['wallets --debug'],
  ['tx list --json'],
  ['send lnurl shop@example.com 1000sat --yes --json --debug'],
  ['webhook set https://shop.example/hooks --secret-stdin --yes --debug', webhookSecret],
  ['rates'],
  ['api GET /api/v2/account/x'],
  ['whoami'],
];

describe('svcpay with a service that echoes requests', { concurrent: true }, () => {
  test.for(
    Object.entries(echoes)
      .flatMap(([where, echo]) =>
        (runsAll ? [true, false] : [true]).map((signsIn) => ({
          where,
          echo,
          signsIn,
          when: signsIn ? 'after the sign-in' : 'at the sign-in and later',
        })),
      )
      .map((each) => [each.where, each.when, each] as const),
  )(
    'shows no secret that the service echoes in %s %s',
    async ([, , { where, echo, signsIn }], { home, echoing }) => {
      const { url, sent } = await echoing(echo, signsIn);
      let all = '';
      // Each command runs three times, so that the service echoes every secret. svcpay repeats a
      // request that the service fails, so one run is enough.
      const rounds = echo('').status >= 500 ? 1 : 3;
      const lines = Array.from({ length: rounds }, () => commands).flat();
      for (const [at, [line, input]] of lines.entries()) {
        const env = {
          SVCPAY_BASE_URL: `${url}/${at}`,
          SVCPAY_API_KEY: 'key',
          SVCPAY_API_SECRET: apiSecret,
        };
        const run = await svcpay([...line.split(' '), '--timeout', '2s'], {
          home,
          env,
          ...quickTime(),
          ...(input !== undefined && { input }),
        });
        const shown = `${line}\n${run.stdout}${run.stderr}`;
        const spellings = [...sent(`${at}`)].flatMap((each) => [
          each,
          encodeURIComponent(each),
          JSON.stringify(each).slice(1, -1),
          inPage(each),
          `${new URLSearchParams({ '': each })}`.slice(1),
          Buffer.from(each).toString('hex'),
          Buffer.from(each).toString('base64'),
          Buffer.from(each).toString('base64url'),
          // The encoded secret without the characters that depend on the text around it.
          Buffer.from(`key:${each}`).toString('base64').slice(6, -4),
        ]);
        expect(
          spellings
            .filter((each) => shown.toLowerCase().includes(each.toLowerCase()))
            .map((each) => ({ each, shown })),
        ).toEqual([]);
        all += shown;
      }
      // svcpay omits the content of a malformed sign-in response, so its message has nothing to
      // redact.
      if (signsIn || !/data|field/.test(where)) expect(all).toContain('[redacted]');
    },
  );
});

describe('svcpay with a malformed database address', () => {
  const addresses = [
    'svc:s3cret@db/pay',
    '//svc:s3cret@db/pay',
    'postgres//svc:s3cret@db/pay',
    'host=db user=svc password=s3cret',
    "password = 's3 s3cret'",
    'postgres://svc:a@s3cret@db/pay',
  ];
  test.for(addresses)(
    'hides the password of the database address %s',
    async (address, { around }) => {
      for (const line of [
        'config list',
        'config get database-url',
        'doctor',
        'wallets --debug',
        'db status',
      ]) {
        const run = await svcpay(line.split(' '), {
          ...around,
          env: { SVCPAY_DATABASE_URL: address },
        });
        expect(`${line}\n${run.stdout}${run.stderr}`).not.toContain('s3cret');
      }
    },
  );
});
