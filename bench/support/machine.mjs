// One machine of the bench: machine.mjs BUNDLE URL SECONDS. Asked for `journal` it tells how many payments it has journalled,
// asked for `bare` how often it has made the commits of one, each for so many seconds.
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [bundle, url, seconds] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const { openJournalAt, pg } = require(bundle);
const warmUp = 30;

/** What a payment writes: it is begun, claimed, quoted, let go, confirmed, ended and given back, a transaction each. */
const insert = `INSERT INTO svcpay.intents (id, scope, account, ref, kind, request, fingerprint, once_key, terms, consent, opened_at, updated_at)
  VALUES ($1, 'https://pay.example ne01', 'ne01', $1, 'send lightning', '{}', $1, 'bolt11:' || $1, '{}', 'standing', 1, 1) RETURNING *`;
const updates = [
  `owner = 'bench', lease_until = 1, fence = 1`,
  `step = 'created', txn_id = $1, txn_state = 'quoted', updated_at = 2`,
  `step = 'confirming', approved_total = '0.00001', spend_ccy = 'BTC', approved_at = 3, updated_at = 3`,
  `step = 'confirmed', txn_state = 'srccreated', updated_at = 4`,
  `step = 'final', txn_state = 'completed', updated_at = 5`,
  `owner = NULL, lease_until = 0`,
].map((set) => `UPDATE svcpay.intents SET ${set} WHERE id = $1 RETURNING *`);

const journal = await openJournalAt(url);
const client = new pg.Client({ connectionString: url });
await client.connect();
const modes = { journal: (id) => pay(journal, id), bare };
for (const once of Object.values(modes)) for (let turn = 0; turn < warmUp; turn += 1) await once(randomUUID());
process.stdout.write('ready\n');
for await (const mode of createInterface({ input: process.stdin })) {
  let count = 0;
  for (const until = performance.now() + Number(seconds) * 1000; performance.now() < until; count += 1) await modes[mode](randomUUID());
  process.stdout.write(`${count}\n`);
}
await client.end();
await journal.close();

async function bare(id) {
  for (const statement of [insert, ...updates]) {
    await client.query('BEGIN');
    await client.query(statement, [id]);
    await client.query('COMMIT');
  }
}

async function pay(journal, id) {
  const draft = {
    id, scope: 'https://pay.example ne01', account: 'ne01', ref: id, kind: 'send lightning', request: '{}', fingerprint: id,
    onceKey: `bolt11:${id}`, terms: {}, consent: 'standing',
  };
  const { intent } = await journal.begin(draft);
  let claim = await journal.claim(intent.id, 'bench 1 x');
  claim = await journal.write(claim, { step: 'created', txnId: id, txnState: 'quoted' });
  const now = Date.now();
  const change = { step: 'confirming', approvedTotal: '0.00001', spendCcy: 'BTC' };
  claim = await journal.spend(claim, { ...change, approvedAt: now }, { lengthMs: 1, earliest: now, latest: now }, () => undefined);
  claim = await journal.write(claim, { step: 'confirmed', txnState: 'srccreated' });
  claim = await journal.write(claim, { step: 'final', txnState: 'completed' });
  await journal.release(claim);
}
