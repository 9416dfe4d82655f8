// SQL as usual, with the clock of a test in place of the database's own.
import {
  Present,
  type Sql,
  type SqlDatabase,
  type SqlValue,
} from '../../src/store/database/sql.js';

export function withClock<T extends SqlDatabase>(database: T, now: () => number): T {
  const plain = (values: readonly SqlValue[]) =>
    values.map((value) => (value instanceof Present ? now() + value.plusMs : value));
  const timed = (sql: Sql): Sql => ({
    ...sql,
    now: async () => now(),
    all: (text, ...values) => sql.all(text, ...plain(values)),
    final: (text, ...values) => sql.final(text, ...plain(values)),
    run: (text, ...values) => sql.run(text, ...plain(values)),
  });
  return {
    ...database,
    transaction: (action, options) => database.transaction((sql) => action(timed(sql)), options),
  };
}
