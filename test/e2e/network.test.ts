// Tests the built program with a proxy, TLS with a private certificate, slow services, and colours
// in the output.
import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { makeCertificate } from '../support/certificate.js';
import { startInPty } from '../support/pty.js';
import { environment, svcpay, test } from '../support/svcpay.js';

const host = 'pay.example.test';
const wallets = [{ ccy: 'BTC', amount: 1.5, availableBalance: 1.25 }];

const servers: Server[] = [];
const listening = async (server: Server): Promise<number> => {
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return (server.address() as AddressInfo).port;
};

const asked: string[] = [];
let proxy = '';
let ca = '';

beforeAll(async () => {
  const { key, cert } = makeCertificate(mkdtempSync(`${tmpdir()}/svcpay-tls-`), host);
  ca = cert;
  const service = createTlsServer(
    { key: readFileSync(key), cert: readFileSync(cert) },
    (request, answer) => {
      const isToken = request.url?.includes('token-signature') === true;
      answer.setHeader('content-type', 'application/json');
      answer.end(
        JSON.stringify(
          isToken
            ? { accessToken: 't', expiredAt: Date.now() + 3_600_000, accountId: 'ne01-x' }
            : wallets,
        ),
      );
    },
  );
  const servicePort = await listening(service);
  const tunnel = createServer((_request, answer) => answer.writeHead(405).end());
  tunnel.on('connect', (request, socket) => {
    asked.push(`${request.method} ${request.url}`);
    const onward = connect(servicePort, '127.0.0.1', () =>
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n'),
    );
    socket.on('error', () => onward.destroy());
    onward.on('error', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  proxy = `http://127.0.0.1:${await listening(tunnel)}`;
});

afterAll(() => servers.forEach((server) => server.close()));

const sandbox = { url: `https://${host}`, apiKey: 'k', apiSecret: 's' };

describe('svcpay through HTTPS_PROXY', () => {
  test('reaches the service through a tunnel if the certificate of the service is trusted', async ({
    home,
  }) => {
    const env = { HTTPS_PROXY: proxy, NODE_EXTRA_CA_CERTS: ca };
    const plain = await svcpay(['wallets', '--json'], { home, sandbox, env });
    expect(plain).toMatchObject({ exitCode: 0, stderr: '' });
    expect(plain.json()).toEqual(wallets);
    expect(asked).toContain(`CONNECT ${host}:443`);
    const coloured = await svcpay(['wallets', '-o', 'table'], {
      home,
      sandbox,
      env: { ...env, FORCE_COLOR: '1' },
    });
    expect(coloured).toMatchObject({ exitCode: 0 });
    // oxlint-disable-next-line no-control-regex
    expect(coloured.stdout).toMatch(/\u001b\[\d+m[^]*1\.25/);
  });

  test('refuses an untrusted certificate and explains the reason', async ({ home }) => {
    const run = await svcpay(['wallets', '--json', '--timeout', '10s'], {
      home,
      sandbox,
      env: { HTTPS_PROXY: proxy },
    });
    expect(run).toMatchObject({ exitCode: 75, stdout: '' });
    expect(run.error().message).toContain('certificate is not trusted');
  });

  test('refuses NODE_TLS_REJECT_UNAUTHORIZED=0 except with --insecure', async ({ home }) => {
    const env = { HTTPS_PROXY: proxy, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const before = asked.length;
    const run = await svcpay(['wallets', '--json'], { home, sandbox, env });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.error().message).toContain('NODE_TLS_REJECT_UNAUTHORIZED=0');
    expect(
      await svcpay(['send', 'lnurl', 'shop@example.com', '1000sat', '--yes'], {
        home,
        sandbox,
        env,
      }),
    ).toMatchObject({ exitCode: 2, stdout: '' });
    expect(asked).toHaveLength(before);
    const doctor = await svcpay(['doctor', '--json'], { home, sandbox, env });
    expect(doctor.exitCode).toBe(1);
    expect(doctor.json()).toContainEqual(
      expect.objectContaining({ check: 'TLS', state: 'problem' }),
    );
    expect(await svcpay(['wallets', '--json', '--insecure'], { home, sandbox, env })).toMatchObject(
      { exitCode: 0 },
    );
  });

  test('does not use the proxy for a host in NO_PROXY', async ({ home }) => {
    const before = asked.length;
    const env = { HTTPS_PROXY: proxy, NO_PROXY: '.example.test', NODE_EXTRA_CA_CERTS: ca };
    const run = await svcpay(['wallets', '--json', '--timeout', '2s'], { home, sandbox, env });
    expect(run).toMatchObject({ exitCode: 75, stdout: '' });
    expect(asked).toHaveLength(before);
  });
});

test('svcpay shows the host of a slow service at a terminal until the response arrives', async ({
  home,
}) => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => void (release = resolve));
  const slow = createServer((request, answer) => {
    const isToken = request.url?.includes('token-signature') === true;
    const body = JSON.stringify(
      isToken
        ? { accessToken: 't', expiredAt: Date.now() + 3_600_000, accountId: 'ne01-x' }
        : wallets,
    );
    void (isToken ? Promise.resolve() : released).then(() =>
      answer.setHeader('content-type', 'application/json').end(body),
    );
  });
  const url = `http://127.0.0.1:${await listening(slow)}`;
  const env = environment({ home, sandbox: { url, apiKey: 'k', apiSecret: 's' } });
  const tty = startInPty(process.execPath, ['bin/svcpay.js', 'wallets'], { env });
  await tty.shows(`Waiting for ${new URL(url).host}`);
  release();
  expect(await tty.exit).toBe(0);
  expect(tty.screen().join('\n')).not.toContain('Waiting');
  expect(tty.screen().join('\n')).toContain('1.25');
});

test.for([
  ['svcpay wallets', ['wallets']],
  ['svcpay without a command', []],
] as const)(
  'the command %s shows at a terminal that it waits for the embedded sandbox',
  async ([, args], { home }) => {
    const sandbox = (...words: string[]) => svcpay(['--sandbox', ...words], { home });
    await sandbox('sandbox', 'fault', 'add', 'latency', 'delay=1s', 'times=3');
    const env = environment({ home });
    const tty = startInPty(process.execPath, ['bin/svcpay.js', '--sandbox', ...args], { env });
    await tty.shows('Waiting for the embedded sandbox');
    await tty.shows(/10 ?000\.00/);
    expect(tty.screen().join('\n')).not.toContain('Waiting for');
    tty.kill();
    await tty.exit;
  },
);
