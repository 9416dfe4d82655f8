// Sorts the movements of the wallets in a temporary database, so that memory use stays constant.
import * as v from 'valibot';
import { always, type Span } from '../../formats/calendar.js';
import { openScratch } from '../../store/files/scratch.js';
import { readCandidate, readMovement, type Candidate, type Movement } from './movement.js';

export interface BookRows {
  /** Replaces the rows of transactions by the given rows. */
  replace(
    txnIds: readonly string[],
    movements: readonly Movement[],
    candidates?: readonly Candidate[],
  ): void;
  /** Whether a page of the service's list contained the transaction. */
  has(txnId: string): boolean;
  /** The sorted currencies of all movements. */
  currencies(): readonly string[];
  /** The movements of a wallet, or of all wallets, oldest first. */
  movements(ccy: string | undefined, span?: Span): Iterable<Movement>;
  movement(ccy: string, txnId: string): Movement | undefined;
  candidates(ccy: string): readonly Candidate[];
  close(): void;
}

const tables = `
  CREATE TABLE seen (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE movements (ccy TEXT, at INTEGER, id TEXT, data TEXT, PRIMARY KEY (ccy, at, id))
    STRICT, WITHOUT ROWID;
  CREATE INDEX movements_id ON movements (id);
  CREATE TABLE candidates (id TEXT, ccy TEXT, data TEXT, PRIMARY KEY (id, ccy))
    STRICT, WITHOUT ROWID;`;

const dataRow = v.object({ data: v.string() });
const ccyRow = v.object({ ccy: v.string() });

export function openBookRows(): BookRows {
  const db = openScratch(tables);
  const read = <T>(rows: Iterable<unknown>, as: (text: string) => T): Iterable<T> =>
    (function* () {
      for (const row of rows) yield as(v.parse(dataRow, row).data);
    })();
  return {
    replace: (txnIds, movements, candidates = []) =>
      db.together(() => {
        for (const txnId of txnIds) {
          db.run('INSERT OR IGNORE INTO seen VALUES (?)', txnId);
          db.run('DELETE FROM movements WHERE id = ?', txnId);
          db.run('DELETE FROM candidates WHERE id = ?', txnId);
        }
        for (const each of movements) {
          const { ccy, at, txnId, reference } = each;
          const id = txnId ?? reference ?? '';
          const data = JSON.stringify(each);
          db.run('INSERT OR REPLACE INTO movements VALUES (?, ?, ?, ?)', ccy, at, id, data);
        }
        for (const each of candidates) {
          const [{ ccy, txnId }, data] = [each, JSON.stringify(each)];
          db.run('INSERT OR REPLACE INTO candidates VALUES (?, ?, ?)', txnId, ccy, data);
        }
      }),
    has: (txnId) => db.first('SELECT 1 FROM seen WHERE id = ?', txnId) !== undefined,
    currencies: () =>
      [...db.each('SELECT DISTINCT ccy FROM movements ORDER BY ccy')].map(
        (row) => v.parse(ccyRow, row).ccy,
      ),
    movements: (ccy, { first, end } = always) =>
      read(
        ccy === undefined
          ? db.each(
              'SELECT data FROM movements WHERE at >= ? AND at < ? ORDER BY at, id, ccy',
              first,
              end,
            )
          : db.each(
              'SELECT data FROM movements WHERE ccy = ? AND at >= ? AND at < ? ORDER BY at, id',
              ccy,
              first,
              end,
            ),
        readMovement,
      ),
    movement: (ccy, txnId) => {
      const row = db.first('SELECT data FROM movements WHERE id = ? AND ccy = ?', txnId, ccy);
      return row === undefined ? undefined : readMovement(v.parse(dataRow, row).data);
    },
    candidates: (ccy) => [
      ...read(db.each('SELECT data FROM candidates WHERE ccy = ? ORDER BY id', ccy), readCandidate),
    ],
    close: () => db.close(),
  };
}
