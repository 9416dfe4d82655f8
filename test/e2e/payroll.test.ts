// Tests how svcpay batch compares the payroll of a month with earlier months: its remarks, refusals
// and questions.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect } from 'vitest';
import { batchFile, paidReferences } from '../support/batch.js';
import { svcpay, svcpayTty as onScreen, type Here } from '../support/in-process.js';
import { svcpayTty, test } from '../support/svcpay.js';

const head =
  'ref,amount,currency,method,institution,acct_num,acct_name,recipient_type,recipient_name,recipient_country,sender_type,sender_name,sender_country,purpose,source,relationship';

const wage = (ref: string, name: string, amount: number, account: string): string =>
  `${ref},${amount},VND,vnd-instant,970436,${account},${name},individual,${name},VN,individual,Jane Doe,CA,1,1,1`;

const october = [
  wage('o1', 'Bob Tran', 700_000, '0123456789'),
  wage('o2', 'Le Van A', 500_000, '0223456789'),
  wage('o3', 'Chi Do', 300_000, '0323456789'),
];

const readResult = (file: string): Record<string, string>[] =>
  parse(readFileSync(`${file}.result.csv`, 'utf8'), { columns: true });

interface Remarked {
  readonly remarks: readonly { readonly kind: string; readonly line: number | null }[];
}

describe('svcpay batch after an earlier run', () => {
  test('lists changed rows before it asks for approval, and pays changed rows only with --accept-changes', async ({
    around,
  }) => {
    const { home, sandbox } = around;
    await svcpay(['batch', batchFile(home, october, head), '--yes'], around);
    const november = batchFile(
      home,
      [
        wage('n1', 'Bob Tran', 700_000, '0123451234'),
        wage('n2', 'Le Van A', 5_000_000, '0223456789'),
        wage('n3', 'Mai Pham', 300_000, '0423456789'),
        wage('n4', 'Mai Pham', 300_000, '0423456789'),
      ],
      head,
    );
    const dry = await svcpay(['batch', november, '--dry-run', '--json'], around);
    const { remarks }: Remarked = JSON.parse(dry.stdout);
    expect(remarks.map(({ kind, line }) => [line, kind])).toEqual([
      [2, 'account-changed'],
      [3, 'amount-changed'],
      [4, 'new-payee'],
      [5, 'row-twice'],
      [null, 'payee-missing'],
    ]);
    const refused = await svcpay(['batch', november, '--yes'], around);
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toContain('Line 2: Bob Tran: account changed, 0123456789 -> 0123451234');
    expect(refused.stderr).toMatch(/Line 3: Le Van A: .*10 times as much/);
    expect(refused.stderr).toContain('--accept-changes');
    expect(await paidReferences(around)).toEqual(['o1', 'o2', 'o3']);

    const tty = svcpayTty(['batch', november], { ...around, columns: 100 });
    await tty.waitFor(
      /last run[^]*3\s+rows[^]*Check these first[^]*line 2 +Bob Tran +account changed +0123456789/,
    );
    await tty.waitFor(/Chi Do +was in the last run/);
    await tty.waitFor(/Pay about 0\.\d+ BTC, at most 0\.\d+ BTC, in 4 rows/);
    tty.type('\r');
    expect(await tty.ended).toBe(9);
    const accepted = await svcpay(['batch', november, '--yes', '--accept-changes'], around);
    expect(accepted).toMatchObject({ exitCode: 0 });
    expect(await paidReferences(around)).toHaveLength(7);
    expect(sandbox.requests('POST', '/api/v2/transaction').length).toBeGreaterThan(7);
  });

  test('accepts a changed row under its reference if earlier runs were only a dry run and a declined run', async ({
    around,
  }) => {
    const { home } = around;
    await svcpay(['batch', batchFile(home, october, head), '--dry-run'], around);
    const tty = svcpayTty(['batch', join(home, 'rows.csv')], { ...around, columns: 100 });
    await tty.waitFor(/Pay about 0\.\d+ BTC, at most 0\.\d+ BTC, in 3 rows/);
    tty.type('\r');
    expect(await tty.ended).toBe(9);
    const fixed = [wage('o1', 'Bob Tran', 710_000, '0123456789'), ...october.slice(1)];
    const run = await svcpay(['batch', batchFile(home, fixed, head), '--yes', '--json'], around);
    expect(run.json()).toMatchObject({ rows: 3, inFlight: 3 });
  });

  test('continues an interrupted run without listing its rows as new payees', async ({
    around,
  }) => {
    const { home } = around;
    await svcpay(['batch', batchFile(home, october.slice(0, 2), head), '--yes'], around);
    const run = await svcpay(['batch', batchFile(home, october, head), '--yes', '--json'], around);
    expect(run.json()).toMatchObject({ rows: 3, paidBefore: 2, remarks: [], lastRun: null });
  });
});

