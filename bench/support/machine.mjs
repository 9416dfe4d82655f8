// One machine of the bench: machine.mjs BUNDLE URL MODE SECONDS. Prints how many payments it has journalled, or, bare, how
// often it has made the commits of one.
import { createRequire } from 'node:module';

const [bundle, url, mode, seconds] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const { openJournalAt, pg } = require(bundle);
let count = 0;
/** From when all is open. */
const end = () => performance.now() + Number(seconds) * 1000;

/** The transactions that a payment makes: it is begun, claimed, quoted, let go, confirmed, ended and given back. */
const commits = 7;

if (mode === 'journal') {
  const journal = await openJournalAt(url);
  await pay(journal, `${process.pid}-first`);
  for (const until = end(); performance.now() < until; ) {
    await pay(journal, `${process.pid}-${count}`);
    count += 1;
  }
  await journal.close();
} else {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const until = end(); performance.now() < until; ) {
    const id = `${process.pid}-${count}`;
    await client.query('BEGIN');
    await client.query('INSERT INTO bare (id, a, b) VALUES ($1, $2, $3)', [id, id.repeat(20), 0]);
    await client.query('COMMIT');
    for (let turn = 1; turn < commits; turn += 1) {
      await client.query('BEGIN');
      await client.query('UPDATE bare SET b = $2 WHERE id = $1 RETURNING *', [id, turn]);
      await client.query('COMMIT');
    }
    count += 1;
  }
  await client.end();
}
process.stdout.write(String(count));

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
