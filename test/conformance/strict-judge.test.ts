// The judge of requests reports one finding for a request with one deviation from the
// specification.
import { expect, test } from 'vitest';
import {
  judgeCreateRequest,
  judgeEnvelope,
  judgeListQuery,
  judgeWebhook,
  type Received,
} from './strict-judge.js';

const wallet = { ccy: 'BTC', method: 'servicepay' };
const address = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const onchain = { ccy: 'BTC', method: 'on-chain', amtRequested: 0.00001, reqDetails: { address } };
const kyc = { type: 'individual', details: { legalFullName: 'Ann', countryCode: 'US' } };
const bank = { bankAcctNum: '1', institutionCode: 'VCB' };
const payout = {
  sourceReq: { ...wallet, kyc },
  destReq: { ccy: 'VND', method: 'vnd-instant', amtRequested: 500000, reqDetails: bank, kyc },
  sourceOfFunds: { purpose: 1, source: 1, relationship: 1 },
};
const { sourceOfFunds: _funds, ...withoutFunds } = payout;

test.for(
  [
    {
      why: 'an on-chain send with every optional field',
      body: {
        sourceReq: wallet,
        destReq: onchain,
        extRefId: 'a',
        note: 'b',
        deductNetworkFeesFromDest: true,
      },
    },
    { why: 'an international payout', body: payout },
    {
      why: 'a swap',
      body: {
        sourceReq: { ...wallet, amtRequested: 1 },
        destReq: { ccy: 'USDT', method: 'servicepay', reqDetails: {} },
      },
    },
  ].map((each) => [each.why, each] as const),
)('judgeCreateRequest accepts the create request of %s', ([, { body }]) => {
  expect(judgeCreateRequest(body)).toEqual([]);
});

test.for(
  [
    { why: 'an unknown field', body: { sourceReq: wallet, destReq: onchain, memo: 'a' } },
    {
      why: 'an unknown field of a side',
      body: { sourceReq: { ...wallet, amount: 1 }, destReq: onchain },
    },
    {
      why: 'amounts on both sides',
      body: { sourceReq: { ...wallet, amtRequested: 1 }, destReq: onchain },
    },
    {
      why: 'an amount as text',
      body: { sourceReq: wallet, destReq: { ...onchain, amtRequested: '0.1' } },
    },
    {
      why: 'an on-chain amount below the minimum',
      body: { sourceReq: wallet, destReq: { ...onchain, amtRequested: 0.00000999 } },
    },
    {
      why: 'an amount on the wrong side',
      body: {
        sourceReq: wallet,
        destReq: { ...onchain, method: 'lnurl', reqDetails: { address: 'a@b' } },
      },
    },
    {
      why: 'KYC outside a payout',
      body: { sourceReq: { ...wallet, kyc }, destReq: onchain },
    },
    {
      why: 'an unknown field of reqDetails',
      body: { sourceReq: wallet, destReq: { ...onchain, reqDetails: { address, tag: '1' } } },
    },
    {
      why: 'a swap into the same currency',
      body: { sourceReq: { ...wallet, amtRequested: 1 }, destReq: wallet },
    },
    {
      why: 'a payout in another currency',
      body: { ...payout, destReq: { ...payout.destReq, ccy: 'KES' } },
    },
    { why: 'a payout without source of funds', body: withoutFunds },
    { why: 'a payout without KYC', body: { ...payout, sourceReq: wallet } },
  ].map((each) => [each.why, each] as const),
)('judgeCreateRequest objects to %s', ([, { body }]) => {
  expect(judgeCreateRequest(body)).toHaveLength(1);
});

test.for([
  'time=other&startTime=2026-01-01T00:00:00Z',
  'txnStatuses=failed&txnStatuses=expired',
  'limit=100&page=2',
  '',
])('judgeListQuery accepts the list query "%s"', (query) =>
  expect(judgeListQuery(new URLSearchParams(query))).toEqual([]),
);

test.for([
  'time=2d',
  'startTime=2026-01-01T00:00:00Z',
  'time=other&endTime=2026-01-01',
  'limit=0',
  'txnStatuses=paid',
  'page=1&page=2',
  'sort=asc',
])('judgeListQuery refuses the list query "%s"', (query) =>
  expect(judgeListQuery(new URLSearchParams(query))).toHaveLength(1),
);

const envelope = (changes: Partial<Received>): Received => ({
  method: 'GET',
  path: '/api/v2/webhook',
  query: new URLSearchParams(),
  headers: {},
  body: '',
  ...changes,
});
const json = { 'content-type': 'application/json' };

test.for(
  [
    {
      why: 'a missing content type with a body',
      request: envelope({ method: 'POST', body: '{}' }),
    },
    {
      why: 'a missing content type on a PUT request without a body',
      request: envelope({ method: 'PUT' }),
    },
    { why: 'a content type on a GET request', request: envelope({ headers: json }) },
    {
      why: 'a body on a DELETE request',
      request: envelope({ method: 'DELETE', headers: json, body: '{}' }),
    },
    { why: 'the API secret in a header', request: envelope({ headers: { 'x-debug': 'hush' } }) },
    {
      why: 'the API key in a request to another endpoint than sign-in',
      request: envelope({ headers: { 'x-api-key': 'k' } }),
    },
  ].map((each) => [each.why, each] as const),
)('judgeEnvelope objects to %s', ([, { request }]) => {
  expect(judgeEnvelope(request, 'hush')).toHaveLength(1);
});

test('judgeWebhook objects to a callback without https and to a missing secret', () => {
  expect(judgeWebhook({ callback: 'http://a', secret: 's' }, true)).toHaveLength(1);
  expect(judgeWebhook({ callback: 'https://a' }, true)).toHaveLength(1);
  expect(judgeWebhook({ secret: 's' }, false)).toEqual([]);
});