describe('svcpay batch with similar references', () => {
  test.for([
    ['a reference with a blank at its end', 'p1 ', /Line 2, ref: .*space/],
    [
      'a paid reference in another letter case',
      'P1',
      /Line 2, ref: .*P1 differs only in case or blanks from p1, which was paid/,
    ],
    [
      'a paid reference with a blank inside',
      'p 1',
      /Line 2, ref: .*p 1 differs only in case or blanks from p1/,
    ],
  ] as const)('refuses %s', async ([, ref, message], { around }) => {
    await svcpay(
      ['batch', batchFile(around.home, ['p1,a@example.com,1000sat,,']), '--yes'],
      around,
    );
    const run = await svcpay(
      ['batch', batchFile(around.home, [`${ref},a@example.com,1000sat,,`]), '--yes'],
      around,
    );
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(message);
    expect(await paidReferences(around)).toEqual(['p1']);
  });

  test('refuses two rows whose references differ only in letter case', async ({ around }) => {
    const rows = ['p1,a@example.com,1000sat,,', 'P1,b@example.com,1000sat,,'];
    const run = await svcpay(['batch', batchFile(around.home, rows), '--yes'], around);
    expect(run).toMatchObject({ exitCode: 2 });
    expect(run.stderr).toContain(
      'Line 3, ref: The reference P1 differs only in case or blanks from p1',
    );
  });

  test('requires --name if rows without a reference were paid over a week ago', async ({
    around,
  }) => {
    const { home } = around;
    const file = join(home, 'wages.csv');
    writeFileSync(file, 'to,amount\na@example.com,1000sat\nb@example.com,1000sat\n');
    const day = 86_400_000;
    const after = (days: number) => ({ ...around, now: () => Date.now() + days * day });
    expect(await svcpay(['batch', file, '--yes'], around)).toMatchObject({ exitCode: 0 });
    const soon = await svcpay(['batch', file, '--yes', '--json'], after(6));
    expect(soon).toMatchObject({ exitCode: 0 });
    expect(soon.json()).toMatchObject({ paid: 2, paidBefore: 2 });
    const late = await svcpay(['batch', file, '--yes', '--json'], after(8));
    expect(late).toMatchObject({ exitCode: 2, stdout: '' });
    expect(late.error()).toMatchObject({
      message: expect.stringMatching(/every row was already paid on \d+ \w{3}/),
      hint: expect.stringMatching(/svcpay batch .*wages\.csv --name \d{4}-\d\d/),
    });
    const named = await svcpay(['batch', file, '--yes', '--json', '--name', 'next'], after(8));
    expect(named.json()).toMatchObject({ paid: 2, paidBefore: 0 });
    expect(await paidReferences(around)).toHaveLength(4);
  });
});

test('svcpay batch offers the unfinished run of a file before a new name', async ({ around }) => {
  const file = join(around.home, 'wages.csv');
  writeFileSync(file, 'to,amount\na@example.com,1000sat\nb@example.com,1000sat\n');
  const on = (day: number) => ({ ...around, now: () => Date.now() + day * 86_400_000 });
  await svcpay(['batch', file, '--yes'], around);
  await around.sandbox.faults.add({ kind: 'payment', outcome: 'no-route' });
  const week = ['batch', file, '--name', '2026-11-23', '--yes'];
  expect(await svcpay([...week, '--concurrency', '1'], on(8))).toMatchObject({ exitCode: 6 });
  const repeated = await svcpay(['batch', file, '--yes', '--json'], on(9));
  expect(repeated.error()).toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('2026-11-23 (1 of 2 rows paid) of this file is unfinished'),
    hint: expect.stringMatching(/To finish the earlier run: svcpay batch .* --name 2026-11-23$/),
  });
  expect(await svcpay([...week, '--retry'], on(9))).toMatchObject({ exitCode: 0 });
  expect(await paidReferences(around)).toHaveLength(4);
});

