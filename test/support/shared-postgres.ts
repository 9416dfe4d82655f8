// The PostgreSQL server of all tests, each with databases of its own. Who lets it crash, or wants another one, starts it alone.
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import * as v from 'valibot';
import { databasesAt, type Databases } from './postgres.js';

const serverSchema = v.object({ port: v.number(), folder: v.string() });

export async function sharedPostgres(): Promise<Databases> {
  const told: unknown = JSON.parse(await text(connect(inject('databaseDoor'), '127.0.0.1')));
  if (!v.is(serverSchema, told)) throw new Error(`There is no PostgreSQL server: ${JSON.stringify(told)}`);
  return databasesAt(told);
}
