// Refusals of command lines, each with its sentence.
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { startAgent } from '../support/agent.js';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { test } from '../support/svcpay.js';

const uuid = '5f0c91ab-0000-4000-8000-000000000000';
const rowsFile = 'rows.csv';

/** The sentence, the command line, and the command lines that must succeed before. */
const refused: readonly (readonly [sentence: string, line: string, ...before: string[]])[] = [
  ['Name a command.', ''],
  ['"sats" is a unit of BTC. Write BTC for the currency.', 'wallets sats'],
  ['"2026-10-01" is not a month. Write 2026-10 or last.', 'fees 2026-10-01'],
  ['"Q1" is not a country code. Write two letters', 'config set sender.country Q1'],
  ['This is too long for a destination. Copy only the destination.', `decode ${'a'.repeat(9_000)}`],
  ['There is no contact and no payment to repeat yet.', 'again'],
  ['This home has no contact, payee or payment "zed".', 'again zed 1000sat --yes'],
  ['"ftp://x" is not a path.', 'api GET ftp://x'],
  ['"0.5" is not a factor. Write a number such as 1.5 or 2.', `batch ${rowsFile} --factor 0.5`],
  ['the results cannot be written to ', `batch ${rowsFile} --yes --result none/result.csv`],
  ['There is no file or batch run named "none".', 'batch status none'],
  ['"a/b" is not a name: use letters, digits, ".", "_" and "-".', 'budget show a/b'],
  ['Name one budget, or give --all.', 'budget start'],
  ['There is no budget "none".', 'budget show none'],
  ['"BTC" is not a national currency. Write a currency such as USD.', 'config set fiat BTC'],
  ['fiat is not set.', 'config get fiat'],
  [
    '"a.b" cannot be a contact\'s name: it looks like a destination.',
    'contacts add a.b ada@example.com',
  ],
  [
    '"!" cannot be a contact\'s name: use letters, digits and spaces.',
    'contacts add ! a@b.example',
  ],
  ['"zed" is not in your contacts.', 'contacts remove zed --yes'],
  ['No database is set up: the journal and the inbox are files of this home.', 'db upgrade'],
  [
    'No limit was set: --per-day was given twice for BTC.',
    'limits set --per-day 1btc --per-day 2btc',
  ],
  [
    'No limit was set: XYZ is not a currency, so the limit would never apply.',
    'limits set --per-day 1xyz',
  ],
  ['ada@example.com is not on the allow-list.', 'limits disallow ada@example.com --yes'],
  [
    '"x" is not a percentage. Write a percentage such as 2% or 0.5%.',
    'send ada@example.com 1000sat --max-rate-loss x',
  ],
  [
    '"wanjik" is not in your contacts. Did you mean wanjiku?',
    'send wanjik 1000sat --yes',
    'contacts add wanjiku ada@example.com',
  ],
  [`There is no proposal "${uuid}"`, `propose status ${uuid}`],
  ['Not proposed: the swap lacks to.', 'propose swap 25usdt --max-total 26usdt'],
  [
    'The QR code could not be written to none/qr.svg.',
    'receive lightning 1000sat --qr-file none/qr.svg --no-wait',
  ],
  [
    'Nothing was recorded: 2999-01-01 is in the future.',
    'statement adjust 1sat --on 2999-01-01 --yes',
  ],
  ['--on must be a day such as 2026-11-14.', 'statement adjust 1sat --on 2026-10 --yes'],
  [
    'Not closed: only whole months can be closed. Write a month such as 2026-10.',
    'statement close 2026-10-01',
  ],
  ['--from must not be later than --to.', 'statement --from 2026-11 --to 2026-10'],
  [
    'Give either --month, or --from and --to, not both.',
    'statement --month 2026-10 --from 2026-10',
  ],
  ['Choose a format: -o csv', 'tx export'],
  ['"smoke!" is not a method.', 'tx list --dest-method smoke!'],
  ['Nothing was noted: the text is empty.', 'tx note a '],
  ['Nothing was noted: the text is over 500 characters.', `tx note a ${'x'.repeat(501)}`],
  ['No transaction has the id or the reference "none".', 'tx get none'],
  ['No transaction has this invoice or payment hash.', `tx get ${'0'.repeat(64)}`],
  ['Nothing was recorded: --note is empty.', 'tx resolve a --moved --note  --yes'],
  [
    'This journal has no payment with the id or reference "a".',
    'tx resolve a --moved --note x --yes',
  ],
  ['Name the payment to retry.', 'tx resume --retry'],
  ['There is no consumer "none".', 'webhook consumers remove none --yes'],
  ['Name the events by number, or with --since DURATION.', 'webhook replay'],
  [
    'This home has no event with the number or transaction id "7".',
    'webhook replay 7 --to http://127.0.0.1:1',
  ],
  ['Nothing to change.', 'webhook update some-id'],
  [
    '"a/b" cannot be a profile\'s name: use letters, digits, dots and dashes.',
    'login --profile a/b',
  ],
  [
    '"x_y" cannot be the name of a header: use letters, digits and dashes.',
    'config set signature-header x_y',
  ],
  ['"moon" is not a network: use ', 'config set network moon'],
  [
    'Only the owner may do this, and this run belongs to the budget agent.',
    'limits clear --budget agent',
  ],
  [
    'svcpay cannot listen on address 203.0.113.1, port ',
    'webhook listen --host 203.0.113.1 --port 0',
  ],
  [
    'The ready file none/ready.json cannot be written.',
    'webhook listen --port 0 --ready-file none/ready.json',
  ],
  [
    'The contact already names the account. Remove --acct-num',
    'payout lea 500000vnd --acct-num 1 --yes',
    'contacts add lea --country VN --institution 970436 --acct-num 0123456789 --acct-name Le --recipient-type individual --recipient-name Le --recipient-country VN',
  ],
  ['Nothing was written: ', 'statement accounts init', 'statement accounts init'],
  [' cannot be written.', 'batch receipts rows.csv --folder /dev/null/x', 'batch rows.csv --yes'],
  [
    'This transaction has nothing left to pay, so there is no QR code.',
    'tx get a --qr-file a.svg',
    'send ada@example.com 1000sat --ref a --yes',
  ],
  ['Unfinished: a', 'tx pending --fail', 'send ada@example.com 1000sat --ref a --yes --no-wait'],
  [' is named "none".', 'proposals show none'],
];