describe('svcpay batch at a terminal with rows paid a week ago', () => {
  async function ask(around: Here) {
    const file = join(around.home, 'wages.csv');
    writeFileSync(file, 'to,amount\na@example.com,1000sat\nb@example.com,1000sat\n');
    expect(await svcpay(['batch', file, '--yes'], around)).toMatchObject({ exitCode: 0 });
    const now = (): number => Date.now() + 8 * 86_400_000;
    const tty = onScreen(['batch', file], { ...around, now, columns: 100 });
    await tty.waitFor(/On \d+ \w{3}, every row was already paid\. What now\?/);
    return tty;
  }

  test('pays the rows again under a new run name after the person confirms', async ({ around }) => {
    const tty = await ask(around);
    tty.type('\r');
    await tty.waitFor(/Name of this run.*\d{4}-\d\d-\d\d/);
    tty.type('\r');
    await tty.waitFor('(y/N)');
    tty.type('y\r');
    expect(await tty.ended).toBe(0);
    expect(await paidReferences(around)).toHaveLength(4);
  });

  test('pays no row again if the person skips the paid rows', async ({ around }) => {
    const tty = await ask(around);
    tty.type('\u001B[B\r');
    await tty.ended;
    expect(await paidReferences(around)).toHaveLength(2);
  });
});

describe('svcpay batch with names from the address book', () => {
  const add = (around: Parameters<typeof svcpay>[1], ...words: string[]) =>
    svcpay(['contacts', 'add', ...words], around);

  test('accepts names in any letter case in the columns "to" and "recipient"', async ({
    around,
  }) => {
    await add(around, 'Ada', 'ada@example.com');
    const [country, bank] = [
      ['--country', 'VN', '--institution', '970436'],
      ['--acct-num', '0123456789', '--acct-name', 'LE VAN A'],
    ];
    const person = ['--recipient-type', 'individual', '--recipient-name', 'Le Van A'];
    const saved = await add(
      around,
      'Le',
      ...country,
      ...bank,
      ...person,
      '--recipient-country',
      'VN',
    );
    expect(saved).toMatchObject({ exitCode: 0 });
    const file = batchFile(
      around.home,
      ['a,ADA,,1000,sat,,,,,,', 'b,,le,500000,VND,1,1,1,individual,Jane Doe,CA'],
      'ref,to,recipient,amount,currency,purpose,source,relationship,sender_type,sender_name,sender_country',
    );
    const run = await svcpay(['batch', file, '--dry-run', '--json'], around);
    expect(run.json()).toMatchObject({
      list: [
        { to: 'ada@example.com', payee: 'Ada', bank: null },
        { to: '0123456789', payee: 'Le Van A', bank: 'Vietcombank' },
      ],
    });
    const alone = batchFile(around.home, ['ada,1000sat'], 'recipient,amount');
    expect(await svcpay(['batch', alone, '--yes', '--json'], around)).toMatchObject({
      exitCode: 0,
    });
  });

  test('refuses a name that matches several recipients and lists the matches', async ({
    around,
  }) => {
    await add(around, 'Ada', 'ada@example.com');
    await add(around, 'ada', 'other@example.com');
    const file = batchFile(around.home, ['a,ADA,1000sat,,', 'b,ada,1000sat,,']);
    const run = await svcpay(['batch', file, '--dry-run'], around);
    expect(run).toMatchObject({ exitCode: 2 });
    expect(run.stderr).toContain('Line 2, to: "ADA" matches "Ada" or "ada" in your contacts.');
    expect(run.stderr).not.toContain('Line 3');
    expect(await svcpay(['send', 'ADA', '1000sat', '--yes'], around)).toMatchObject({
      exitCode: 2,
    });
  });
});

