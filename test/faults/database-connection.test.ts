// svcpay reads database addresses, variables, the password file and certificates like a PostgreSQL
// client.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasPostgres, startPostgres, type PostgresServer } from '../support/postgres.js';
import { svcpay } from '../support/svcpay.js';

const password = 'p@ss:w/rd%#?';
const written = encodeURIComponent(password);
const home = mkdtempSync(join(tmpdir(), 'svcpay-connection-'));

let server: PostgresServer;
let there = '';
beforeAll(async () => {
  if (!hasPostgres) return;
  server = await startPostgres({ password });
  there = `localhost:${server.port}${new URL(server.database()).pathname}`;
  const address = { SVCPAY_DATABASE_URL: `postgres://owner:${written}@${there}` };
  await svcpay(['db', 'upgrade', '--new', '--yes'], { home, env: address });
  for (const [name, mode] of [
    ['.pgpass', 0o600],
    ['open', 0o644],
  ] as const) {
    writeFileSync(join(home, name), `localhost:*:*:owner:${password.replace(':', '\\:')}\n`);
    chmodSync(join(home, name), mode);
  }
}, 60_000);
afterAll(async () => {
  rmSync(home, { recursive: true });
  await server?.stop();
});

type Env = Readonly<Record<string, string>>;
const root = (): string => join(server.folder, 'cert.pem');
const alone = (): Env => ({
  PGHOST: 'localhost',
  PGPORT: String(server.port),
  PGUSER: 'owner',
  PGDATABASE: there.split('/')[1] ?? '',
});

const connections: readonly [what: string, make: () => Env, exitCode: number, message?: RegExp][] =
  [
    [
      'connects with percent-encoded special characters in the password',
      () => ({ SVCPAY_DATABASE_URL: `postgres://owner:${written}@${there}` }),
      0,
    ],
    [
      'connects through a socket folder instead of a host',
      () => ({
        SVCPAY_DATABASE_URL: `postgres://owner:${written}@${encodeURIComponent(server.folder)}:${there.split(':')[1]}`,
      }),
      0,
    ],
    [
      'connects with the password in PGPASSWORD',
      () => ({ SVCPAY_DATABASE_URL: `postgres://owner@${there}`, PGPASSWORD: password }),
      0,
    ],
    [
      'connects with PG variables only',
      () => ({ SVCPAY_DATABASE_URL: 'postgres://', ...alone(), PGPASSWORD: password }),
      0,
    ],
    [
      'connects with the password in .pgpass',
      () => ({ SVCPAY_DATABASE_URL: `postgres://owner@${there}` }),
      0,
    ],
    [
      'connects with a trusted certificate',
      () => ({
        SVCPAY_DATABASE_URL: `postgres://owner@${there}?sslmode=verify-full&sslrootcert=${root()}`,
      }),
      0,
    ],
    [
      'connects with a trusted certificate in PGSSLROOTCERT',
      () => ({
        SVCPAY_DATABASE_URL: `postgres://owner@${there}`,
        PGSSLMODE: 'verify-full',
        PGSSLROOTCERT: root(),
      }),
      0,
    ],
    [
      'refuses an untrusted certificate',
      () => ({ SVCPAY_DATABASE_URL: `postgres://owner@${there}?sslmode=verify-full` }),
      2,
      /certificate/,
    ],
    [
      'refuses a certificate for another host',
      () => ({
        SVCPAY_DATABASE_URL: `postgres://owner@${there.replace('localhost', '127.0.0.1')}?sslmode=verify-full&sslrootcert=${root()}`,
        PGPASSWORD: password,
      }),
      2,
      /altnames/,
    ],
    [
      'exits 4 if the password is wrong',
      () => ({ SVCPAY_DATABASE_URL: `postgres://owner:wrong@${there}` }),
      4,
      /refuses the user or the password/,
    ],
    [
      'exits 4 if the password is missing',
      () => ({ SVCPAY_DATABASE_URL: `postgres://owner@${there}`, PGPASSFILE: join(home, 'none') }),
      4,
      /needs a password/,
    ],
    [
      'ignores a password file that others may read',
      () => ({ SVCPAY_DATABASE_URL: `postgres://owner@${there}`, PGPASSFILE: join(home, 'open') }),
      4,
      /needs a password/,
    ],
    [
      'refuses a password without percent-encoding',
      () => ({ SVCPAY_DATABASE_URL: `postgres://owner:${password}@${there}` }),
      2,
      /not the address/,
    ],
    [
      'refuses an address with several hosts',
      () => ({ SVCPAY_DATABASE_URL: `postgres://owner:${written}@localhost:1,${there}` }),
      2,
      /not the address/,
    ],
  ];

describe.skipIf(!hasPostgres).concurrent('the connection to a database', () => {
  test.each(connections)(
    'svcpay db status connects like a PostgreSQL client: it %s',
    async (_what, make, exitCode, message) => {
      const run = await svcpay(['db', 'status', '--json'], { home, env: make() });
      expect(run).toMatchObject({ exitCode });
      if (message === undefined) return expect(run.stderr).toBe('');
      expect(run.error().message).toMatch(message);
      expect(run.error().message).toContain('SVCPAY_DATABASE_URL');
      expect(run.stderr).not.toContain(password);
    },
  );
});
