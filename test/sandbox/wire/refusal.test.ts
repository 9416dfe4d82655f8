// The messages for refused bodies.
import { expect, test } from 'vitest';
import { bodies, withSandbox } from '../../conformance/integrator.js';

const side = bodies.swap().sourceReq;

test.for([
  { body: { ...bodies.swap(), note: 5 }, message: 'note: a text is needed' },
  { body: { ...bodies.swap(), extRefId: '' }, message: 'extRefId: it must not be empty' },
  {
    body: { ...bodies.swap(), extRefId: 'x'.repeat(5000) },
    message: /^extRefId: at most \d+ characters are taken$/,
  },
  {
    body: { ...bodies.swap(), sourceReq: { ...side, amtRequested: '25' } },
    message: 'sourceReq.amtRequested: a number is needed',
  },
  {
    body: { ...bodies.swap(), sourceReq: { ...side, amtRequested: null } },
    message: 'sourceReq.amtRequested: a number is needed',
  },
  {
    body: { ...bodies.swap(), sourceReq: { ...side, ccy: 'XYZ' } },
    message: 'sourceReq.ccy: a currency of the service is needed',
  },
  {
    body: { ...bodies.swap(), sourceReq: { ...side, ccy: undefined } },
    message: 'sourceReq.ccy: it is required',
  },
  { body: { ...bodies.swap(), destReq: undefined }, message: 'destReq: it is required' },
  { body: { ...bodies.swap(), destReq: 'BTC' }, message: 'destReq: an object is needed' },
  {
    body: { ...bodies.swap(), deductNetworkFeesFromDest: 'yes' },
    message: 'deductNetworkFeesFromDest: true or false is needed',
  },
  { body: 'null', message: 'an object is needed' },
])('$message', ({ body, message }) =>
  withSandbox({}, async ({ call }) => {
    const { status, json } = await call('POST', '/transaction', body);
    expect({ status, ...json }).toEqual({
      status: 400,
      error: 'bad request',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
  }),
);