describe('svcpay proposals pay, of a payroll', () => {
  const propose = async (lines: readonly string[], more: readonly string[], around: Here) => {
    const file = batchFile(around.home, lines, head);
    const args = ['propose', 'batch', file, '--max-total', '0.01btc', '-q', ...more];
    const run = await svcpay(args, around);
    expect(run).toMatchObject({ exitCode: 0 });
    return run.stdout.trim();
  };
  const pay = (id: string, around: Here, ...more: string[]) =>
    svcpay(['proposals', 'pay', id, '--digest', id, '--yes', '--json', ...more], around);

  test('pays the proposed rows once, under their references, as one run of a batch', async ({
    around,
  }) => {
    const id = await propose(october, ['--name', '2026-10'], around);
    const result = join(around.home, 'paid.csv');
    const first = await pay(id, around, '--result', result, '--concurrency', '2');
    expect(first.json()).toMatchObject({ rows: 3, inFlight: 3, paidBefore: 0, result });
    expect((await pay(id, around)).json()).toMatchObject({ rows: 3, paidBefore: 3, failed: 0 });
    expect(await paidReferences(around)).toEqual(['o1', 'o2', 'o3']);
    expect(parse(readFileSync(result, 'utf8'), { columns: true })).toMatchObject([
      { ref: 'o1', payee: 'Bob Tran', outcome: 'in-flight' },
      { ref: 'o2' },
      { ref: 'o3' },
    ]);
    expect(await svcpay(['db', 'verify'], around)).toMatchObject({ exitCode: 0 });
    const story = await svcpay(['tx', 'explain', 'o1'], around);
    expect(story.stdout).toContain(`by the proposal ${id.slice(0, 8)}…`);
    const status = await svcpay(['batch', 'status', '2026-10', '--json'], around);
    expect(status.json()).toHaveLength(3);
    const plain = await svcpay(['batch', join(around.home, 'rows.csv'), '--yes', '--json'], around);
    expect(plain.json()).toMatchObject({ paidBefore: 3, failed: 0 });
  });

  test('shows the changes since the last run above one question', async ({ around }) => {
    await svcpay(['batch', batchFile(around.home, october, head), '--yes'], around);
    const lines = [
      wage('n1', 'Bob Tran', 700_000, '0123451234'),
      wage('n2', 'Le Van A', 5_000_000, '0223456789'),
    ];
    const id = await propose(lines, ['--reason', 'wages'], around);
    const tty = onScreen(['proposals', 'pay', id.slice(0, 8)], { ...around, columns: 110 });
    await tty.waitFor(/“wages”[^]*Check these first[^]*Bob Tran +account changed +0123456789/);
    await tty.waitFor(/Pay about 0\.\d+ BTC, at most 0\.\d+ BTC, in 2 rows/);
    tty.type('y\r');
    expect(await tty.ended).toBe(0);
    expect(await paidReferences(around)).toEqual(['n1', 'n2', 'o1', 'o2', 'o3']);
  });

  test('sends nothing if the rows cost more than the highest total', async ({ around }) => {
    const file = batchFile(around.home, october, head);
    const args = ['propose', 'batch', file, '--max-total', '1sat', '--max-total', '9usdt', '-q'];
    const run = await pay((await svcpay(args, around)).stdout.trim(), around);
    expect(run).toMatchObject({ exitCode: 7, stdout: '' });
    expect(run.error().message).toMatch(/^Nothing was sent: the rows cost about .* at most 0\.0/);
    expect(await paidReferences(around)).toEqual([]);
  });

  test('needs no login, and names each invalid line when it is proposed', async ({ around }) => {
    const file = batchFile(around.home, ['a,ada@example.com,1000sat,,', 'b,nobody,1sat,,']);
    const args = ['propose', 'batch', file, '--max-total', '1sat'];
    const run = await svcpay(args, { home: join(around.home, 'proposer') });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(/^Line 3, to: /m);
    expect(run.stderr).toContain('Not proposed: 1 of 2 rows cannot be paid');
  });
});

