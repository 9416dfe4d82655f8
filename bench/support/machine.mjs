// Acts as one machine of the benchmark machines.mjs. Usage: machine.mjs BUNDLE URL SECONDS. For
// each line `journal` on stdin, writes payments to the journal for SECONDS seconds, and prints the
// number of payments. For each line `bare` on stdin, repeats the commits of one payment in plain
// SQL for SECONDS seconds, and prints the number of repetitions.
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [bundle, url, seconds] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const { openJournalAt, pg } = require(bundle);
const warmUp = 30;

/**
 * The database transactions of a whole payment command: list unfinished payments, find the
 * reference, begin, quote, submit, accept, send, complete, release.
 */
const attempt = (set) => `, a AS (UPDATE svcpay.attempts SET ${set} WHERE payment_id = $1)`;
const statements = [
  `WITH p AS (INSERT INTO svcpay.payments (id, scope, account, ref, ref_alike, kind, instruction, digest, idempotency_key, terms, opened_at, updated_at, owner, lease_until, fence)
    VALUES ($1, 'ne01', 'ne01', $1, $1, 'send lightning', '{}', $1, 'bolt11:' || $1, '{}', 1, 1, 'bench', 1, 1) RETURNING *),
    a AS (INSERT INTO svcpay.attempts (payment_id, number, account, request, state, outcome)
      SELECT id, 1, account, '{}', 'requested', 'requested' FROM p)`,
  ...[
    [2, `state = 'quoted', txn_id = $1, txn_state = 'quoted'`],
    [3, `state = 'submitting', approved_total = '0.00001', spend_ccy = 'BTC', submitted_at = 3`],
    [4, `state = 'in-flight', txn_state = 'srccreated'`],
    [5, `state = 'in-flight', txn_state = 'destsent'`],
    [6, `state = 'paid', txn_state = 'completed'`],
  ].map(
    ([at, set]) =>
      `WITH p AS (UPDATE svcpay.payments SET updated_at = ${at} WHERE id = $1 RETURNING *)${attempt(set)}`,
  ),
  `WITH p AS (UPDATE svcpay.payments SET owner = NULL, lease_until = 0, unfinished = 0 WHERE id = $1 RETURNING *)`,
]
  .map((text) => `${text} SELECT * FROM p`)
  .concat(Array(2).fill('SELECT * FROM svcpay.payments WHERE id = $1'));

const journal = await openJournalAt(url);
const client = new pg.Client({ connectionString: url });
await client.connect();
const modes = { journal: (id) => pay(journal, id), bare };
for (const once of Object.values(modes))
  for (let turn = 0; turn < warmUp; turn += 1) await once(randomUUID());
process.stdout.write('ready\n');
for await (const mode of createInterface({ input: process.stdin })) {
  let count = 0;
  for (
    const until = performance.now() + Number(seconds) * 1000;
    performance.now() < until;
    count += 1
  )
    await modes[mode](randomUUID());
  process.stdout.write(`${count}\n`);
}
await client.end();
await journal.close();

async function bare(id) {
  for (const statement of statements) {
    await client.query('BEGIN');
    await client.query(statement, [id]);
    await client.query('COMMIT');
  }
}

async function pay(journal, id) {
  const draft = {
    id,
    scope: 'ne01',
    account: 'ne01',
    ref: id,
    kind: 'send lightning',
    request: '{}',
    instruction: '{}',
    digest: id,
    idempotencyKey: `bolt11:${id}`,
    terms: {},
  };
  await journal.open(draft.scope);
  await journal.find(draft.scope, id);
  let { claim } = await journal.begin(draft, 'bench 1 x');
  const moved = (change) => ({ attempt: { ...claim.payment.attempts[0], ...change } });
  claim = await journal.write(claim, moved({ state: 'quoted', txnId: id, txnState: 'quoted' }));
  const approved = moved({ state: 'submitting', approvedTotal: '0.00001', spendCcy: 'BTC' });
  claim = await journal.submit(claim, approved, undefined, () => undefined);
  claim = await journal.write(claim, moved({ state: 'in-flight', txnState: 'srccreated' }));
  claim = await journal.write(claim, moved({ state: 'in-flight', txnState: 'destsent' }));
  claim = await journal.write(claim, moved({ state: 'paid', txnState: 'completed' }));
  await journal.release(claim);
}
