// The real journal of the program, in files of a temporary folder: opened once, emptied between
// schedules.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import * as v from 'valibot';
import type { Journal } from '../../src/store/journal/journal.js';
import type { Payment } from '../../src/store/journal/payment.js';
import { openJournal, type SqliteJournalOptions } from '../../src/store/journal/sqlite-journal.js';

/** What a journal is told of its schedule. */
type Around = Pick<SqliteJournalOptions, 'isAlive' | 'now'>;

export interface RealJournals {
  /** The journal of a machine, by its number. */
  open(machine: number, around: Around): Journal;
  read(machine: number, id: string): Promise<Payment | undefined>;
  /** Takes everything out of all of them. */
  empty(): void;
  close(): Promise<void>;
}

/**
 * In memory where the system has a folder for that: what a schedule needs of a disk is that a
 * process can lose it.
 */
const parent = (): string => (existsSync('/dev/shm') ? '/dev/shm' : tmpdir());

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