describe('svcpay batch with files of spreadsheet programs', () => {
  test('reads a file with semicolons, a sep= line and ignored extra columns', async ({
    around,
  }) => {
    const { home } = around;
    const file = join(home, 'excel.csv');
    writeFileSync(
      file,
      '\uFEFFsep=;\r\nRef;To;Amount;#Dept;Mail;\r\na;a@example.com;1000sat;IT;x@y.z;\r\n',
    );
    const refused = await svcpay(['batch', file, '--dry-run'], around);
    expect(refused.stderr).toMatch(/Line 2: There is no column "mail"/);
    const run = await svcpay(['batch', file, '--yes', '--ignore-columns'], around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(await paidReferences(around)).toEqual(['a']);
  });

  test.for([
    [
      'an amount with an ambiguous point',
      'a,a@example.com,1.000,BTC,,',
      /Line 2, amount: "1\.000" can mean 1 or 1000\. Write 1BTC or 1000BTC\./,
    ],
    [
      'an amount with an ambiguous comma',
      'a,a@example.com,"1,000",BTC,,',
      /Line 2, amount: "1,000" can mean 1 or 1000/,
    ],
    ['an amount with thousands', 'a,a@example.com,"1,000,000",sat,,', /Write 1000000sat\./],
    ['a row without an amount', 'a,a@example.com,,,,', /Line 2, amount: .*amount is missing/],
    ['an invalid destination', 'a,nobody,1000sat,,,', /Line 2, to: /],
    ['an unknown source wallet', 'a,a@example.com,1000sat,,,sat', /Line 2, from: /],
  ] as const)('refuses %s and prints the line and column', async ([, row, message], { around }) => {
    const file = batchFile(around.home, [row], 'ref,to,amount,currency,note,from');
    const run = await svcpay(['batch', file, '--yes'], around);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(message);
  });

  test('refuses an account number or a bank code without its leading zero', async ({ around }) => {
    const row = wage('n', 'Ade', 5_000, '123456789')
      .replace('VND', 'NGN')
      .replace('vnd-instant,970436', 'ng-ngn-bank,058');
    const run = await svcpay(['batch', batchFile(around.home, [row], head), '--yes'], around);
    expect(run).toMatchObject({ exitCode: 2 });
    expect(run.stderr).toMatch(/Line 2, acct_num: .*which requires 10 digits.*write 0123456789/);
    const bank = row.replace('123456789', '0123456789').replace(',058,', ',58,');
    const code = await svcpay(['batch', batchFile(around.home, [bank], head), '--yes'], around);
    expect(code.stderr).toMatch(/Line 2, institution: .*With its leading zeros, the code is 058/);
  });
});

describe('svcpay batch after the run', () => {
  test('writes settlement times and values to a result file that batch accepts as input', async ({
    around,
  }) => {
    const { home } = around;
    await svcpay(['login', '--sandbox'], around);
    await svcpay(['config', 'set', 'fiat', 'USD'], around);
    const file = batchFile(home, ['a,a@example.com,1000sat,,ok']);
    expect(await svcpay(['batch', file, '--yes'], around)).toMatchObject({ exitCode: 0 });
    const [row] = readResult(file);
    expect(row).toMatchObject({
      outcome: 'paid',
      settled: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      fiat: 'USD',
      note: 'ok',
    });
    expect(Number(row?.['fiatValue'])).toBeCloseTo(
      Number(row?.['fiatRate']) * Number(row?.['paid']),
      2,
    );

    const wages = batchFile(home, october, head);
    await svcpay(['batch', wages, '--yes'], around);
    const first = readResult(wages).filter(({ outcome }) => outcome === 'in-flight');
    expect(first).toHaveLength(3);
    await svcpay(['batch', wages, '--yes'], around);
    const second = readResult(wages);
    expect(second.map(({ ref, paid, paidCcy, payee }) => [ref, paid, paidCcy, payee])).toEqual(
      [{ ref: 'a', paid: row?.['paid'], paidCcy: 'BTC', payee: '' }, ...first].map(
        ({ ref, paid, paidCcy, payee }) => [ref, paid, paidCcy, payee],
      ),
    );
    expect(second.every(({ paid }) => Number(paid) > 0)).toBe(true);
    const again = await svcpay(['batch', `${wages}.result.csv`, '--dry-run', '--json'], around);
    expect(again.json()).toMatchObject({ rows: 4, paidBefore: 4 });
  });

  test('prints next steps with batch status, and writes a page for each payee with batch receipts', async ({
    around,
  }) => {
    const { home, sandbox } = around;
    const file = batchFile(home, [
      'a,a@example.com,1000sat,,private',
      'b,nobody@example.com,1000sat,,',
      'c,bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq,0.0001btc,,',
      'd,a@example.com,2000sat,,',
    ]);
    await svcpay(['batch', file, '--yes', '--name', 'october'], around);
    const states = async (named: string) => {
      const run = await svcpay(['batch', 'status', named, '--json'], around);
      expect(run, 'a row is not paid').toMatchObject({ exitCode: 10 });
      const lines: { ref: string; outcome: string; next: string | null }[] = JSON.parse(run.stdout);
      return Object.fromEntries(lines.map(({ ref, outcome, next }) => [ref, [outcome, next]]));
    };
    const expected = {
      a: ['paid', null],
      b: ['abandoned', expect.stringContaining('svcpay batch ')],
      c: ['in-flight', expect.stringMatching(/^svcpay tx watch /)],
      d: ['paid', null],
    };
    expect(await states(file)).toEqual(expected);
    expect(await states('october')).toEqual(expected);
    expect(await svcpay(['batch', 'status', 'september'], around)).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining('"october"'),
    });

    const folder = join(home, 'advice');
    const run = await svcpay(['batch', 'receipts', file, '--folder', folder, '--json'], around);
    expect(run.json()).toMatchObject([{ payee: 'a@example.com', payments: 2 }]);
    const page = readFileSync(join(folder, 'a-example-com.html'), 'utf8');
    expect(page).toContain('Remittance advice: a@example.com');
    expect(page).toContain('0.00003000 BTC');
    expect(page.match(/<h2>/g)).toHaveLength(2);
    expect(page).not.toMatch(/private|fee<|Rate<|Total</i);
    expect(sandbox.requests('POST').length).toBeGreaterThan(3);
  });
});

