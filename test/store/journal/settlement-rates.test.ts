// A rate at settlement replaces the rate at submission, and no later rate replaces the rate at
// settlement. Each account reads only its own stored exchange rates.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sqliteDatabase } from '../../../src/store/database/sqlite-database.js';
import { settlementRates } from '../../../src/store/journal/records.js';
import { journalIn } from '../../../src/store/journal/schema.js';

test('settlementRates stores the exact rates of a transaction once per account', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-rates-'));
  const database = sqliteDatabase(journalIn(join(folder, 'journal.db')), () => 0);
  const rates = settlementRates(database);
  onTestFinished(async () => {
    await database.close();
    rmSync(folder, { recursive: true });
  });
  const first = {
    keptAt: 1,
    settledAt: 5,
    fiat: 'USD',
    rates: { BTC: '70796.845', USDT: '1.000000000001' },
  };
  const later = { keptAt: 2, settledAt: 6, fiat: 'EUR', rates: { BTC: '1' } };
  await rates.keep('one', 'a', first);
  await rates.keep('one', 'a', later);
  await rates.keepLate('one', 'a', later);
  await rates.keep('other', 'b', first);
  expect([...(await rates.of('one', ['a', 'b', 'c']))]).toEqual([['a', first]]);
  expect((await rates.of('one', [])).size).toBe(0);

  const submitted = { ...first, settledAt: null };
  await rates.keep('one', 'seen', submitted);
  await rates.keep('one', 'seen', submitted);
  await rates.keep('one', 'seen', later);
  await rates.keep('one', 'late', submitted);
  await rates.keepLate('one', 'late', later);
  await rates.keepLate('one', 'only late', later);
  expect([...(await rates.of('one', ['late', 'only late', 'seen']))]).toEqual([
    ['late', { ...first, settledAt: 6 }],
    ['only late', later],
    ['seen', later],
  ]);
});
