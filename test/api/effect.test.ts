// effectOf classifies a raw request as harmless only if the specification describes it as harmless.
import { describe, expect, test } from 'vitest';
import { effectOf } from '../../src/api/answer.js';

const confirm = '/api/v2/transaction/t-1/confirm';

describe('effectOf', () => {
  test.for([
    ['GET', confirm, 'read'],
    ['POST', '/api/v2/transaction', 'quote'],
    ['POST', '/api/v2/transaction/', 'quote'],
    ['PUT', '/api/v2/transaction/t-1/cancel', 'setting'],
    ['POST', '/api/v2/webhook', 'setting'],
    ['DELETE', '/api/v2/webhook/w-1', 'setting'],
    ['PUT', confirm, 'payment'],
    ['PUT', `${confirm}?x=1`, 'payment'],
    ['PUT', '/api/v2/transaction/t-1/c%6fnfirm', 'payment'],
    ['PUT', '/api/v2/transaction/t-1/cancel/../confirm', 'payment'],
    ['PUT', '/api/v2/webhook/../transaction/t-1/confirm', 'payment'],
    ['POST', '/api/v2/transaction/t-1/confirm', 'payment'],
    ['POST', '/api/v3/anything', 'payment'],
  ] as const)('classifies the request %s %s as %s', ([method, path, effect]) => {
    expect(effectOf(method, path).effect).toBe(effect);
  });

  test('reads the transaction id of a confirmation', () => {
    expect(effectOf('PUT', confirm)).toEqual({ effect: 'payment', txnId: 't-1' });
  });
});
