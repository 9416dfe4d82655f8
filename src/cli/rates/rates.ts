// Shows exchange rates (endpoint 16, which the specification names but does not describe).
import { ServiceError } from '../../api/errors.js';
import type { Rates } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { rateList } from '../../terminal/views/wallet-view.js';
import { allRates, findRate } from '../../wallet/quote/quote.js';
import { defineCommand, type Deps, list } from '../define.js';
import { text } from '../values.js';

export const rates = defineCommand({
  arguments: { pair: text('PAIR').optional().describe('only this pair, e.g. BTCUSD or BTC/USD') },
  examples: [
    ['svcpay rates', 'shows every pair that the service offers'],
    ['svcpay rates USD/BTC -q', 'prints one number, for a script'],
  ],
  async run({ pair }, { client, out }: Deps<'client' | 'out'>) {
    const rates = await (await client()).rates().catch(explain);
    const rows = pair === undefined ? allRates(rates) : [findRate(rates, pair)];
    const [{ from } = {}] = rows;
    if (from !== undefined) out.say(`The rate is computed from ${from}.`);
    return rows.map(({ pair, base, quote, rate }) => ({ pair, base, quote, rate }));
  },
  view: list(rateList),
});

function explain(error: unknown): Promise<Rates> {
  if (!(error instanceof ServiceError) || (error.status !== 404 && error.status !== 405))
    throw error;
  throw new Failure('not-found', 'This service does not publish rates.', {
    hint: 'A quote shows the rate and costs nothing',
    next: { do: 'run', command: 'swap 25usdt BTC --quote-only' },
    status: error.status,
    cause: error,
  });
}
