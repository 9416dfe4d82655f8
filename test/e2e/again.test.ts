// Tests svcpay again and the contacts that svcpay send and svcpay payout accept.
import { describe, expect } from 'vitest';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { test } from '../support/svcpay.js';

const wanjiku =
  'contacts add Wanjiku --country KE --institution MPESA --institution-name M-PESA --acct-num 0712345678 --acct-name WANJIKU'
    .concat(' --recipient-type individual --recipient-name Wanjiku --recipient-country KE')
    .split(' ');
const kyc =
  '--purpose 1 --source 2 --relationship 3 --sender-type individual --sender-name Jane --sender-country CA'.split(
    ' ',
  );
const enter = '\r';

describe('svcpay again', () => {
  test('pays a contact and an earlier payee again, with the last amount or another amount', async ({
    around,
  }) => {
    await svcpay(wanjiku, around);
    await svcpay(['payout', 'wanjiku', '1000kes', ...kyc, '--yes', '--no-wait'], around);
    await svcpay(['send', 'ada@example.com', '1000sat', '--yes'], around);
    await around.sandbox.clock.advance('1h');
    const again = async (...words: readonly string[]) =>
      (await svcpay(['again', ...words, '--yes', '--again', '--no-wait', '--json'], around)).json();
    expect(await again('ada')).toMatchObject({ sourceReq: { amtRequested: 0.00001 } });
    expect(await again('WANJIKU', '1500')).toMatchObject({
      destReq: { amtRequested: 1500, reqDetails: { acctNum: '+254712345678' } },
      sourceOfFunds: { purpose: 1, source: 2, relationship: 3 },
    });
    expect(await svcpay(['again', 'wanjku', '--yes'], around)).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining('Did you mean Wanjiku?'),
    });
  });

  test('offers the payees at a terminal, and suggests the last amount', async ({ around }) => {
    await svcpay(['send', 'ada@example.com', '1000sat', '--yes'], around);
    const tty = svcpayTty(['again'], around);
    await tty.waitFor(/Pay again[^]*❯ ada@example\.com +1 000 sat/);
    tty.type(enter);
    await tty.waitFor(/Amount[^]*1 000 sat/);
    tty.type(`1500sat${enter}`);
    await tty.waitFor(/You pay +0\.00001\d+ BTC[^]*\(y\/N\)/);
    tty.type(`n${enter}`);
    expect(await tty.ended).toBe(9);
  });

  test('repeats a payment of an id, but no invoice', async ({ around }) => {
    const swap = await svcpay(['swap', '5usdt', 'BTC', '--yes', '-q'], around);
    const again = await svcpay(['again', swap.stdout.trim(), '6', '--yes', '--json'], around);
    expect(again.json()).toMatchObject({ sourceReq: { ccy: 'USDT', amtRequested: 6 } });
    const invoice = await around.sandbox.invoice('2500sat');
    const paid = await svcpay(['send', 'lightning', invoice, '--yes', '-q'], around);
    expect(await svcpay(['again', paid.stdout.trim(), '--yes'], around)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('an invoice can be paid only once'),
    });
  });
});

test('svcpay send opens the payout of a contact, and refuses options of sends', async ({
  around,
}) => {
  await svcpay(wanjiku, around);
  await svcpay(['payout', 'wanjiku', '1000kes', ...kyc, '--yes', '--no-wait'], around);
  for (const [name, value] of [
    ['type', 'individual'],
    ['name', 'Jane'],
    ['country', 'CA'],
  ] as const)
    await svcpay(['config', 'set', `sender.${name}`, value], around);
  const sent = await svcpay(['send', 'wanjiku', '1500kes', '--yes', '--no-wait', '--json'], around);
  expect(sent.json()).toMatchObject({
    destReq: { ccy: 'KES', amtRequested: 1500, reqDetails: { acctNum: '+254712345678' } },
  });
  expect(await svcpay(['send', 'wanjiku', '1500kes', '--via', 'onchain'], around)).toMatchObject({
    exitCode: 2,
  });
});
