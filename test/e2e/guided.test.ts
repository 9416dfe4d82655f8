// At a terminal, svcpay asks for missing values, explains a wrong answer and asks again. At each
// question, Esc returns to the previous question.
import { describe, expect } from 'vitest';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { test } from '../support/svcpay.js';

const down = '\u001B[B';
const enter = '\r';
const escape = '\u001B';
const interrupt = '\u0003';
const tron = 'TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW';

describe('the guided mode of svcpay', () => {
  test('asks for the missing values of svcpay send, and again after an invalid value', async ({
    around,
  }) => {
    const tty = svcpayTty(['send'], { ...around, rows: 24 });
    await tty.waitFor('Pay to');
    tty.type(`${tron.slice(0, -1)}X${enter}`);
    await tty.waitFor('checksum');
    tty.type('\u0015');
    tty.type(`${tron}${enter}`);
    await tty.waitFor('Amount in USDT');
    tty.type(escape);
    await tty.waitFor(/esc back\)\s+\(TJCnKsPa7y5ok/);
    tty.type(enter);
    await tty.waitFor('Amount in USDT');
    await tty.waitFor(/10 000\.00\s+USDT\s+available/);
    tty.type(`99 999 USDT${enter}`);
    await tty.waitFor(/You have 10 000\.00 USDT/);
    tty.type(`\u0015${`9 999.99${enter}`}`);
    await tty.waitFor(/insufficient balance[^]*What now\?[^]*❯ Change the amount/);
    tty.type(enter);
    await tty.waitFor('Amount in USDT');
    tty.type(`\u0015${`25${enter}`}`);
    await tty.waitFor(/You pay\s+26\.05 USDT/);
    await tty.waitFor(/Pay .*\? /);
    tty.type(escape);
    await tty.waitFor(/What now\?[^]*Change the amount/);
    tty.type(escape);
    expect(await tty.ended).toBe(9);
    expect(around.sandbox.requests('PUT')).toHaveLength(0);
  });

  test('suggests earlier recipients in svcpay send and accepts a similar new destination', async ({
    around,
  }) => {
    await svcpay(['contacts', 'add', 'ada', 'ada@example.company', '-q'], around);
    const paid = ['send', 'bob@example.com', '2500sat', '--yes', '-q'];
    expect(await svcpay(paid, around)).toMatchObject({ exitCode: 0 });
    const tty = svcpayTty(['send'], { ...around, rows: 24 });
    await tty.waitFor(/❯ +bob@example\.com +2 500 sat +now/);
    tty.type('ada@example.com');
    await tty.waitFor(/ada@example\.com\s+❯ ada@example\.com\s+ada +ada@example\.company/);
    tty.type('\u0015');
    await tty.waitFor(/❯ +bob@example\.com +2 500 sat +now/);
    tty.type('ad');
    await tty.waitFor(/❯ ada +ada@example\.company/);
    tty.type(enter);
    await tty.waitFor('Amount');
    tty.type(`3000sat${enter}`);
    await tty.waitFor(/Contact +ada[^]*Pay .*\? /);
    tty.type(interrupt);
    await tty.ended;
  });

  test('asks for the wallets and the amount of svcpay swap', async ({ around }) => {
    const tty = svcpayTty(['swap'], { ...around, columns: 60, rows: 20 });
    await tty.waitFor('From');
    tty.type(enter);
    await tty.waitFor('To');
    tty.type(enter);
    await tty.waitFor(/Amount to give · 1\.0+\s+BTC available\s+\(e\.g\. 50000sat/);
    tty.type(`40 000 sat${enter}`);
    await tty.waitFor(/Pay .*\? /);
    tty.type(escape);
    await tty.waitFor(/What now\?[^]*Change the amount/);
    tty.type(enter);
    await tty.waitFor('Amount to give');
    tty.type(`\u0015${`50 000 sat${enter}`}`);
    await tty.waitFor(/Pay 0\.0005\d+ BTC .*\? /);
    tty.type(`y${enter}`);
    expect(await tty.ended).toBe(0);
    expect(tty.text()).toContain('USDT');
  });

  test('asks for the method and amount of svcpay receive, and shows the expiry of the invoice after Ctrl-C', async ({
    around,
  }) => {
    const tty = svcpayTty(['receive'], { ...around, columns: 140, rows: 45 });
    await tty.waitFor('Over Lightning');
    tty.type(enter);
    await tty.waitFor('Amount to request');
    tty.type(escape);
    await tty.waitFor('Over Lightning');
    tty.type(enter);
    await tty.waitFor('Amount to request');
    tty.type(`10usd${enter}`);
    await tty.waitFor('Receive 0.00010000 BTC (10 000 sat) over Lightning');
    await tty.waitFor(/Worth\s+10\.00 USD\s+at 1 BTC = 100 000\.00 USD/);
    await tty.waitFor('Waiting for the payment');
    tty.type(interrupt);
    expect(await tty.ended).toBe(8);
    expect(tty.text()).toMatch(
      /Stopped waiting\. The invoice can be paid until \d\d:\d\d\.\s+svcpay tx watch [0-9a-f-]{36}/,
    );
  });

  test('asks for the setting and value of svcpay config set, and returns to the settings on Esc', async ({
    around,
  }) => {
    const tty = svcpayTty(['config', 'set'], { ...around, rows: 24 });
    await tty.waitFor('Which setting?');
    tty.type('country');
    await tty.waitFor('sender.country');
    tty.type(enter);
    await tty.waitFor('sender.country');
    tty.type(`Atlantis${enter}`);
    await tty.waitFor('"Atlantis"');
    tty.type(escape);
    await tty.waitFor('Which setting?');
    tty.type(`network${enter}`);
    await tty.waitFor('testnet');
    tty.type(`${down}${enter}`);
    expect(await tty.ended).toBe(0);
    expect(await svcpay(['config', 'get', 'network'], around)).toMatchObject({
      stdout: 'testnet\n',
    });
    expect(await svcpay(['config', 'get', 'sender.country'], around)).toMatchObject({
      exitCode: 5,
    });
  });

  test('still asks on the terminal if svcpay send reads its destination from a pipe', async ({
    around,
  }) => {
    const tty = svcpayTty(['send', '-'], { ...around, input: 'ada@example.com\n' });
    await tty.waitFor('Amount');
    tty.type(`1000sat${enter}`);
    await tty.waitFor(/Pay .*\? /);
    tty.type(`y${enter}`);
    expect(await tty.ended).toBe(0);
    expect(around.sandbox.requests('PUT')).toHaveLength(1);
    const silent = svcpayTty(['send', 'ada@example.com', '1000sat'], { ...around, input: 'y\n' });
    expect(await silent.ended).toBe(9);
    expect(around.sandbox.requests('PUT')).toHaveLength(1);
  });

  test('ends svcpay tx cancel and tx watch at once if there is no transaction to choose', async ({
    around,
  }) => {
    for (const command of ['cancel', 'watch']) {
      const tty = svcpayTty(['tx', command], around);
      expect(await tty.ended).toBe(5);
      expect(tty.text()).toContain('No transaction has a state that this command accepts.');
    }
  });

  test('asks for the payment method of a new recipient and stores the destination', async ({
    around,
  }) => {
    const tty = svcpayTty(['contacts', 'add', 'ada'], { ...around, columns: 60, rows: 20 });
    await tty.waitFor('How do you pay this contact?');
    tty.type(`${down}${enter}`);
    await tty.waitFor('Pay to');
    tty.type(`ada@example.com${enter}`);
    await tty.waitFor('svcpay send ada');
    expect(await tty.ended).toBe(0);
    expect((await svcpay(['contacts', 'list', '--json'], around)).json()).toEqual([
      { name: 'ada', destination: 'ada@example.com' },
    ]);
  });

  const lacking: [line: string, missing: string][] = [
    ['config set', 'Missing KEY and VALUE.'],
    ['config set network', 'Missing VALUE.'],
    [
      'send',
      'Not sent. Missing DESTINATION and --yes. svcpay cannot ask, because stdin is not a terminal.',
    ],
    ['send lightning --yes', 'Not sent. Missing INVOICE.'],
    ['send onchain', 'Not sent. Missing ADDRESS, AMOUNT (e.g. 50000sat) and --yes.'],
    ['send alice@example.com --yes', 'Missing AMOUNT (e.g. 50000sat).'],
    ['swap', 'Missing AMOUNT, FROM, TO and --yes.'],
    ['swap 25usdt --yes', 'Missing TO.'],
    ['receive', 'Missing lightning, onchain or address.'],
    ['receive address', 'Missing btc, usdt or lightning.'],
    ['batch', 'Not sent. Missing FILE.'],
    ['receive onchain', 'Missing AMOUNT (e.g. 50000sat).'],
  ];
  test('lists all missing values at once instead of asking if there is no terminal', async ({
    around,
  }) => {
    for (const [line, missing] of lacking) {
      const run = await svcpay(line.split(' '), around);
      expect([line, run.exitCode, run.stdout]).toEqual([line, 9, '']);
      expect(run.stderr).toContain(missing);
    }
    expect(around.sandbox.requests()).toHaveLength(0);
  });
});

describe('svcpay receive', () => {
  test('converts a dollar amount to bitcoin at the current rate', async ({ around }) => {
    const run = await svcpay(['receive', 'lightning', '10', 'usd', '--json'], around);
    expect(run.json()).toMatchObject({ destReq: { ccy: 'BTC', amtRequested: 0.0001 } });
  });

  test('ends with exit 5 if the account record has no Lightning Address', async ({ around }) => {
    const run = await svcpay(['receive', 'address', 'lightning', '--json'], around);
    expect(run).toMatchObject({ exitCode: 5, stdout: '' });
    expect(run.error().message).toContain('no Lightning Address');
  });
});
