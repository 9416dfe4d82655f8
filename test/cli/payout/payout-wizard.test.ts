// The payout wizard asks its questions in order, goes back on request, and skips answered
// questions.
import { describe, expect, test } from 'vitest';
import { money } from '../../../src/formats/amount.js';
import type { Institution } from '../../../src/api/types.js';
import type { Recipient } from '../../../src/store/profile/profiles.js';
import { back, walk } from '../../../src/terminal/ask/questions.js';
import {
  readDraft,
  type Draft,
  missingFlags,
  payoutOptions,
} from '../../../src/cli/payout/payout-flow.js';
import {
  payoutChanges,
  payoutQuestions,
  type WizardDeps,
} from '../../../src/cli/payout/payout-wizard.js';
import { readAll, type RawValues } from '../../../src/cli/values.js';
import { methodAt } from '../../../src/wallet/payout/methods.js';
import { actor, type Script } from '../../support/actor.js';

const institutions: readonly Institution[] = [
  { institutionCode: '970436', institutionType: 'bank', institutionName: 'Vietcombank' },
  { institutionCode: 'MOMO', institutionType: 'mobile', institutionName: 'MoMo' },
];

const leVanA: Recipient = {
  method: 'vnd-instant',
  country: 'VN',
  institutionCode: '970436',
  institutionName: 'Vietcombank',
  acctNum: '0123456789',
  acctName: 'LE VAN A',
  party: { type: 'individual', legalFullName: 'Le Van A', countryCode: 'VN' },
};

const draftOf = (flags: RawValues, contacts: Readonly<Record<string, Recipient>> = {}): Draft =>
  readDraft(readAll(payoutOptions, flags), contacts, undefined);

async function played(
  script: Script,
  flags: RawValues = {},
  book: Readonly<Record<string, Recipient>> = {},
  deps: Partial<WizardDeps> = {},
) {
  const { pose, complaints, shown, left } = actor(script);
  const lookedUp: string[] = [];
  const kept: string[] = [];
  const start = draftOf(flags, book);
  const { steps, onStep } = payoutQuestions(start, {
    institutions: async (country) => {
      lookedUp.push(country);
      return country === 'VN' ? institutions : [];
    },
    known: Object.entries(book).map(([name, kept]) => ({ name, value: { chosen: name, kept } })),
    codes: {},
    takesAnyCode: false,
    wallets: () => [],
    worth: ({ ccy, value }) => (ccy === 'VND' ? money('BTC', value.div(2_500_000_000)) : undefined),
    keep: {
      sender: async () => void kept.push('sender'),
      recipient: async (name) => void kept.push(name),
      parseName: (text) => text,
    },
    onAnswers: () => undefined,
    ...deps,
  });
  const draft = await walk(pose, start, steps, { onStep });
  expect(left()).toEqual([]);
  return { draft, complaints, lookedUp, shown, kept };
}

const recipient = [
  'recipient-type person',
  'recipient-name',
  'recipient-country Vietnam',
  'recipient-phone +84 912 345 678',
  'recipient-address',
];
const sender = [
  'sender-type business',
  'sender-name Acme Ltd',
  'sender-country Germany',
  'sender-phone',
  'sender-address 1 High St',
];
const funds = ['purpose 1', 'source 2', 'relationship 3'];
const account = ['institution vietcom', 'acct-num 0123 456 789', 'acct-name LE VAN A'];
const keepNobody = 'yes';
const keepNoSender = 'yes do not';
const whole = [
  'country vietnam',
  'amount 500000',
  ...account,
  ...recipient,
  keepNobody,
  ...sender,
  keepNoSender,
  ...funds,
];

const senderFlags = { senderType: 'individual', senderName: 'Jane Roe', senderCountry: 'DE' };
const destinationFlags = {
  country: 'VN',
  institution: '970436',
  acctNum: '0123456789',
  acctName: 'LE VAN A',
  recipientType: 'individual',
  recipientName: 'Le Van A',
  recipientCountry: 'VN',
};
const fundsFlags = { purpose: '1', source: '2', relationship: '3', amount: '500000vnd' };

