// The sandbox explains why it refuses a body.
import { expect, test } from 'vitest';
import { bodies, withSandbox } from '../../conformance/integrator.js';

const side = bodies.swap().sourceReq;

test.for(
  [
    {
      what: 'a number as the note',
      body: { ...bodies.swap(), note: 5 },
      message: 'note must be a string',
    },
    {
      what: 'an empty reference',
      body: { ...bodies.swap(), extRefId: '' },
      message: 'extRefId must not be empty',
    },
    {
      what: 'a reference of 5,000 characters',
      body: { ...bodies.swap(), extRefId: 'x'.repeat(5000) },
      message: /^extRefId must have at most \d+ characters$/,
    },
    {
      what: 'an amount as text',
      body: { ...bodies.swap(), sourceReq: { ...side, amtRequested: '25' } },
      message: 'sourceReq.amtRequested must be a number',
    },
    {
      what: 'an amount of null',
      body: { ...bodies.swap(), sourceReq: { ...side, amtRequested: null } },
      message: 'sourceReq.amtRequested must be a number',
    },
    {
      what: 'an unknown currency',
      body: { ...bodies.swap(), sourceReq: { ...side, ccy: 'XYZ' } },
      message: 'sourceReq.ccy must be a currency of the service',
    },
    {
      what: 'a side without a currency',
      body: { ...bodies.swap(), sourceReq: { ...side, ccy: undefined } },
      message: 'sourceReq.ccy is required',
    },
    {
      what: 'a body without a destination',
      body: { ...bodies.swap(), destReq: undefined },
      message: 'destReq is required',
    },
    {
      what: 'a text instead of a side',
      body: { ...bodies.swap(), destReq: 'BTC' },
      message: 'destReq must be an object',
    },
    {
      what: 'a text instead of a flag',
      body: { ...bodies.swap(), deductNetworkFeesFromDest: 'yes' },
      message: 'deductNetworkFeesFromDest must be true or false',
    },
    { what: 'null as the body', body: 'null', message: 'the body must be an object' },
  ].map((each) => [each.what, each] as const),
)('the sandbox explains why it refuses %s', ([, { body, message }]) =>
  withSandbox({}, async ({ call }) => {
    const { status, json } = await call('POST', '/transaction', body);
    expect({ status, ...json }).toEqual({
      status: 400,
      error: 'bad request',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
  }),
);