describe('svcpay batch status with a result file', () => {
  test('exits 10 if a row is changed, missing or doubled, or if a paid row came back', async ({
    around,
  }) => {
    const { home, sandbox } = around;
    const file = batchFile(home, ['a,a@example.com,1000sat,,', 'b,b@example.com,2000sat,,']);
    expect(await svcpay(['batch', file, '--yes'], around)).toMatchObject({ exitCode: 0 });
    const result = `${file}.result.csv`;
    const [head = '', one = '', two = ''] = readFileSync(result, 'utf8').split('\n');
    const status = async (lines: readonly string[], here: Here = around) => {
      writeFileSync(result, `${[head, ...lines].join('\n')}\n`);
      const run = await svcpay(['batch', 'status', result, '--json'], here);
      const rows: { ref: string; outcome: string; message: string | null }[] = JSON.parse(
        run.stdout,
      );
      return [
        run.exitCode,
        ...rows.flatMap(({ ref, message }) => (message ? `${ref}: ${message}` : [])),
      ];
    };
    expect(await status([one, two])).toEqual([0]);
    const elsewhere = { ...around, home: join(home, 'elsewhere') };
    expect(await status([one, two], elsewhere), 'a home without this journal').toEqual([0]);
    expect(await status([one])).toEqual([10, expect.stringMatching(/^b: The run paid this row/)]);
    expect(await status([one, one, two])).toEqual([10, expect.stringMatching(/^a: .*twice/)]);
    expect(await status([one.replace(/0\.0000100\d/, '0.5'), two])).toEqual([
      10,
      expect.stringMatching(/^a: The file says 0\.5 BTC was paid, but it was 0\.0000100\d BTC/),
    ]);
    await sandbox.faults.add({ kind: 'returned', times: 'always' });
    await svcpay(['batch', file, '--yes', '--name', 'two', '--accept-changes'], around);
    await sandbox.clock.advance('2h');
    const back = await svcpay(['batch', 'status', 'two', '--json'], around);
    expect(back).toMatchObject({ exitCode: 10, stderr: expect.stringContaining('2 returned') });
  });
});