describe('the payout wizard', () => {
  test('asks for all parts of a payout in order, and fills in each answer that has only one possible value', async () => {
    const { draft, shown } = await played(whole);
    const parts = ['Where to', 'Amount', 'Account', 'Recipient', 'Sender', 'Codes'];
    const titles = parts.map((part, index) => `  Payout · step ${index + 1} of 6 · ${part}`);
    expect([...new Set(shown.map(([title]) => title))]).toEqual(titles);
    expect(draft).toMatchObject({
      country: 'VN',
      institution: '970436',
      acctNum: '0123456789',
      recipientName: 'LE VAN A',
      recipientPhone: '+84912345678',
      recipientAddress: undefined,
      senderType: 'business',
      senderAddress: '1 High St',
      purpose: 1,
      amount: '500 000 VND',
      chosen: '',
    });
  });

  test('shows the answers of each finished step in one line above the next question', async () => {
    const { shown } = await played(whole);
    expect(shown.at(-1)).toEqual([
      '  Payout · step 6 of 6 · Codes',
      '  ✓ Vietnam · bank account · within minutes',
      '  ✓ 500 000 VND · ≈ 20 000 sat',
      '  ✓ Vietcombank (970436) · 0123456789 · LE VAN A',
      '  ✓ LE VAN A · Vietnam · +84912345678',
      '  ✓ sender: business · Acme Ltd · Germany · 1 High St',
      '  … purpose 1 · source 2',
    ]);
    const kept = await played(
      ['NAME Le', 'amount 500000', 'purpose <', 'amount <', 'NAME <'],
      senderFlags,
      {
        'Le Van A': leVanA,
      },
    );
    expect(kept.shown[2]).toEqual([
      '  Payout · step 6 of 6 · Codes',
      '  ✓ Vietnam · bank account · within minutes',
      '  ✓ 500 000 VND · ≈ 20 000 sat',
      '  ✓ Vietcombank (970436) · 0123456789 · LE VAN A',
      '  ✓ Le Van A · Vietnam                   ✓ sender: Jane Roe · Germany (kept)',
    ]);
  });

  test('offers the labelled codes of the profile, the last used code and the funded wallets', async () => {
    const codes = {
      purpose: { labels: { 1: 'Family support', 2: 'Education' } },
      source: { last: 7 },
    };
    const wallets = () => [
      { value: 'BTC', name: '0.5 BTC' },
      { value: 'USDT', name: '25 USDT' },
    ];
    const before = whole.slice(0, -funds.length);
    const { draft } = await played(
      [...before, 'purpose educ', 'source', 'relationship 3', 'from usdt'],
      {},
      {},
      { codes, wallets },
    );
    expect(draft).toMatchObject({ purpose: 2, source: 7, relationship: 3, from: 'USDT' });
    const unlisted = await played(
      [...before, 'purpose another', 'purpose 9', 'source', 'relationship 3'],
      {},
      {},
      { codes },
    );
    expect(unlisted.draft).toMatchObject({ purpose: 9 });
    expect(unlisted.draft).not.toHaveProperty('from');
  });

  test('asks for one of several payout methods, and then for the institutions of the method', async () => {
    const start = [
      'country nigeria',
      'method mobile',
      'amount 5',
      'institution OPAY',
      'institution-name',
      'acct-num +2348012345678',
    ];
    const { draft } = await played([
      ...start,
      'acct-name <',
      'acct-num <',
      'institution-name <',
      'institution <',
      'amount <',
      'method <',
      'country <',
    ]);
    expect(draft).toBe(back);
  });

  test('offers only the institutions of the payout method', async () => {
    await expect(played(['country vietnam', 'amount 5', 'institution momo'])).rejects.toThrow(
      'does not offer momo',
    );
  });

  test('asks for the name and the code of an institution if the service lists no institutions', async () => {
    const lost = [
      'country kenya',
      'amount 5',
      'institution MPESA',
      'institution-name <',
      'institution MPESA',
      'institution-name M-Pesa',
    ];
    const returned = ['acct-num <', 'institution-name <', 'institution <', 'amount <', 'country <'];
    const { draft } = await played([...lost, ...returned]);
    expect(draft).toBe(back);
  });

  const wandering = [
    'country kenya',
    'amount 5',
    'institution <',
    'amount <',
    'country vietnam',
    'amount 5',
    'institution vietcom',
    'acct-num 1',
    'acct-num 0123',
    'acct-name <',
    'acct-num <',
    'institution <',
    'amount 500000',
    'institution vietcom',
    'acct-num 0123456789',
    'acct-name LE VAN A',
  ];

  test('goes back over skipped questions, and discards later answers', async () => {
    const { draft, lookedUp } = await played([
      ...wandering,
      ...recipient,
      keepNobody,
      ...sender,
      keepNoSender,
      ...funds,
    ]);
    expect(draft).toMatchObject({
      country: 'VN',
      acctNum: '0123456789',
    });
    expect(lookedUp).toEqual(['KE', 'VN', 'VN', 'VN']);
  });

  test('saves the typed recipient before the questions about the sender, and the sender before the codes', async () => {
    const { draft, kept } = await played([
      'country vietnam',
      'amount 500000',
      ...account,
      ...recipient,
      'yes Le Van A',
      'sender-type <',
      'yes Anh A',
      ...sender,
      'yes save',
      'purpose <',
      'yes save',
      ...funds,
    ]);
    expect(kept).toEqual(['Le Van A', 'Anh A', 'sender', 'sender']);
    expect(draft).toMatchObject({ chosen: 'Anh A' });
  });

  const kenya = [
    'country kenya',
    'amount 5vnd',
    'amount 5',
    'institution MPESA',
    'institution-name',
    'acct-num +254712345',
    'acct-num 0712345678',
    'acct-name WANJIKU',
    'recipient-type person',
    'recipient-name',
    'recipient-country kenya',
    'recipient-phone 0912',
    'recipient-phone',
    'recipient-address',
  ];
  const badFunds = ['purpose one', 'purpose 1', 'source 2', 'relationship 3'];

  test('explains a wrong answer at once, and asks again', async () => {
    const { complaints } = await played([
      ...kenya,
      keepNobody,
      ...sender,
      keepNoSender,
      ...badFunds,
    ]);
    expect(complaints).toEqual([
      '"5vnd" is an amount in VND, but the amount must be in KES. Write an amount such as 25kes.',
      '"+254712345" is not a mobile number of this country: after +254, its numbers have 9 digits.',
      '"0912" is not a mobile number of this country: after +254, its numbers have 9 digits.',
      '"one" is not a whole number from 0 to 999999.',
    ]);
  });

  test('asks only for the values that no flag sets', async () => {
    const { draft } = await played(['amount 500000', 'acct-num 0123456789', 'yes'], {
      ...destinationFlags,
      ...senderFlags,
      ...fundsFlags,
      acctNum: undefined,
      amount: undefined,
    });
    expect(draft).toMatchObject({ acctNum: '0123456789', chosen: '' });
  });

  test('offers only countries with payouts in the currency of the amount', async () => {
    const flags = { amount: '500kes' };
    await expect(played(['country vietnam'], flags)).rejects.toThrow(
      'does not offer vietnam: Kenya (KES)',
    );
  });

  test('offers an earlier answer as the default after a step back', async () => {
    const { draft } = await played([
      'country vietnam',
      'amount 5',
      ...account,
      'recipient-type <',
      'acct-name <',
      'acct-num',
      'acct-name',
      ...recipient,
      keepNobody,
      ...sender,
      keepNoSender,
      ...funds,
    ]);
    expect(draft).toMatchObject({ acctNum: '0123456789', acctName: 'LE VAN A' });
  });

  test('offers the codes that the address book stores for the recipient', async () => {
    const known = { ...leVanA, codes: { purpose: 7, source: 8, relationship: 9 } };
    const { draft } = await played(
      ['NAME Le', 'amount 500000', ...sender, keepNoSender, 'purpose', 'source', 'relationship 3'],
      {},
      { 'Le Van A': known },
    );
    expect(draft).toMatchObject({ purpose: 7, source: 8, relationship: 3 });
  });

  test('reads --method mobile as the mobile method of the country', async () => {
    expect(methodAt(draftOf({ method: 'mobile', country: 'KE' }))?.code).toBe('ke-kes-mobile');
    await expect(played(['country vietnam'], { method: 'mobile' })).rejects.toThrow(
      'does not offer vietnam: Benin',
    );
    expect(() => draftOf({ method: 'mobile', country: 'VN' })).toThrow(
      'There is no such payout method for Vietnam: use vnd-instant (bank).',
    );
  });

  test('asks no question about a recipient from the address book', async () => {
    const { draft } = await played(
      ['NAME Le', 'amount 500000', ...sender, keepNoSender, ...funds],
      {},
      { 'Le Van A': leVanA },
    );
    expect(draft).toMatchObject({
      chosen: 'Le Van A',
      acctNum: '0123456789',
      recipientCountry: 'VN',
    });
  });

  test('asks every question about a new recipient', async () => {
    const { draft } = await played(['NAME New recipient', ...whole], {}, { 'Le Van A': leVanA });
    expect(draft).toMatchObject({ chosen: '' });
  });
});

