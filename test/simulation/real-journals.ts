// Real SQLite journals in a temporary folder, which are opened once and emptied between schedules.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import * as v from 'valibot';
import type { CheckedPayment, Journal } from '../../src/store/journal/journal.js';
import type { Payment } from '../../src/store/journal/payment.js';
import { openJournal, type SqliteJournalOptions } from '../../src/store/journal/sqlite-journal.js';

/** The functions of a schedule that its journal calls. */
type Around = Pick<SqliteJournalOptions, 'isAlive' | 'now'>;

export interface RealJournals {
  /** Opens the journal of the machine with this number. */
  open(machine: number, around: Around): Journal;
  read(machine: number, id: string): Promise<Payment | undefined>;
  check(machine: number): Promise<readonly CheckedPayment[]>;
  /** Deletes all rows of all journals. */
  empty(): void;
  close(): Promise<void>;
}

/**
 * Returns a folder in memory if the system has one, because no schedule simulates a power failure.
 */
export const parent = (): string => (existsSync('/dev/shm') ? '/dev/shm' : tmpdir());

export function openRealJournals(): RealJournals {
  const folder = mkdtempSync(join(parent(), 'svcpay-simulate-'));
  const pathOf = (machine: number): string => join(folder, `${machine}`, 'journal.db');
  const opened = new Map<number, Journal>();
  const present = new Map<number, Around>();
  return {
    open(machine, around) {
      present.set(machine, around);
      const known =
        opened.get(machine) ??
        openJournal({
          path: pathOf(machine),
          isAlive: (owner) => present.get(machine)?.isAlive(owner) === true,
          now: () => present.get(machine)?.now() ?? 0,
        });
      opened.set(machine, known);
      return known;
    },
    read: async (machine, id) => opened.get(machine)?.read(id),
    check: async (machine) => opened.get(machine)?.checked('', 0, 10_000) ?? [],
    empty() {
      for (const machine of opened.keys()) emptyFile(pathOf(machine));
    },
    async close() {
      for (const journal of opened.values()) await journal.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const tables = v.array(v.object({ name: v.string() }));

function emptyFile(path: string): void {
  const db = new Database(path);
  const found = v.parse(
    tables,
    db
      .prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
      .all(),
  );
  for (const { name } of found) db.exec(`DELETE FROM "${name}"`);
  db.close();
}
