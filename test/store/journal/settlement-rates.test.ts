// The table of rates kept at settlement: the first rate stays, and accounts do not see each other's.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sqliteDatabase } from '../../../src/store/database/sqlite-database.js';
import { settlementRates } from '../../../src/store/journal/settlement-rates.js';
import { journalIn } from '../../../src/store/journal/sqlite-journal.js';

test('a rate is stored once, exactly, and found by its account', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-rates-'));
  const rates = settlementRates(sqliteDatabase(journalIn(join(folder, 'journal.db')), () => 0));
  onTestFinished(async () => {
    await rates.close();
    rmSync(folder, { recursive: true });
  });
  const first = { keptAt: 1, fiat: 'USD', rates: { BTC: '70796.845', USDT: '1.000000000001' } };
  await rates.keep('one', 'a', first);
  await rates.keep('one', 'a', { keptAt: 2, fiat: 'EUR', rates: { BTC: '1' } });
  await rates.keep('other', 'b', first);
  expect([...(await rates.of('one', ['a', 'b', 'c']))]).toEqual([['a', first]]);
  expect((await rates.of('one', [])).size).toBe(0);
});