describe('svcpay batch over three months with employee numbers as references', () => {
  const staff = (...rows: [ref: string, name: string, amount: number, account: string][]) =>
    rows.map(([ref, name, amount, account]) => wage(ref, name, amount, account));
  const bob = ['E1', 'Bob Tran', 700_000, '0123456789'] as const;
  const van = ['E2', 'Le Van A', 500_000, '0223456789'] as const;
  const chi = ['E3', 'Chi Do', 300_000, '0323456789'] as const;
  const month = (around: Here, count: number) => ({
    ...around,
    now: () => Date.now() + count * 30 * 86_400_000,
  });

  test('names the earlier run instead of paying nothing, and pays under a new name', async ({
    around,
  }) => {
    const { home } = around;
    const file = batchFile(home, staff([...bob], [...van], [...chi]), head);
    const pay = async (here: Here, ...more: string[]) =>
      svcpay(['batch', file, '--yes', '--json', ...more], here);
    expect(await pay(around)).toMatchObject({ exitCode: 0 });
    const november = month(around, 1);
    const repeated = await pay(november);
    expect(repeated).toMatchObject({ exitCode: 2, stdout: '' });
    expect(repeated.error()).toMatchObject({
      message: expect.stringMatching(/every row was already paid on \d+ \w{3}/),
      hint: expect.stringMatching(/svcpay batch .* --name \d{4}-\d\d-\d\d/),
    });
    expect((await pay(november, '--name', '2026-11')).json()).toMatchObject({
      inFlight: 3,
      rows: 3,
    });
    expect((await pay(november, '--name', '2026-11')).json()).toMatchObject({ paidBefore: 3 });

    const december = month(around, 2);
    batchFile(home, staff([...bob], ['E2', 'Le Van A', 550_000, '0223456789'], [...chi]), head);
    const raise = await pay(december);
    expect(raise).toMatchObject({ exitCode: 2 });
    expect(raise.stderr).toMatch(/Line 3, ref: .*500.000 VND .*and this is 550.000 VND/);
    expect(raise.error().hint).toMatch(/--name/);
    expect((await pay(december, '--name', '2026-12')).json()).toMatchObject({
      inFlight: 3,
      rows: 3,
    });
    const mai = ['E4', 'Mai Pham', 300_000, '0423456789'] as const;
    batchFile(home, staff([...bob], [...van], [...mai]), head);
    const held = await pay(month(around, 3), '--name', '2027-01');
    expect(held).toMatchObject({ exitCode: 2, stdout: '' });
    expect(held.error().message).toContain('line 4: Mai Pham: new payee');
    const refs = await paidReferences(around);
    expect(refs).toEqual(
      ['E1', 'E2', 'E3'].flatMap((ref) => [`2026-11/${ref}`, `2026-12/${ref}`, ref]).toSorted(),
    );
  });

  test('holds the wages of an earlier run under new references, even with -q', async ({
    around,
  }) => {
    const { home } = around;
    await svcpay(['batch', batchFile(home, october, head), '--yes'], around);
    const again = batchFile(
      home,
      october.map((row) => row.replace(/^o/, 'n')),
      head,
    );
    const refused = await svcpay(['batch', again, '--yes', '-q'], around);
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toContain('3 of 3 rows have payee and amount of the run of today');
    expect(await paidReferences(around)).toHaveLength(3);
  });

  test('exits 6 if the service rejected a row since, and batch status exits 10', async ({
    around,
  }) => {
    const { home, sandbox } = around;
    await sandbox.faults.add({ kind: 'payment', outcome: 'rejected' });
    const file = batchFile(home, october.slice(0, 2), head);
    const run = await svcpay(['batch', file, '--yes', '--json', '--concurrency', '1'], around);
    await sandbox.clock.advance('2h');
    const status = await svcpay(['batch', 'status', file, '--json'], around);
    expect(status).toMatchObject({ exitCode: 10, stderr: expect.stringContaining('1 failed') });
    const later = run.exitCode === 0 ? await svcpay(['batch', file, '--yes'], around) : run;
    expect(later.exitCode).toBe(6);
  });
});
