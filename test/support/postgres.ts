// A PostgreSQL server in a temporary folder.
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

/** A server does not run as root. */
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

/** A server, and what is done with it over the network. */
export interface Databases {
  readonly port: number;
  readonly folder: string;
  /** Address of a new empty database. */
  database(): string;
  /** Runs SQL as the owner of everything. */
  sql(text: string, database?: string): string;
  /** A pooler in transaction mode before it. */
  pooler(): Promise<Pooler>;
  stop(): Promise<void>;
}

export interface PostgresServer extends Databases {
  /** Ends it as a crash would, and starts it again. */
  crash(): Promise<void>;
}

export interface Pooler {
  /** The address of a database, by way of the pooler. */
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
  /** Commits wait for the disk, as where money is real. */
  readonly durable?: boolean;
  /** It asks the owner for this password, and encrypts with a certificate for `localhost`. */
  readonly password?: string;
}

/** Longer than it takes on a busy machine. */
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
 * The databases of a server that is up; `stop` ends the poolers before it and leaves the server
 * alone.
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
      // With `any`, every client is this user at the server.
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
 * A new database is copied as files: through the log, as is usual since version 15, it costs four
 * times as much.
 */
const copying = (folder: string): string =>
  Number(readFileSync(join(folder, 'data/PG_VERSION'), 'utf8')) < 15 ? '' : ' STRATEGY file_copy';

/** Waits until it takes connections. */
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
