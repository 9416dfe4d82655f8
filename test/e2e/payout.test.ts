// Tests svcpay payout with flags, with a file and at a terminal, and the address book.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Sandbox } from '../../src/sandbox/server.js';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { createRequests } from '../support/orders.js';
import { startSvcpay, test, type TtyRun } from '../support/svcpay.js';
import { payoutAnswers, payoutWords } from '../support/payout.js';
import { startInPty } from '../support/pty.js';
import { called } from '../support/shapes.js';

const body = {
  sourceReq: {
    ccy: 'BTC',
    method: 'servicepay',
    reqDetails: {},
    kyc: {
      type: 'business',
      details: {
        legalFullName: 'Acme Ltd',
        countryCode: 'DE',
        contactNumber: '+4915112345678',
        address1: '1 High St',
      },
    },
  },
  destReq: {
    ccy: 'VND',
    method: 'vnd-instant',
    amtRequested: 500000,
    reqDetails: {
      acctName: 'LE VAN A',
      acctNum: '0123456789',
      institutionCode: '970436',
      institutionName: 'Vietcombank',
    },
    kyc: { type: 'individual', details: { legalFullName: 'Le Van A', countryCode: 'VN' } },
  },
  sourceOfFunds: { purpose: 1, source: 2, relationship: 3 },
};

const sentBody = (sandbox: Sandbox): unknown => createRequests(sandbox)[0];
const reference = expect.stringMatching(/^[0-9a-f-]{36}$/);

