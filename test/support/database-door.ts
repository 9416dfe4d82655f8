// Before all tests, opens a socket from which tests read the port of the shared PostgreSQL server.
// The first connection to the socket starts PostgreSQL.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import type { PostgresServer } from './postgres.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The port of a socket that sends the server's port and folder as JSON to each client. */
    readonly databaseDoor: number;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: Promise<PostgresServer> | undefined;
  const door = createServer((asking) => {
    // PostgreSQL starts on demand, so a missing PostgreSQL affects only the tests that need it.
    started ??= import('./postgres.js').then(({ startPostgres }) => startPostgres());
    started.then(
      ({ port, folder }) => asking.end(JSON.stringify({ port, folder })),
      (error: unknown) => asking.end(JSON.stringify({ error: String(error) })),
    );
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  const { port } = door.address() as AddressInfo;
  project.provide('databaseDoor', port);
  return async () => {
    door.close();
    await (await started)?.stop();
  };
}
