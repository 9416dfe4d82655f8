// Connects a test to the shared PostgreSQL server, with separate databases for each test. A test
// that crashes a PostgreSQL server must start a private server instead.
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, inject } from 'vitest';
import * as v from 'valibot';
import { databasesAt, hasPostgres, type Databases } from './postgres.js';

const serverSchema = v.object({ port: v.number(), folder: v.string() });

export async function sharedPostgres(): Promise<Databases> {
  const answer: unknown = JSON.parse(await text(connect(inject('databaseDoor'), '127.0.0.1')));
  if (!v.is(serverSchema, answer))
    throw new Error(`There is no PostgreSQL server: ${JSON.stringify(answer)}`);
  return databasesAt(answer);
}

/**
 * Connects all tests of a file to the shared server. On a machine without PostgreSQL, the test file
 * must skip its tests.
 */
export function usingPostgres(): () => Databases {
  let server: Databases | undefined;
  beforeAll(async () => {
    if (hasPostgres) server = await sharedPostgres();
  }, 60_000);
  afterAll(() => server?.stop());
  return () => {
    if (server === undefined) throw new Error('This test needs PostgreSQL.');
    return server;
  };
}
