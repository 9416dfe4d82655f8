// svcpay batch checks the whole file before it sends a request, and pays each row once whatever
// happens during the run.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { describe, expect } from 'vitest';
import { encodeLnurl, parseLightningAddress, payUrl } from '../../src/formats/destination.js';
import { batchFile, lightningRows, outcomes, paidReferences } from '../support/batch.js';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { createRequests } from '../support/orders.js';
import { startSvcpay, test } from '../support/svcpay.js';
import { until } from '../support/until.js';

interface Service {
  requests(method: string): readonly { readonly path: string }[];
}

const confirmations = (sandbox: Service): unknown[] =>
  sandbox.requests('PUT').filter(({ path }) => path.endsWith('/confirm'));

/** Resolves when the service has received this many confirmations. */
const confirmed = (sandbox: Service, count: number): Promise<void> =>
  until(() => confirmations(sandbox).length >= count);

interface Cost {
  readonly total: number;
  readonly fees: number;
}

/** Makes the service answer the second and later create requests with this status. */
const failingFromSecond = (status: number): string[] =>
  `sandbox fault add status status=${status} method=POST path=**/transaction nth=2 times=9`.split(
    ' ',
  );

describe('svcpay batch', () => {
  test('refuses a Lightning Address and its LNURL in one file as a duplicate row', async ({
    around,
  }) => {
    const lnurl = encodeLnurl(payUrl(parseLightningAddress('ada@example.com')));
    const file = batchFile(
      around.home,
      ['a,ada@example.com,1000sat', `b,${lnurl},1000sat`],
      'ref,to,amount',
    );
    const run = await svcpay(['batch', file, '--yes'], around);
    expect(run).toMatchObject({ exitCode: 2 });
    expect(run.stderr).toMatch(/Nothing was sent: line 3: .*duplicate row, line 2/);
    expect(confirmations(around.sandbox)).toHaveLength(0);
  });

  test('pays every kind of send and a payout, and writes each outcome to the result file', async ({
    around,
  }) => {
    const { home, sandbox } = around;
    const parties =
      'recipient_type,recipient_name,recipient_country,sender_type,sender_name,sender_country';
    const head = `ref,to,amount,currency,note,method,institution,acct_num,acct_name,${parties},purpose,source,relationship`;
    const none = ','.repeat(13);
    const file = batchFile(
      home,
      [
        `a,${await sandbox.invoice('1000sat')},,,${none}`,
        `b,satoshi@example.com,0.00002,BTC,"for ""b"", twice"${none}`,
        `c,bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq,0.0001btc,,${none}`,
        `d,TJRabPrwbZy45sbavfcjinPJC18kjpRTv8,25,usdt,${none}`,
        `e,,500000,VND,,vnd-instant,970436,0123456789,Le Van A,individual,Le Van A,VN,individual,Jane Doe,CA,1,1,1`,
      ],
      head,
    );
    const run = await svcpay(['batch', file, '--yes', '--json'], around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({
      rows: 5,
      paid: 2,
      inFlight: 3,
      failed: 0,
      unknown: 0,
      notBegun: 0,
    });
    expect(outcomes(file)).toEqual({
      a: 'paid',
      b: 'paid',
      c: 'in-flight',
      d: 'in-flight',
      e: 'in-flight',
    });
    expect(await paidReferences(around)).toEqual(['a', 'b', 'c', 'd', 'e']);
    const bodies = sandbox
      .requests('POST', '/api/v2/transaction')
      .map(({ requestBody }) => requestBody);
    expect(bodies).toContainEqual(expect.stringContaining(JSON.stringify('for "b", twice')));
  });

  test('reports the errors of all rows with their line numbers and pays no row', async ({
    around,
  }) => {
    const invoice = await around.sandbox.invoice('1000sat');
    const file = batchFile(around.home, [
      `a,${invoice},,,`,
      `b,${invoice.slice(0, -1)}${invoice.endsWith('q') ? 'p' : 'q'},,,`,
      'a,satoshi@example.com,1000sat,,',
      'c,satoshi@example.com,1000,,',
      'd,satoshi@example.com,0.000000001btc,,',
      ',satoshi@example.com,7sat,,',
      ',satoshi@example.com,7,sat,the same again',
      'e,,1000sat,,',
      'f,satoshi@example.com,1000sat',
      `g,${invoice},,,`,
      'h~2,satoshi@example.com,1000sat,,',
    ]);
    const run = await svcpay(['batch', file, '--yes', '--json'], around);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr.split('\n').map((line) => line.split(':')[0])).toEqual([
      'Line 3, to',
      'Line 4, ref',
      'Line 5, amount',
      'Line 6, amount',
      'Line 8, ref',
      'Line 9, to',
      'Line 10',
      'Line 11, to',
      'Line 12, ref',
      '{"error"',
      '',
    ]);
    expect(run.stderr).toMatch(/Line 3, to: .*checksum/i);
    expect(run.stderr).toMatch(/Line 4, ref: .*used on line 2/);
    expect(run.stderr).toMatch(/Line 8, ref: .*row has the same destination and amount as line 7/);
    expect(run.error().message).toContain('9 of 11 rows');
    expect(createRequests(around.sandbox)).toHaveLength(0);
  });

  test('refuses a megabyte of blank lines without a warning from Node', async ({ around }) => {
    const run = await startSvcpay(['batch', '-', '--yes'], {
      ...around,
      input: '\n'.repeat(1_000_000),
    }).ended;
    expect(run.exitCode).toBe(2);
    expect(run.stderr).not.toContain('Warning');
  });

  test('shows payees, costs and totals in a dry run without confirming a payment', async ({
    around,
  }) => {
    const file = batchFile(around.home, [
      ...lightningRows(3),
      'x,TJRabPrwbZy45sbavfcjinPJC18kjpRTv8,25,usdt,',
    ]);
    const run = await svcpay(['batch', file, '--dry-run', '--json'], around);
    expect(run.json()).toMatchObject({
      dryRun: true,
      rows: 4,
      totals: [
        { from: 'BTC', ccy: 'BTC', rows: 3, amount: 0.00003003, available: 1 },
        { from: 'USDT', ccy: 'USDT', rows: 1, amount: 25, available: 10_000 },
      ],
      list: [
        { line: 2, ref: 'row-1', to: 'user1@example.com', fees: expect.any(Number) },
        {},
        {},
        { line: 5, method: 'tron' },
      ],
      cost: [{ ccy: 'BTC' }, { ccy: 'USDT' }],
    });
    const { cost, list }: { cost: Cost[]; list: { cost: number }[] } = JSON.parse(run.stdout);
    const rows = list.reduce((sum, row) => sum + row.cost, 0);
    expect(cost.reduce((sum, { total }) => sum + total, 0)).toBeCloseTo(rows, 8);
    expect(cost[0]?.total).toBeCloseTo(0.00003003 + (cost[0]?.fees ?? 0), 8);
    expect(
      (await svcpay(['batch', file, '--dry-run'], around)).stdout.trimEnd().split('\n'),
    ).toHaveLength(4);
    expect(confirmations(around.sandbox)).toHaveLength(0);
    expect(await svcpay(['batch', file, '--yes'], around)).toMatchObject({ exitCode: 0 });
    expect(await paidReferences(around)).toEqual(['row-1', 'row-2', 'row-3', 'x']);
  });

  test('reports a missing input file before the first question', async ({ around }) => {
    const run = await svcpay(['batch', 'nothing.csv'], around);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toContain('nothing.csv does not exist');
  });

  test('recognises rows that another command, batch or home has already paid', async ({
    around,
  }) => {
    const { home, sandbox } = around;
    const invoice = await sandbox.invoice('1000sat');
    expect(await svcpay(['send', invoice, '--yes', '--ref', 'elsewhere'], around)).toMatchObject({
      exitCode: 0,
    });
    expect(
      await svcpay(['send', 'user1@example.com', '1000sat', '--yes', '--ref', 'row-1'], around),
    ).toMatchObject({ exitCode: 0 });
    const file = batchFile(home, [`x,${invoice},,,`, ...lightningRows(1)]);
    const here = await svcpay(['batch', file, '--yes', '--json'], around);
    expect(here).toMatchObject({ exitCode: 0 });
    expect(here.json()).toMatchObject({ rows: 2, paid: 2, paidBefore: 2, failed: 0 });
    const other = await svcpay(['batch', batchFile(home, lightningRows(1)), '--yes', '--json'], {
      ...around,
      env: { SVCPAY_HOME: `${home}/other` },
    });
    expect(other.json()).toMatchObject({ rows: 1, paid: 1, paidBefore: 1, failed: 0 });
  });

  test('prints a CSV row for each row, with the column before', async ({ around }) => {
    const row = (ref: string) => `${ref},${ref}@example.com,1000sat`;
    const run = async (...refs: string[]) => {
      const file = batchFile(around.home, refs.map(row), 'ref,to,amount');
      const { stdout } = await svcpay(['batch', file, '--yes', '-o', 'csv'], around);
      const [, ...lines] = parse(stdout);
      return lines.map((cells) => [cells[8], cells[4], cells[5]]);
    };
    expect(await run('ada')).toEqual([['ada', 'paid', 'false']]);
    expect(await run('ada', 'bob')).toEqual([
      ['ada', 'paid', 'true'],
      ['bob', 'paid', 'false'],
    ]);
  });

  test.for(
    [
      {
        what: 'the wallet balance',
        rows: ['a,a@example.com,0.9btc,,', 'b,b@example.com,0.2btc,,'],
        limits: [],
        message: /1\.10000000 BTC/,
      },
      {
        what: 'the daily limit',
        rows: lightningRows(3),
        limits: ['--per-day', '2500sat'],
        message: /All rows: .*over your daily limit/,
      },
      {
        what: 'the per-payment limit',
        rows: lightningRows(3),
        limits: ['--per-payment', '1001sat'],
        message: /^Line 4, amount: .*over your per-payment limit/,
      },
    ].map((each) => [each.what, each] as const),
  )(
    'stops before the first row if the batch exceeds %s',
    async ([, { rows, limits, message }], { around }) => {
      if (limits.length > 0) await svcpay(['limits', 'set', ...limits], around);
      const run = await svcpay(['batch', batchFile(around.home, rows), '--yes'], around);
      expect(run).toMatchObject({ exitCode: 7, stdout: '' });
      expect(run.stderr).toMatch(message);
      expect(createRequests(around.sandbox)).toHaveLength(0);
    },
  );

  test('continues after a failed row and retries only that row in the next run', async ({
    around,
  }) => {
    const file = batchFile(around.home, [
      'a,a@example.com,1000sat,,',
      'b,nobody@example.com,1000sat,,',
      'c,c@example.com,1000sat,,',
    ]);
    const run = await svcpay(['batch', file, '--yes', '-o', 'jsonl'], around);
    expect(run).toMatchObject({ exitCode: 3 });
    const lines = run.stdout
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(lines).toHaveLength(3);
    expect(lines).toContainEqual(
      expect.objectContaining({ line: 3, ref: 'b', outcome: 'abandoned', error: 'refused' }),
    );
    const again = await svcpay(['batch', file, '--yes', '--json'], around);
    expect(again).toMatchObject({ exitCode: 3 });
    expect(again.json()).toMatchObject({ paid: 2, paidBefore: 2, failed: 1 });
    expect(createRequests(around.sandbox)).toHaveLength(4);
    expect(readFileSync(`${file}.result.csv`, 'utf8').match(/,paid,.*,completed,/g)).toHaveLength(
      2,
    );
  });

  test('keeps a single line per row with the latest outcome in the result file', async ({
    around,
  }) => {
    const file = batchFile(around.home, [
      'a,a@example.com,1000sat,,',
      'b,b@example.com,1000sat,,',
      '"c, d",nobody@example.com,1000sat,,',
    ]);
    const lines = (): string[][] =>
      parse(readFileSync(`${file}.result.csv`, 'utf8'), { from_line: 2 });
    await svcpay(failingFromSecond(400), around);
    await svcpay(['batch', file, '--yes', '--concurrency', '1'], around);
    const before = lines()
      .map(([line, , , , outcome]) => [line, outcome])
      .toSorted();
    expect(before).toEqual([
      ['2', 'paid'],
      ['3', 'abandoned'],
      ['4', 'abandoned'],
    ]);
    await svcpay(['sandbox', 'fault', 'clear'], around);
    expect(await svcpay(['batch', file, '--yes'], around)).toMatchObject({ exitCode: 3 });
    const after = lines()
      .map(([line, ref, , , outcome]) => [line, ref, outcome])
      .toSorted();
    expect(after).toEqual([
      ['2', 'a', 'paid'],
      ['3', 'b', 'paid'],
      ['4', 'c, d', 'abandoned'],
    ]);
    expect(readdirSync(around.home).filter((name) => name.includes('.result.csv'))).toHaveLength(1);
  });

  test('suggests a rerun after an unknown outcome and --retry after a failed payment', async ({
    around,
  }) => {
    const file = batchFile(around.home, ['a,a@example.com,1000sat,,', 'b,b@example.com,1000sat,,']);
    await svcpay(failingFromSecond(503), around);
    const run = await svcpay(['batch', file, '--yes', '--concurrency', '1'], around);
    expect(run).toMatchObject({
      exitCode: 8,
      stderr: expect.stringContaining('Run the same command again'),
    });
    await svcpay(['sandbox', 'fault', 'clear'], around);
    await svcpay(['sandbox', 'fault', 'add', 'payment', 'outcome=no-route'], around);
    const again = await svcpay(['batch', file, '--yes'], around);
    expect(again).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining(`svcpay batch ${file} --retry`),
    });
    expect(await svcpay(['batch', file, '--yes', '--retry'], around)).toMatchObject({
      exitCode: 0,
    });
  });

  test('prints a retry that pays only the failed row of a named run, in the same sandbox and profile', async ({
    around,
  }) => {
    const file = batchFile(around.home, ['a,a@example.com,1000sat,,', 'b,b@example.com,1000sat,,']);
    await svcpay(['sandbox', 'fault', 'add', 'payment', 'outcome=no-route'], around);
    const { url } = around.sandbox;
    const given = ['--name', 'week 47', '--base-url', url, '--concurrency', '1'];
    const run = await svcpay(['batch', file, ...given, '--yes', '--json'], around);
    expect(run).toMatchObject({ exitCode: 6 });
    const printed = `svcpay --base-url ${url} batch ${file} --name 'week 47' --retry`;
    expect(run.error()).toMatchObject({ hint: `To retry the failed rows: ${printed}` });
    const status = await svcpay(['batch', 'status', file, ...given.slice(0, 4), '--json'], around);
    expect(status.json()).toContainEqual(expect.objectContaining({ next: printed }));
    const before = around.sandbox.requests('PUT').length;
    const words = ['--base-url', url, 'batch', file, '--name', 'week 47', '--retry', '--yes'];
    expect(await svcpay(words, around)).toMatchObject({ exitCode: 0 });
    expect(around.sandbox.requests('PUT')).toHaveLength(before + 1);
  });

  test('starts no further row after a failure with --on-error stop', async ({ around }) => {
    const file = batchFile(around.home, ['a,nobody@example.com,1000sat,,', ...lightningRows(6)]);
    const run = await svcpay(
      ['batch', file, '--yes', '--json', '--on-error', 'stop', '--concurrency', '1'],
      around,
    );
    expect(run).toMatchObject({ exitCode: 3 });
    expect(run.json()).toMatchObject({ paid: 0, failed: 1, notBegun: 6 });
  });

  test('pays a row without a reference once even if a rerun reorders and respells the rows', async ({
    around,
  }) => {
    const first = 'to,amount\na@example.com,1000sat\nb@example.com,2000sat\n';
    const second =
      'note,amount,currency,to\nlater,2000,sat,B@example.com\n,0.00001,btc,a@example.com\n';
    const run = await svcpay(['batch', '-', '--yes', '--json'], { ...around, input: first });
    expect(run.json()).toMatchObject({ paid: 2, paidBefore: 0, result: null });
    const again = await svcpay(['batch', '-', '--yes', '--json'], { ...around, input: second });
    expect(again.json()).toMatchObject({ paid: 2, paidBefore: 2 });
    const december = ['batch', '-', '--yes', '--json', '--name', 'december'];
    const refused = await svcpay(december, { ...around, input: second });
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('2 of 2 rows have payee and amount of the run of today'),
    });
    const named = await svcpay([...december, '--accept-changes'], { ...around, input: second });
    expect(named.json()).toMatchObject({ paid: 2, paidBefore: 0 });
    expect(await paidReferences(around)).toHaveLength(4);
  });

  test('finds payments of another machine at the service if the journal lacks them', async ({
    around,
    home,
  }) => {
    const file = batchFile(home, lightningRows(2));
    await svcpay(['batch', file, '--yes'], around);
    const elsewhere = { ...around, home: `${home}/elsewhere` };
    const run = await svcpay(['batch', file, '--yes', '--json'], elsewhere);
    expect(run.json()).toMatchObject({ paid: 2, failed: 0 });
    expect(await paidReferences(around)).toEqual(['row-1', 'row-2']);
  });

  test('pays every row exactly once if the batch is killed and run again', async ({ around }) => {
    const rows = lightningRows(40);
    const file = batchFile(around.home, rows);
    const args = ['batch', file, '--yes', '--json', '--concurrency', '16'];
    for (const enough of [5, 25]) {
      const running = startSvcpay(args, around);
      await confirmed(around.sandbox, enough);
      running.child.kill('SIGKILL');
      await running.ended;
    }
    const run = await svcpay(args, around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({ rows: 40, paid: 40, failed: 0, unknown: 0 });
    const refs = rows.map((row) => row.split(',')[0] ?? '').toSorted();
    expect(await paidReferences(around)).toEqual(refs);
    expect(Object.keys(outcomes(file)).toSorted()).toEqual(refs);
    expect(new Set(Object.values(outcomes(file)))).toEqual(new Set(['paid']));
  });

  test('finishes the current rows after an interrupt and pays the rest in the next run', async ({
    around,
  }) => {
    const file = batchFile(around.home, lightningRows(12));
    const running = startSvcpay(['batch', file, '--yes', '--json', '--concurrency', '2'], around);
    await confirmed(around.sandbox, 1);
    running.child.kill('SIGINT');
    const stopped = await running.ended;
    expect(stopped).toMatchObject({ exitCode: 8 });
    expect(stopped.json()).toMatchObject({ failed: 0, unknown: 0 });
    expect(stopped.error().message).toMatch(/^Not paid: \d+ of 12 rows, because you interrupted/);
    const run = await svcpay(['batch', file, '--yes', '--json'], around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(await paidReferences(around)).toHaveLength(12);
  });

  test('escapes spreadsheet formulas in the result file and reads the escaped cells back', async ({
    around,
  }) => {
    const refs = ['=HYPERLINK("https://evil.example")', "'=1+1", '@SUM(A1)', '-2+3', '+1', 'plain'];
    const file = batchFile(
      around.home,
      await Promise.all(
        refs.map(
          async (ref) =>
            `"${ref.replaceAll('"', '""')}",${await around.sandbox.invoice('1000sat')}`,
        ),
      ),
      'ref,to',
    );
    expect(await svcpay(['batch', file, '--yes'], around)).toMatchObject({ exitCode: 0 });
    const result = readFileSync(`${file}.result.csv`, 'utf8');
    const cells: string[][] = parse(result);
    expect(cells.flat().filter((cell) => /^[=+@-]/.test(cell))).toEqual([]);
    expect(
      cells
        .slice(1)
        .map(([, ref]) => ref)
        .toSorted(),
    ).toEqual(refs.map((ref) => (ref === 'plain' ? ref : `'${ref}`)).toSorted());
    expect((await svcpay(['batch', file, '--yes', '--json'], around)).json()).toMatchObject({
      paid: 6,
      paidBefore: 6,
    });
    expect(readFileSync(`${file}.result.csv`, 'utf8')).toBe(result);
    expect(await svcpay(['batch', 'status', `${file}.result.csv`], around)).toMatchObject({
      exitCode: 0,
    });
    const raw = ['batch', file, '--yes', '--raw-cells', '--result', `${file}.raw.csv`];
    expect(await svcpay(raw, around)).toMatchObject({ exitCode: 0 });
    expect(readFileSync(`${file}.raw.csv`, 'utf8')).toContain('\n2,"=HYPERLINK');
  });

  test('refuses to overwrite a file that is not a batch result', async ({ around }) => {
    const file = batchFile(around.home, lightningRows(1));
    writeFileSync(`${file}.result.csv`, 'my own notes\n');
    expect(await svcpay(['batch', file, '--yes'], around)).toMatchObject({
      exitCode: 2,
      stdout: '',
    });
    expect(readFileSync(`${file}.result.csv`, 'utf8')).toBe('my own notes\n');
    expect(createRequests(around.sandbox)).toHaveLength(0);
  });

  test('asks for approval once at a terminal after it has shown the totals', async ({ around }) => {
    const tty = svcpayTty(['batch', batchFile(around.home, lightningRows(6))], {
      ...around,
      columns: 60,
    });
    await tty.waitFor(/6 rows to pay/);
    await tty.waitFor(/From BTC\s+0\.00006015 BTC in 6 rows/);
    await tty.waitFor(/You pay\s+about 0\.0000\d+ BTC\s+including fees of about 0\.0000\d+ BTC/);
    await tty.waitFor(/Pay about 0\.0000\d+ BTC, at most 0\.0000\d+ BTC, in 6\s+rows/);
    tty.resize(140, 45);
    tty.resize(80, 24);
    tty.type('y\r');
    await tty.waitFor(/\d of 6/);
    expect(await tty.ended).toBe(0);
    expect(tty.text()).toMatch(/6 of 6 rows paid/);
    expect(tty.text()).toMatch(/Spent\s+0\.0000\d+ BTC/);
  });

  test('pays no row if the person declines at a terminal, or if --yes is missing in a pipe', async ({
    around,
  }) => {
    const file = batchFile(around.home, [
      ...lightningRows(2),
      'row-3,nobody@example.com,1000sat,,',
    ]);
    const tty = svcpayTty(['batch', file], around);
    await tty.waitFor(/Pay about 0\.0000301\d BTC, at most 0\.0000\d+ BTC, in 3 rows/);
    tty.type('\r');
    expect(await tty.ended).toBe(9);
    expect(await svcpay(['batch', file], around)).toMatchObject({ exitCode: 9, stdout: '' });
    expect(confirmations(around.sandbox)).toHaveLength(0);
  });

  test('quotes one row of each wallet, currency and method of a batch of any length', async ({
    around,
  }) => {
    const { sandbox, home } = around;
    const file = batchFile(home, [
      ...lightningRows(120),
      'x,TJRabPrwbZy45sbavfcjinPJC18kjpRTv8,25,usdt,',
    ]);
    const before = sandbox.requests().length;
    const run = await svcpay(['batch', file, '--dry-run', '--json'], around);
    expect(createRequests(sandbox)).toHaveLength(2);
    expect(sandbox.requests().length - before, 'sign-in, wallets, two quotes').toBeLessThan(9);
    const { cost }: { cost: Cost[] } = JSON.parse(run.stdout);
    expect(cost[0]?.total).toBeCloseTo(0.0012714 + (cost[0]?.fees ?? 0), 8);
    expect(cost[0]?.fees).toBeCloseTo(120 * 0.00000004, 6);
  });

  test('reports the reasons without asking for approval if the service refuses every row', async ({
    around,
  }) => {
    const tty = svcpayTty(
      ['batch', batchFile(around.home, ['row-1,nobody@example.com,1000sat,,'])],
      around,
    );
    expect(await tty.ended).toBe(3);
    expect(tty.text()).toMatch(/no such\s+Lightning Address/);
    expect(tty.text()).not.toContain('(y/N)');
    expect(confirmations(around.sandbox)).toHaveLength(0);
  });
});
