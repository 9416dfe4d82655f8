// Tests the form of a proposal: whatever a person is shown is bound by its id.
import { describe, expect, test } from 'vitest';
import { canonicalJson, readSwap } from '../../../src/wallet/instruction/instruction.js';
import { money } from '../../../src/formats/amount.js';
import type { Failure } from '../../../src/formats/failure.js';
import { readSendNow } from '../../../src/wallet/instruction/send.js';
import {
  checkProposal,
  proposalId,
  proposalText,
  proposedRows,
  readProposal,
  type Proposal,
} from '../../../src/wallet/proposals/proposal.js';

const now = Date.parse('2026-11-30T12:00:00Z');
const day = 86_400_000;
const environment = { network: 'any', now } as const;
const send = readSendNow({ to: 'ada@example.com', amount: '1300sat' }, environment).instruction;
const proposal: Proposal = {
  account: 'ne01-7f3a',
  rows: [send],
  batch: null,
  maxTotal: [money('BTC', '0.00002')],
  expiresAt: now + 3 * day,
  reason: 'invoice 118',
  nonce: 'ab'.repeat(16),
};
const text = proposalText(proposal);
const id = proposalId(text);

const read = (content: string, name = proposalId(content)) =>
  readProposal(content, name, environment);

describe('readProposal', () => {
  test('reads what was proposed', () => {
    expect(read(text)).toEqual({ id, text, proposal });
  });

  test.for([
    ['destination', 'ada@example.com', 'eve@example.com'],
    ['amount', '1300sat', '1400sat'],
    ['highest total', '0.00002', '0.00003'],
    ['account', 'ne01-7f3a', 'ne01-9999'],
    ['reason', 'invoice 118', 'invoice 119'],
    ['expiry', String(proposal.expiresAt), String(proposal.expiresAt + 1)],
    ['nonce', 'ab'.repeat(16), 'ac'.repeat(16)],
  ] as const)('refuses a file whose %s changed after the digest', ([, before, after]) => {
    const changed = text.replaceAll(before, after);
    expect(changed).not.toBe(text);
    expect(() => read(changed, id)).toThrow('differs from the id');
  });

  test.for([
    ['a doubled key', text.replace('"reason":', '"reason":"first","reason":')],
    ['an unknown field', text.replace('"account":', '"aaa":1,"account":')],
    ['white space', `${text}\n`],
    ['a NUL', text.replace('invoice 118', 'invoice\u0000 118')],
    ['another version', text.replace('],"version":1}', '],"version":2}')],
    ['no rows', canonicalJson({ version: 1, ...proposal, rows: [] })],
    ['no JSON', 'pay ada'],
  ] as const)('refuses a file with %s', ([, content]) => {
    expect(content).not.toBe(text);
    expect(() => read(content)).toThrow(/not valid|exact form/);
  });

  test.for([
    ['payee', { ...send, keys: ['lnurl:https://example.com/.well-known/lnurlp/eve'] }],
    ['paying wallet', { ...send, from: 'USDT' }],
    ['amount', { ...send, amount: 'invoice' }],
  ] as const)('refuses a row whose %s differs from its text', ([, row]) => {
    expect(() => read(proposalText({ ...proposal, rows: [row] }))).toThrow();
  });
});

describe('checkProposal', () => {
  test('accepts a proposal for up to 30 days', () => {
    expect(() => checkProposal({ ...proposal, expiresAt: now + 30 * day }, now)).not.toThrow();
  });

  const swap = readSwap({ amount: 'all', from: 'USDT', to: 'BTC' }, false);
  test.for([
    ['the amount all', { rows: [swap], maxTotal: [money('USDT', '26')] }, 'not "all"'],
    [
      'a total in another currency',
      { maxTotal: [money('USDT', '26')] },
      'Write one --max-total in BTC',
    ],
    ['an expiry after 30 days', { expiresAt: now + 30 * day + 1 }, 'may be valid for 30 d'],
    ['a past expiry', { expiresAt: now }, 'has expired'],
  ] as const)('refuses %s', ([, change, message]) => {
    const check = (): void => checkProposal({ ...proposal, ...change }, now);
    expect(check).toThrow(
      expect.toSatisfy((failure: Failure) =>
        `${failure.message} ${failure.hint}`.includes(message),
      ),
    );
  });
});

test('a reused nonce does not make two proposals one', () => {
  const other = { ...proposal, rows: [{ ...send, note: 'again' }] };
  expect(proposalId(proposalText(other))).not.toBe(id);
});

test('each row of a proposed batch has its own reference', () => {
  const batch = { name: 'wages', refs: ['E17', null] };
  const rows = proposedRows(
    read(proposalText({ ...proposal, rows: [send, send], batch })),
    environment,
  );
  expect(rows.map(({ ref, isNamed }) => [ref, isNamed])).toEqual([
    ['E17', true],
    [expect.stringMatching(/^proposal:[0-9a-f]{64}\/2$/), false],
  ]);
});