describe('the payout wizard after a declined quote', () => {
  const complete = { ...destinationFlags, ...senderFlags, ...fundsFlags };
  const changed = async (names: readonly (keyof Draft)[], script: Script) => {
    const { pose, left } = actor(script);
    const nothing = {
      institutions: async () => institutions,
      known: [],
      codes: {},
      takesAnyCode: true,
      wallets: () => [],
      worth: () => undefined,
      keep: undefined,
      onAnswers: () => undefined,
    };
    const before = draftOf(complete);
    const kept = Object.entries(before).filter(([name]) => !names.some((each) => each === name));
    const start: Draft = Object.fromEntries(kept);
    const draft = await walk(pose, start, payoutQuestions(start, nothing).steps, { before });
    expect(left()).toEqual([]);
    return draft;
  };

  test('changes one answer of a payout and keeps the other answers', async () => {
    const draft = await changed(payoutChanges['Change the amount'] ?? [], ['amount 70000']);
    expect(draft).toMatchObject({
      acctNum: '0123456789',
      senderName: 'Jane Roe',
      purpose: 1,
      amount: '70 000 VND',
    });
  });

  test('offers the previous answer to a changed question as the default', async () => {
    expect(await changed(payoutChanges['Change the amount'] ?? [], ['amount'])).toMatchObject({
      amount: '500 000 VND',
    });
  });

  test('asks for a new amount after the account changed', async () => {
    expect(await changed(payoutChanges['Change the account'] ?? [], ['country <'])).toBe(back);
    expect(
      await changed(payoutChanges['Change the account'] ?? [], [
        'country vietnam',
        'amount 5',
        ...account,
      ]),
    ).toMatchObject({
      acctName: 'LE VAN A',
      recipientName: 'Le Van A',
    });
  });
});

