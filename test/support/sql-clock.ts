// Wraps a database so that it uses the clock of a test instead of the database's clock.
import {
  TimeFromNow,
  type Sql,
  type SqlDatabase,
  type SqlValue,
  type Statement,
} from '../../src/store/database/sql.js';

export function withClock<T extends SqlDatabase>(database: T, now: () => number): T {
  const plain = ([text, ...values]: Statement): Statement => [
    text,
    ...values.map((value): SqlValue =>
      value instanceof TimeFromNow ? now() + value.plusMs : value,
    ),
  ];
  const timed = (sql: Sql): Sql => ({
    ...sql,
    now: async () => now(),
    all: (...statement) => sql.all(...plain(statement)),
    run: (...statement) => sql.run(...plain(statement)),
    whileLocked: (name, ...statement) => sql.whileLocked(name, ...plain(statement)),
    last: (...statements) => sql.last(...statements.map(plain)),
  });
  return {
    ...database,
    transaction: (action, options) => database.transaction((sql) => action(timed(sql)), options),
    read: (action) => database.read((sql) => action(timed(sql))),
  };
}
