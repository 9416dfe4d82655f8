// The rate keeper stores rates as those of a settlement only if they were read near the settlement.
import { expect, test } from 'vitest';
import type { Transaction } from '../../src/api/types.js';
import { rateKeeper } from '../../src/cli/service.js';
import type { SettlementRates } from '../../src/store/journal/records.js';

const minute = 60_000;
const settledAt = 1_000 * minute;

type Seen = readonly [state: string, minutes: number];

function txn(txnState: string): Transaction {
  const side = { ccy: 'BTC', method: 'servicepay', updatedAt: settledAt };
  return { txnId: 'txn-1', txnState, sourceReq: side, destReq: { ...side, method: 'on-chain' } };
}

/**
 * Resolves with the writes of a keeper that sees a state at each time, in minutes after the
 * settlement, and whose rate is that time plus 1,000.
 */
async function writes(...seen: readonly Seen[]): Promise<string[]> {
  const written: string[] = [];
  let now = 0;
  const write =
    (how: string) =>
    async (...[, , { rates, keptAt }]: Parameters<SettlementRates['keep']>): Promise<void> =>
      void written.push(`${how} ${rates['BTC']} of ${(keptAt - settledAt) / minute}`);
  const keeper = rateKeeper({
    fiat: 'USD',
    account: async () => ({
      client: {
        rates: async () => ({ BTCUSD: 1_000 + now }),
        serviceNow: () => settledAt + now * minute,
      },
      scope: 'one',
    }),
    rates: async () => ({
      keep: write('keep'),
      keepLate: write('late'),
      of: async () => new Map(),
    }),
    onClose: () => undefined,
  });
  for (const [state, minutes] of seen) {
    now = minutes;
    keeper.see(txn(state));
    await keeper.kept();
  }
  return written;
}

const cases: readonly (readonly [does: string, seen: readonly Seen[], written: string[]])[] = [
  ['stores rates that were read within a minute', [['completed', 1]], ['keep 1001 of 1']],
  [
    'uses the rates of the submission for a quick settlement',
    [
      ['destsent', -0.5],
      ['completed', 0.5],
    ],
    ['keep 999.5 of -0.5', 'keep 999.5 of -0.5'],
  ],
  [
    'reads the rates again for a slow settlement',
    [
      ['destsent', -60],
      ['completed', 0.5],
    ],
    ['keep 940 of -60', 'keep 1000.5 of 0.5'],
  ],
  ['marks the rates of a settlement that it sees late', [['completed', 59]], ['late 1059 of 59']],
  ['stores no rate an hour after the settlement', [['completed', 61]], []],
];

test.for(cases)('rateKeeper %s', async ([, seen, written]) => {
  expect(await writes(...seen)).toEqual(written);
});