describe('svcpay payout with flags', () => {
  test('sends the specified body and logs no personal data', async ({ around }) => {
    const run = await svcpay([...payoutWords(), '--yes', '--no-wait', '--json', '--debug'], around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({
      txnState: called('srccreated'),
      destReq: { amtRequested: 500000 },
    });
    expect(sentBody(around.sandbox)).toEqual({ ...body, extRefId: reference });
    expect(run.stderr).toContain('POST /api/v2/transaction 200');
    expect(run.stderr).not.toMatch(/Acme|Le Van|4915112345678/);
  });

  test('waits until an instant payout has completed', async ({ around }) => {
    const { child, ended, stdout } = startSvcpay(
      [...payoutWords(), '--yes', '-o', 'jsonl'],
      around,
    );
    await new Promise<void>((confirmed) =>
      child.stdout.on('data', () => /srccreated|srcpendconfirmfill/.test(stdout()) && confirmed()),
    );
    await around.sandbox.clock.advance('5m');
    expect(await ended).toMatchObject({ exitCode: 0 });
    expect(stdout().trim().split('\n').at(-1)).toContain('"txnState":"completed"');
  });

  test('ends without waiting for a bank transfer', async ({ around }) => {
    const changes = {
      '--country': 'NG',
      '--method': 'ng-ngn-bank',
      '--institution': '011',
      '--amount': '5000ngn',
    };
    const run = await svcpay([...payoutWords(changes), '--yes', '--json'], around);
    expect(run).toMatchObject({ exitCode: 0 });
    expect(run.json()).toMatchObject({ txnState: called('srccreated') });
  });

  test('lists every missing flag without sending a request', async ({ around }) => {
    const run = await svcpay(['payout', '--country', 'VN', '--json'], around);
    expect(run).toMatchObject({ exitCode: 9, stdout: '' });
    for (const flag of [
      '--institution CODE',
      '--acct-num',
      '--sender-name',
      '--purpose N',
      '--amount',
      '--yes',
    ]) {
      expect(run.error().message).toContain(flag);
    }
    expect(around.sandbox.requests()).toHaveLength(0);
  });

  test('ends with exit 7 if the balance is insufficient for the payout', async ({ around }) => {
    const run = await svcpay(
      [...payoutWords({ '--amount': '90000000000vnd' }), '--yes', '--json'],
      around,
    );
    expect(run).toMatchObject({ exitCode: 7, stdout: '' });
  });

  const bad: { why: string; changes: Readonly<Record<string, string>>; message: RegExp }[] = [
    {
      why: 'an unknown country',
      changes: { '--country': 'FR' },
      message: /Payout countries: Canada \(CA\), India \(IN\)/,
    },
    {
      why: 'an unknown payout method',
      changes: { '--method': 'sepa' },
      message: /no payout method "sepa"/,
    },
    {
      why: 'an unknown institution',
      changes: { '--institution': '999' },
      message: /no institution "999" in Vietnam/,
    },
    {
      why: 'a mobile wallet for a bank method',
      changes: {
        '--country': 'MY',
        '--method': 'myr-bank',
        '--institution': 'TNGD',
        '--amount': '5myr',
      },
      message: /Touch 'n Go eWallet \(TNGD\) has the type mobile, to which myr-bank does not pay/,
    },
    {
      why: 'a phone number without a country code',
      changes: { '--recipient-phone': '0912345678' },
      message: /such as \+84/,
    },
    {
      why: 'an amount in another currency',
      changes: { '--amount': '500usd' },
      message: /must be in VND/,
    },
  ];

  test.for(bad.map((each) => [each.why, each] as const))(
    'refuses %s before it creates a transaction',
    async ([, { changes, message }], { around }) => {
      const run = await svcpay([...payoutWords(changes), '--yes', '--json'], around);
      expect(run).toMatchObject({ exitCode: 2, stdout: '' });
      expect(run.error().message).toMatch(message);
      expect(createRequests(around.sandbox)).toHaveLength(0);
    },
  );
});

describe('svcpay payout --from-file', () => {
  test('sends the transaction body from stdin unchanged', async ({ around }) => {
    const input = JSON.stringify({ ...body, extRefId: 'rent-7' });
    const run = await svcpay(['payout', '--from-file', '-', '--yes', '--no-wait', '--json'], {
      ...around,
      input,
    });
    expect(run).toMatchObject({ exitCode: 0 });
    expect(sentBody(around.sandbox)).toEqual({ ...body, extRefId: 'rent-7' });
  });

  test('pays once under the reference in the file', async ({ around }) => {
    const destReq = {
      ...body.destReq,
      reqDetails: { bankAcctNum: '0123456789', institutionCode: '970436' },
    };
    const file = join(around.home, 'payout.json');
    // The payout file begins with a byte order mark, which some editors write.
    writeFileSync(file, `\uFEFF${JSON.stringify({ ...body, destReq, extRefId: 'rent-8' })}`);
    const pay = ['payout', '--from-file', file, '--yes', '--no-wait', '-q'];
    const first = await svcpay(pay, around);
    const second = await svcpay(pay, around);
    expect(first).toMatchObject({ exitCode: 0 });
    expect(second).toMatchObject({ exitCode: 0, stdout: first.stdout });
    expect(createRequests(around.sandbox)).toHaveLength(1);
    expect(sentBody(around.sandbox)).toMatchObject({ destReq: { reqDetails: destReq.reqDetails } });
  });

  test('refuses incomplete KYC details before it sends a request', async ({ around }) => {
    const kyc = { type: 'individual', details: { countryCode: 'VN' } };
    const input = JSON.stringify({ ...body, destReq: { ...body.destReq, kyc } });
    const run = await svcpay(['payout', '--from-file', '-', '--yes', '--json'], {
      ...around,
      input,
    });
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.error().message).toContain(
      'destReq.kyc.details.legalFullName: The field is missing.',
    );
    expect(around.sandbox.requests()).toHaveLength(0);
  });

  test('refuses flags that repeat values of the file', async ({ around }) => {
    const run = await svcpay(
      ['payout', '--from-file', 'x.json', '--amount', '5vnd', '--from', 'BTC'],
      around,
    );
    expect(run).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Remove --amount, --from'),
    });
  });
});

const enter = '\r';
const escape = '\u001B';

/** Answers each question after it appears. */
async function answer(
  tty: TtyRun,
  dialogue: readonly (readonly [question: string, ...keys: string[]])[],
): Promise<void> {
  for (const [question, ...keys] of dialogue) {
    await tty.waitFor(`? ${question}`);
    for (const key of keys) tty.type(key);
  }
}

/**
 * Types a search, and selects the match only after the match appears, because each typed key
 * filters the list again.
 */
async function choose(tty: TtyRun, question: string, typed: string, found: string): Promise<void> {
  await tty.waitFor(`? ${question}`);
  tty.type(typed);
  await tty.waitFor(`❯ ${found}`);
  tty.type(enter);
}

