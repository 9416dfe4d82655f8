// One machine of the bench: machine.mjs BUNDLE URL MODE SECONDS. Prints how many payments it has journalled, or, bare, how
// often it has made the commits of one.
import { createRequire } from 'node:module';

const [bundle, url, mode, seconds] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const { openJournalAt, pg } = require(bundle);
let count = 0;

/** All begin at once, when each has opened what it needs and has done all of it once. */
async function begun() {
  process.stdout.write('ready\n');
  await new Promise((go) => process.stdin.once('data', go));
  return performance.now() + Number(seconds) * 1000;
}

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

const [once, close] = mode === 'journal' ? await journalled() : await bare();
await once(`${process.pid}-first`);
for (const until = await begun(); performance.now() < until; count += 1) await once(`${process.pid}-${count}`);
await close();
process.stdin.destroy();
process.stdout.write(String(count));

async function journalled() {
  const journal = await openJournalAt(url);
  return [(id) => pay(journal, id), () => journal.close()];
}

async function bare() {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const commits = async (id) => {
    for (const statement of [insert, ...updates]) {
      await client.query('BEGIN');
      await client.query(statement, [`bare-${id}`]);
      await client.query('COMMIT');
    }
  };
  return [commits, () => client.end()];
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