describe('svcpay payout', () => {
  test('asks no question if all flags are given', () => {
    expect(missingFlags(draftOf({ ...destinationFlags, ...senderFlags, ...fundsFlags }))).toEqual(
      [],
    );
  });

  test('lists all missing flags of a payout', () => {
    expect(missingFlags(draftOf({ country: 'NG', amount: '5000', ...senderFlags }))).toEqual([
      '--method CODE',
      '--institution CODE',
      '--acct-num NUMBER',
      '--acct-name NAME',
      '--recipient-type individual|business',
      '--recipient-name NAME',
      '--recipient-country CC',
      '--purpose N',
      '--source N',
      '--relationship N',
    ]);
  });

  test('requires no destination flags if --recipient names a recipient in the address book', () => {
    const draft = draftOf(
      { recipient: 'Le Van A', ...senderFlags, ...fundsFlags },
      { 'Le Van A': leVanA },
    );
    expect(missingFlags(draft)).toEqual([]);
  });

  const wrong: { why: string; flags: RawValues; message: string | RegExp }[] = [
    { why: 'an unknown country', flags: { country: 'FR' }, message: /no payouts to "FR"/ },
    { why: 'an unknown method', flags: { method: 'sepa' }, message: /no payout method "sepa"/ },
    {
      why: 'a method of another country',
      flags: { country: 'VN', method: 'krw-bank' },
      message: /not to Vietnam: use vnd-instant/,
    },
    {
      why: 'an amount in another currency',
      flags: { country: 'VN', amount: '500usd' },
      message: /amount in USD, but the amount must be in VND/,
    },
    {
      why: 'an amount without a currency',
      flags: { amount: '500' },
      message: /"500" has no currency/,
    },
    {
      why: 'an amount that no country pays out',
      flags: { amount: '500sat' },
      message: /Payouts are in CAD, INR, .*Write an amount such as 500000vnd/,
    },
    {
      why: 'a phone number without a country code',
      flags: { senderPhone: '0912345678' },
      message: /no country code/,
    },
    {
      why: 'a mobile number of another country',
      flags: { country: 'KE', acctNum: '+84912345678' },
      message: /after \+254, its numbers have 9 digits/,
    },
    {
      why: 'a name behind the account number',
      flags: { country: 'VN', acctNum: '0123456789 LE VAN A' },
      message: /cannot be an account number/,
    },
    { why: 'a name without letters', flags: { acctName: '123' }, message: /cannot be a name/ },
    {
      why: 'a purpose code that is not a whole number',
      flags: { purpose: '-1' },
      message: /not a whole number/,
    },
    {
      why: 'a recipient outside the address book',
      flags: { recipient: 'Bob' },
      message: /"Bob" is not in your contacts/,
    },
    {
      why: 'a recipient named like an inherited property',
      flags: { recipient: 'toString' },
      message: /"toString" is not/,
    },
    {
      why: 'an account number next to a recipient',
      flags: { recipient: 'Le Van A', acctNum: '1234' },
      message: /Remove --acct-num/,
    },
  ];

  test.each(wrong.map((each) => [each.why, each] as const))(
    'refuses %s in the payout flags',
    (_why, { flags, message }) => {
      expect(() => draftOf(flags, { 'Le Van A': leVanA })).toThrow(message);
    },
  );
});

describe('the payout draft', () => {
  const kept = {
    type: 'individual',
    legalFullName: 'Jane Roe',
    countryCode: 'DE',
    contactNumber: '+491512345678',
  } as const;
  const senderIn = (flags: RawValues) => readDraft(readAll(payoutOptions, flags), {}, kept);

  test('takes the sender from the profile if no flag names a sender', () => {
    expect(senderIn({})).toMatchObject({ senderName: 'Jane Roe', senderPhone: '+491512345678' });
  });

  test('replaces one field of the sender in the profile with the value of a flag', () => {
    expect(senderIn({ senderCountry: 'FR' })).toMatchObject({
      senderName: 'Jane Roe',
      senderCountry: 'FR',
    });
  });

  test('ignores the sender of the profile if a flag names another sender', () => {
    const sender = senderIn({ senderName: 'Acme Ltd' });
    expect(sender).not.toHaveProperty('senderType');
    expect(sender).not.toHaveProperty('senderPhone');
  });
});