test.for(refused)('svcpay refuses: %s', async ([sentence, line, ...before], { around }) => {
  writeFileSync(join(around.home, rowsFile), 'to,amount\nada@example.com,1000sat\n');
  const words = (text: string): string[] =>
    text === ''
      ? []
      : text.split(' ').map((word) => (word === rowsFile ? join(around.home, rowsFile) : word));
  for (const each of before)
    expect(await svcpay(words(each), around)).toMatchObject({ exitCode: 0 });
  const run = await svcpay(words(line), around);
  expect(run.exitCode).not.toBe(0);
  expect(run.stderr).toContain(sentence);
});

test('svcpay proposals names why a proposal cannot be paid or refused', async ({ around }) => {
  const outbox = join(around.home, 'outbox');
  const run = (line: string) => svcpay([...line.split(' '), '--outbox', outbox], around);
  const propose = 'propose send ada@example.com 1000sat --max-total 2000sat';
  const other = (await run(`${propose} --account ne99-1 -q`)).stdout.trim();
  expect((await run(`proposals pay ${other} --yes --digest ${other}`)).stderr).toContain(
    'it is for the account ne99-1',
  );
  expect((await run(`proposals refuse ${other}`)).stderr).toContain(
    'Not refused: the proposal is void.',
  );
  const [file = ''] = readdirSync(outbox);
  writeFileSync(join(outbox, file.replace(other, 'a'.repeat(64))), 'x'.repeat(600_000));
  const large = await run(`proposals pay ${'a'.repeat(64)} --yes --digest ${'a'.repeat(64)}`);
  expect(large.stderr).toContain('it is not a plain file of at most 512 KiB in UTF-8');
  const rows = join(around.home, rowsFile);
  writeFileSync(rows, 'to,amount\nada@example.com,1000sat\n');
  const batch = (await run(`propose batch ${rows} --max-total 2000sat -q`)).stdout.trim();
  const one = (await run(`${propose} -q`)).stdout.trim();
  const paid = await svcpayTty(['proposals', 'pay', batch, one, '--outbox', outbox], around);
  await paid.ended;
  expect(paid.text()).toContain('the proposal of a batch must be paid alone.');
});

test('svcpay mcp refuses a reference and a fee limit that do not fit the payment', async ({
  around,
}) => {
  expect(await svcpay(['limits', 'set', '--per-day', '500000sat'], around)).toMatchObject({
    exitCode: 0,
  });
  const asked = { destination: 'ada@example.com', amount: '1000sat' };
  const percent = await startAgent(['--allow-payments', '--max-fee', '1%'], around);
  const { content: quote } = await percent.call('quote', { ...asked, ref: 'own' });
  const pay = async (given: object) =>
    (await percent.call('pay', { ...given })).content.error?.message;
  expect(await pay({ txnId: quote['txnId'], ref: 'other' })).toBe(
    'Not called: ref is other, but the reference of this quote is own. Omit ref.',
  );
  expect(await pay({ ...asked, ref: 'a', maxFee: '5sat' })).toBe(
    "Not sent: maxFee must be a percentage, as the server's fee limit.",
  );
  await percent.close();
  const usdt = await startAgent(['--allow-payments', '--max-fee', '1usdt'], around);
  const refusedFee = await usdt.call('pay', { ...asked, ref: 'b' });
  expect(refusedFee.content.error?.message).toBe(
    "Not sent: this server's fee limit is 1usdt, but the payment's fees are in BTC.",
  );
});

test('svcpay refuses a port in use, a server that is no sandbox, and an unreachable receiver', async ({
  around,
}) => {
  const server = createServer((_request, response) => response.end('{}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const run = (line: string, env = {}) =>
    svcpay(line.split(' '), { ...around, env: { ...around.env, ...env } });
  for (const command of ['webhook listen', 'sandbox start'])
    expect((await run(`${command} --port ${port}`)).stderr).toContain(`Port ${port} is in use.`);
  const other = { SVCPAY_BASE_URL: `http://127.0.0.1:${port}` };
  expect((await run('sandbox fault list', other)).stderr).toContain(
    `The server at http://127.0.0.1:${port} is not a sandbox.`,
  );
  const secret = { SVCPAY_WEBHOOK_SECRET: 'a'.repeat(40) };
  expect((await run('webhook trigger completed --to http://127.0.0.1:1', secret)).stderr).toContain(
    'The event did not reach http://127.0.0.1:1',
  );
});
