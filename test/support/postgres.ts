// Starts PostgreSQL servers in temporary folders.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeCertificate } from './certificate.js';
import { findProgram, isInstalled } from './installed.js';

export const hasPostgres = isInstalled('initdb');
export const hasPgBouncer = hasPostgres && isInstalled('pgbouncer');

function program(name: string): string {
  const found = findProgram(name);
  if (found === undefined) throw new Error(`${name} is not installed.`);
  return found;
}

/** The user id for the server, because PostgreSQL refuses to run as root. */
const user = process.getuid?.() === 0 ? idOf('postgres') : undefined;

function idOf(name: string): number {
  return Number(spawnSync('id', ['-u', name], { encoding: 'utf8' }).stdout.trim());
}

const asUser = (file: string, args: readonly string[]): [string, string[]] =>
  user === undefined
    ? [file, [...args]]
    : ['setpriv', ['--reuid', String(user), '--clear-groups', file, ...args]];

function run(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string {
  const { status, stdout, stderr } = spawnSync(...asUser(file, args), {
    encoding: 'utf8',
    cwd: tmpdir(),
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw new Error(`${file} ended with ${status}: ${stderr}`);
  return stdout;
}

/** A PostgreSQL server, and the operations for which a connection to the server is enough. */
export interface Databases {
  readonly port: number;
  readonly folder: string;
  /** Creates an empty database and returns its address. */
  database(): string;
  /** Runs SQL as the superuser. */
  sql(text: string, database?: string): string;
  /** Starts a PgBouncer in transaction mode in front of the server. */
  pooler(): Promise<Pooler>;
  stop(): Promise<void>;
}

export interface PostgresServer extends Databases {
  /** Stops the server as a crash does, and starts the server again. */
  crash(): Promise<void>;
}

export interface Pooler {
  /** Returns the URL at which the pooler serves the database with the given URL. */
  readonly through: (url: string) => string;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface PostgresOptions {
  /** Whether commits wait for the disk, as in production. */
  readonly durable?: boolean;
  /**
   * The password of the owner of the databases. If set, the server also uses TLS with a certificate
   * for `localhost`.
   */
  readonly password?: string;
}

/** The longest time that a server may take to start, even on a busy machine. */
const startMs = 45_000;

export async function startPostgres({
  durable = false,
  password,
}: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-postgres-'));
  if (user !== undefined) chownSync(folder, user, -1);
  chmodSync(folder, 0o700);
  const data = join(folder, 'data');
  const port = await freePort();
  const keep = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const entry =
    password === undefined
      ? ['-A', 'trust']
      : ['-A', 'scram-sha-256', '--pwfile', keep('password', `${password}\n`)];
  run(program('initdb'), [
    '-D',
    data,
    '-U',
    'owner',
    ...entry,
    '-E',
    'UTF8',
    '--no-locale',
    '--no-sync',
  ]);
  const certificate = password === undefined ? undefined : makeCertificate(folder);
  if (certificate !== undefined) chmodSync(certificate.key, 0o600);
  if (certificate !== undefined && user !== undefined)
    for (const path of Object.values(certificate)) chownSync(path, user, -1);

  async function start(): Promise<ChildProcess> {
    const settings = [
      `fsync=${durable ? 'on' : 'off'}`,
      'max_connections=200',
      `unix_socket_directories=${folder}`,
      `shared_buffers=${durable ? 256 : 32}MB`,
    ];
    if (certificate !== undefined)
      settings.push(
        'ssl=on',
        `ssl_cert_file=${certificate.cert}`,
        `ssl_key_file=${certificate.key}`,
      );
    const args = [
      '-D',
      data,
      '-h',
      '127.0.0.1',
      '-p',
      String(port),
      ...settings.flatMap((each) => ['-c', each]),
    ];
    return ready(spawn(...asUser(program('postgres'), args), { stdio: 'ignore' }), port);
  }

  let server = await start();
  const databases = databasesAt({ port, folder, password });
  return {
    ...databases,
    async crash() {
      await ended(server, 'SIGQUIT');
      server = await start();
    },
    async stop() {
      await Promise.all([databases.stop(), ended(server, 'SIGQUIT')]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface ServerAddress extends Pick<Databases, 'port' | 'folder'> {
  readonly password?: string | undefined;
}

/**
 * Returns functions that run SQL and create databases and poolers on a running server. The function
 * `stop` stops only the poolers, not the server.
 */
export function databasesAt({ port, folder, password = '' }: ServerAddress): Databases {
  const poolers: ChildProcess[] = [];
  const psql = (text: string, database = 'postgres'): string =>
    run(
      program('psql'),
      [
        '-h',
        '127.0.0.1',
        '-p',
        String(port),
        '-U',
        'owner',
        '-d',
        database,
        '-qAt',
        '-v',
        'ON_ERROR_STOP=1',
        '-c',
        text,
      ],
      { PGPASSWORD: password },
    );
  return {
    port,
    folder,
    sql: psql,
    database() {
      const name = `db_${randomUUID().replaceAll('-', '')}`;
      psql(`CREATE DATABASE ${name}${copying(folder)}`);
      return `postgres://owner@127.0.0.1:${port}/${name}`;
    },
    async pooler() {
      const listen = await freePort();
      const settings = join(folder, `pooler-${listen}.ini`);
      // With the setting `auth_type = any`, every client of the pooler connects to the server as
      // the owner.
      const lines = [
        '[databases]',
        `* = host=127.0.0.1 port=${port} user=owner`,
        '[pgbouncer]',
        'listen_addr = 127.0.0.1',
        `listen_port = ${listen}`,
        'auth_type = any',
        'pool_mode = transaction',
        'default_pool_size = 4',
        'max_client_conn = 200',
        'unix_socket_dir =',
      ];
      writeFileSync(settings, lines.join('\n'));
      const child = spawn(...asUser(program('pgbouncer'), [settings]), {
        stdio: 'ignore',
      });
      poolers.push(child);
      await ready(child, listen);
      return { through: (url) => url.replace(`:${port}/`, `:${listen}/`) };
    },
    stop: async () => void (await Promise.all(poolers.map((each) => ended(each, 'SIGKILL')))),
  };
}

/**
 * Returns the SQL option that creates a database by copying files. Since PostgreSQL 15, the default
 * is to copy through the write-ahead log, which takes four times as long.
 */
const copying = (folder: string): string =>
  Number(readFileSync(join(folder, 'data/PG_VERSION'), 'utf8')) < 15 ? '' : ' STRATEGY file_copy';

/** Waits until the server accepts connections. */
async function ready(child: ChildProcess, port: number): Promise<ChildProcess> {
  const started = performance.now();
  while (spawnSync(program('pg_isready'), ['-h', '127.0.0.1', '-p', String(port)]).status !== 0) {
    if (child.exitCode !== null || performance.now() - started > startMs)
      throw new Error(`${child.spawnfile} did not start`);
    await delay(25);
  }
  return child;
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await over;
}
