// svcpay shows no secret, even if a service or proxy echoes requests in its errors.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { quickTime, svcpay } from '../support/in-process.js';
import { test as base } from '../support/svcpay.js';

const apiSecret = 'sk+live/9f2c"7 d1';
const token = 'opaque-token-4f1d8c77aa02';
const webhookSecret = 'hooks-1970';

type Echo = (said: string) => { status: number; body: string; headers?: Record<string, string> };

const inPage = (said: string): string => said.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** For each kind of echo, the answer that echoes a secret of the request. */
const echoes: Readonly<Record<string, Echo>> = {
  'an error': (said) => ({
    status: 400,
    body: JSON.stringify({ error: 'bad request', message: said, code: said }),
  }),
  'an error in upper case': (said) => ({
    status: 400,
    body: JSON.stringify({ error: said.toUpperCase() }),
  }),
  'JSON inside JSON': (said) => ({
    status: 403,
    body: JSON.stringify({ error: JSON.stringify({ said }) }),
  }),
  'escaped JSON': (said) => ({
    status: 404,
    body: `{"error":"${[...said].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"}`,
  }),
  'a field name': (said) => ({
    status: 400,
    body: JSON.stringify({ error: 'bad request', [said]: true }),
  }),
  'form encoding': (said) => ({
    status: 400,
    body: JSON.stringify({ error: `${new URLSearchParams({ said })}` }),
  }),
  'HTML text': (said) => ({ status: 400, body: JSON.stringify({ error: inPage(said) }) }),
  hex: (said) => ({
    status: 400,
    body: JSON.stringify({ error: Buffer.from(said).toString('hex') }),
  }),
  base64: (said) => ({
    status: 400,
    body: JSON.stringify({ error: Buffer.from(said).toString('base64') }),
  }),
  'base64url data': (said) => ({
    status: 200,
    body: JSON.stringify({ data: Buffer.from(said).toString('base64url') }),
  }),
  'base64 of a longer text': (said) => ({
    status: 400,
    body: JSON.stringify({ error: Buffer.from(`key:${said}.`).toString('base64') }),
  }),
  'an HTML page': (said) => ({ status: 502, body: `<h1>${said.slice(0, 78)}</h1>` }),
  'a redirect': (said) => ({
    status: 302,
    body: '',
    headers: { location: `/${encodeURIComponent(said)}` },
  }),
  'the request id': (said) => ({
    status: 500,
    body: '{"error":"internal"}',
    headers: { 'x-request-id': encodeURIComponent(said).slice(0, 79) },
  }),
  'an error with status 200': (said) => ({
    status: 200,
    body: JSON.stringify({ resultStatus: 'error', code: '9', error: said }),
  }),
  'data of another type': (said) => ({ status: 200, body: JSON.stringify({ data: said }) }),
};

interface Fixtures {
  /**
   * Starts a service that echoes one secret in each answer, and accepts or echoes sign-ins. Each
   * run of svcpay uses its own path of the service.
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
        [true, false].map((signsIn) => ({
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
      // Each command runs three times, so that the service echoes every secret.
      for (const [at, [line, input]] of [...commands, ...commands, ...commands].entries()) {
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