const party = (whose: string, name: string): [string, ...string[]][] => [
  [`${whose} full legal name`, `${name}${enter}`],
];

describe('svcpay payout at a terminal', () => {
  test('asks every question of a payout, pays after the person confirms and stores the permitted answers', async ({
    around,
  }) => {
    await around.sandbox.clock.freeze();
    const tty = svcpayTty(['payout'], { ...around, rows: 24 });
    await choose(tty, 'Country to pay out to', 'kenya', 'Kenya');
    await tty.waitFor('? Amount the recipient gets, in KES');
    tty.type(escape);
    await choose(tty, 'Country to pay out to', 'vietn', 'Vietnam (VND)');
    await answer(tty, [
      ['Amount the recipient gets, in VND (1 BTC ≈ 2 500 000 000 VND', `500000${enter}`],
    ]);
    await choose(tty, 'Bank', 'vietcom', 'Vietcombank (970436)');
    await answer(tty, [
      ['Account number', `0999${enter}`],
      ['Name on the account', `<${enter}`],
      ['Account number', `0123 456 789${enter}`],
      ['Name on the account', `LE VAN A${enter}`],
      ['The recipient:', enter],
      ...party("Recipient's", 'Le Van A'),
      ["Recipient's country", enter],
      ["Recipient's phone", `0912${enter}`],
    ]);
    await tty.waitFor('"0912" has no country code.');
    tty.type(`${'\u007F'.repeat(4)}${enter}`);
    await answer(tty, [
      ["Recipient's street address", enter],
      ['Save recipient as', `Anh A${enter}`],
      ['You, the sender:', enter],
      ...party('Your', 'Jane Roe'),
    ]);
    await choose(tty, 'Your country', 'germ', 'Germany (DE)');
    await answer(tty, [
      ['Your phone', enter],
      ['Your street address', enter],
      ['Save your own details', enter],
      ['Purpose of the payment', `1${enter}`],
      ['Source of the funds', `2${enter}`],
      ['Relationship to the recipient', `3${enter}`],
      ['Pay from', enter],
    ]);
    await tty.waitFor(/To\s+LE VAN A\s+Vietnam\s/);
    await tty.waitFor(/Account\s+Vietcombank \(970436\) · 0123456789/);
    await tty.waitFor(/Arrives\s+within minutes\s+vnd-instant/);
    await tty.waitFor(/From\s+Jane Roe\s+Germany · BTC wallet/);
    await tty.waitFor(/Rate\s+1 BTC = 2 500 000 000 VND/);
    await tty.waitFor(/Recipient gets\s+500 000 VND/);
    await tty.waitFor(/You pay\s+0\.00020100 BTC/);
    await answer(tty, [['Pay 0.00020100 BTC', `y${enter}`]]);
    await tty.waitFor(/● confirm(?:ed|ing)/);
    tty.type('\u0003');
    expect(await tty.ended).toBe(8);
    expect(tty.text()).toContain('Saved in your contacts: svcpay send');
    expect(sentBody(around.sandbox)).toMatchObject({
      destReq: body.destReq,
      sourceReq: { kyc: { details: { legalFullName: 'Jane Roe' } } },
    });
    const config = join(around.home, 'config.json');
    expect(statSync(config).mode & 0o077).toBe(0);
    expect(JSON.parse(readFileSync(config, 'utf8'))).toMatchObject({
      profiles: {
        default: {
          sender: { legalFullName: 'Jane Roe' },
          codes: { purpose: { last: 1 }, relationship: { last: 3 } },
        },
      },
      contacts: {
        'Anh A': {
          acctNum: '0123456789',
          party: { legalFullName: 'Le Van A' },
          codes: { purpose: 1, source: 2, relationship: 3 },
        },
      },
    });
    const changed = await svcpay(
      ['contacts', 'add', 'Anh A', '--acct-name', 'LE VAN ANH', '--json'],
      around,
    );
    expect(changed.json()).toMatchObject({
      acctNum: '0123456789',
      acctName: 'LE VAN ANH',
      party: { legalFullName: 'Le Van A' },
    });

    const codes = ['--purpose', '1', '--source', '2', '--relationship', '3'];
    const again = await svcpay(
      ['payout', 'Anh A', '70000', ...codes, '--yes', '--no-wait', '-q'],
      around,
    );
    expect(again).toMatchObject({ exitCode: 0 });
    expect(createRequests(around.sandbox)).toHaveLength(2);

    // The test damages the settings file while svcpay waits for the payout to complete. svcpay must
    // still report the payout as completed.
    const sleep = async (): Promise<void> => {
      writeFileSync(config, '{ spoilt');
      await around.sandbox.clock.advance('5m');
    };
    const last = ['payout', 'Anh A', '80000', ...codes, '--yes'];
    const paid = await svcpay(last, { ...around, sleep });
    expect(paid).toMatchObject({ exitCode: 0 });
  });

  test('shows a summary of the earlier answers above the next question after each resize of the window', async ({
    around,
  }) => {
    const { home, sandbox } = around;
    const env = {
      SVCPAY_HOME: home,
      SVCPAY_BASE_URL: sandbox.url,
      SVCPAY_API_KEY: sandbox.apiKey,
      SVCPAY_API_SECRET: sandbox.apiSecret,
    };
    const account = [
      '--institution',
      '970436',
      '--acct-num',
      '0123456789',
      '--acct-name',
      'LE VAN A',
    ];
    const size = { columns: 80, rows: 24 };
    const tty = startInPty(process.execPath, ['bin/svcpay.js', 'payout', ...account], {
      ...size,
      env,
    });
    const folded = (title: string, ...lines: string[]): void => {
      const shown = tty.screen();
      const at = shown.findIndex((line) => line.startsWith('  Payout'));
      expect(shown.slice(at, at + 1 + lines.length)).toEqual([
        `  Payout · step ${title}`,
        ...lines,
      ]);
      expect(shown.filter((line) => line.includes(' · step '))).toHaveLength(1);
      expect(shown.findLastIndex((line) => line !== '')).toBeLessThan(size.rows);
    };
    await tty.shows('Country to pay out to');
    folded('1 of 6 · Where to', '  ✓ 970436 · 0123456789 · LE VAN A');
    tty.type(`viet${enter}`);
    await tty.shows('Amount the recipient gets');
    tty.type(`500000${enter}`);
    await tty.shows('a person');
    folded(
      '4 of 6 · Recipient',
      '  ✓ Vietnam · bank account · within minutes',
      '  ✓ 500 000 VND · ≈ 20 000 sat           ✓ 970436 · 0123456789 · LE VAN A',
    );
    Object.assign(size, { columns: 60, rows: 20 });
    tty.resize(size.columns, size.rows);
    tty.type(enter);
    await tty.shows("Recipient's full legal name");
    tty.type(enter);
    await tty.shows(/Recipient's country[^]*❯ Vietnam/);
    folded(
      '4 of 6 · Recipient',
      '  ✓ Vietnam · bank account · within minutes',
      '  ✓ 500 000 VND · ≈ 20 000 sat',
      '  ✓ 970436 · 0123456789 · LE VAN A',
      '  … LE VAN A',
    );
    Object.assign(size, { columns: 140, rows: 45 });
    tty.resize(size.columns, size.rows);
    tty.type(escape);
    await tty.shows("Recipient's full legal name");
    folded(
      '4 of 6 · Recipient',
      '  ✓ Vietnam · bank account · within minutes                            ✓ 500 000 VND · ≈ 20 000 sat',
      '  ✓ 970436 · 0123456789 · LE VAN A',
    );
    tty.type('\u0003');
    expect(await tty.exit).toBe(130);
  });

  test('pays and reports unsaved codes if the settings are damaged', async ({ around }) => {
    const given = Object.entries(payoutAnswers).filter(([flag]) => !flag.startsWith('--recipient'));
    const tty = svcpayTty(['payout', '--no-wait', ...given.flat()], around);
    await answer(tty, [
      ['The recipient:', enter],
      ...party("Recipient's", 'Le Van A'),
      ["Recipient's country", enter],
      ["Recipient's phone", enter],
      ["Recipient's street address", enter],
      ['Save recipient as', `Anh A${enter}`],
      ['Pay from', enter],
    ]);
    await tty.waitFor(/Pay 0\.00020100 BTC/);
    writeFileSync(join(around.home, 'config.json'), '{ damaged');
    tty.type(`y${enter}`);
    expect(await tty.ended).toBe(0);
    expect(tty.text()).toContain('Not saved: ');
  });

  test('keeps the answers of a wizard that Ctrl-C interrupts, and continues with the next question', async ({
    around,
  }) => {
    const tty = svcpayTty(['payout'], around);
    await choose(tty, 'Country to pay out to', 'vietn', 'Vietnam (VND)');
    await answer(tty, [['Amount the recipient gets', `500000${enter}`]]);
    await choose(tty, 'Bank', 'vietcom', 'Vietcombank (970436)');
    await answer(tty, [
      ['Account number', `0123456789${enter}`],
      ['Name on the account', `LE VAN A${enter}`],
    ]);
    await tty.waitFor('? The recipient:');
    tty.type('\u0003');
    expect(await tty.ended).toBe(130);
    expect(tty.text()).toContain('Your answers are kept. Continue: svcpay payout');
    expect(createRequests(around.sandbox)).toHaveLength(0);

    const next = svcpayTty(['payout'], around);
    await answer(next, [
      ['Continue the payout to LE VAN A, 500 000 VND?', enter],
      ['The recipient:', escape],
    ]);
    expect(await next.ended).toBe(9);
    const last = svcpayTty(['payout'], around);
    await answer(last, [['Continue the payout to LE VAN A', `\u001B[B${enter}`]]);
    await last.waitFor('? Country to pay out to');
    last.type('\u0003');
    expect(await last.ended).toBe(130);
    const fresh = svcpayTty(['payout'], around);
    await fresh.waitFor('? Country to pay out to');
    fresh.type('\u0003');
    expect(await fresh.ended).toBe(130);
  });

  test('sends no confirmation of the payout if the person declines', async ({ around }) => {
    const tty = svcpayTty(payoutWords(), around);
    await tty.waitFor(/Pay 0\.00020100 BTC/);
    tty.type(enter);
    expect(await tty.ended).toBe(9);
    expect(around.sandbox.requests('PUT')).toHaveLength(0);
  });
});

describe('the payout lookup commands', () => {
  test('list the payout methods of a country without an account', async ({ home }) => {
    const run = await svcpay(['payout', 'methods', 'NG', '-q'], { home });
    expect(run).toMatchObject({ exitCode: 0, stdout: 'ng-ngn-bank\nng-ngn-mobile\n' });
  });

  test('list the institutions of a country that svcpay pays out to', async ({ around }) => {
    const vietnam = await svcpay(['payout', 'institutions', 'VN', '--json'], around);
    expect(vietnam.json()).toContainEqual({
      institutionCode: '970436',
      institutionType: 'bank',
      institutionName: 'Vietcombank',
    });
    const france = await svcpay(['payout', 'institutions', 'fr', '--json'], around);
    expect(france).toMatchObject({ exitCode: 0, stdout: '[]\n' });
    const words = await svcpay(['payout', 'institutions', 'FR'], around);
    expect(words).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: expect.stringContaining('payouts there are not available'),
    });
  });

  test('list a recipient in the address book until the recipient is removed', async ({
    around,
  }) => {
    const destination = Object.entries(payoutAnswers).filter(([flag]) =>
      /^--(country|institution|acct|recipient)/.test(flag),
    );
    const added = await svcpay(['contacts', 'add', 'Anh A', ...destination.flat()], around);
    expect(added).toMatchObject({ exitCode: 0 });
    const listed = await svcpay(['contacts', 'list'], around);
    expect(listed.stdout).toBe('Anh A\tLE VAN A\t970436\t0123456789\tvnd-instant\n');
    expect(await svcpay(['contacts', 'remove', 'Anh A', '--yes'], around)).toMatchObject({
      exitCode: 0,
    });
    expect(await svcpay(['contacts', 'list', '--json'], around)).toMatchObject({
      exitCode: 0,
      stdout: '[]\n',
    });
    expect(await svcpay(['contacts', 'remove', 'Anh A'], around)).toMatchObject({ exitCode: 5 });
  });
});
