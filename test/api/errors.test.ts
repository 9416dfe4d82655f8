// ServiceClient derives from each answer the kind of failure, its message, and whether money may
// have moved.
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { CancelNotOffered, NoAnswer, ServiceError, NetworkError } from '../../src/api/errors.js';
import { answer, type FakeAnswer } from '../support/fake-transport.js';
import { lost, refused, start, tokenPath, transaction, world } from './support/client.js';

const path = '/api/v2/transaction/t1';

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error,
  );
}

describe('ServiceClient error answer', () => {
  const shapes = [
    [
      'the fields error and message',
      { error: 'bad request', message: 'destReq.ccy is missing' },
      {
        reason: 'bad request: destReq.ccy is missing',
        message: 'The service refused: bad request: destReq.ccy is missing (400).',
      },
    ],
    [
      'only the field error',
      { error: 'failed to get account' },
      { reason: 'failed to get account', code: undefined },
    ],
    [
      'a code and metadata',
      {
        resultStatus: 'error',
        code: '2005',
        error: 'transaction t1 already in final state completed',
        errorMetadata: { params: '{"state":"completed","txnId":"t1"}' },
      },
      {
        reason: 'transaction t1 already in final state completed',
        code: '2005',
        params: { state: 'completed', txnId: 't1' },
        message:
          'The service refused: transaction t1 already in final state completed (400, code 2005).',
      },
    ],
    [
      'equal error and message',
      { error: 'not allowed', message: 'not allowed' },
      { reason: 'not allowed' },
    ],
    ['only the field message', { message: 'too small' }, { reason: 'too small' }],
    ['a numeric code', { error: 'x', code: 2005 }, { code: '2005' }],
    [
      'params that are not JSON',
      { error: 'x', errorMetadata: { params: '{oops' } },
      { params: '{oops' },
    ],
    [
      'params that are an object',
      { error: 'x', errorMetadata: { params: { a: 1 } } },
      { params: { a: 1 } },
    ],
    ['errorMetadata without params', { error: 'x', errorMetadata: {} }, { params: undefined }],
    [
      'null as errorMetadata',
      { error: 'x', errorMetadata: null },
      { reason: 'x', params: undefined },
    ],
    [
      'an error that is not text',
      { error: { deep: true }, message: 7 },
      { reason: 'no explanation' },
    ],
    ['a list as its body', [1], { reason: 'no explanation' }],
    ['an empty body', '', { reason: 'an empty body' }],
    [
      'an HTML body',
      '<html><head><style>b{}</style><title>Oops</title></head><body>Not  here</body></html>',
      {
        reason: 'a body that is not JSON (application/json): "Oops Not here"',
      },
    ],
  ] as const;
  test('keeps the headers and the body of the answer out of a log', async () => {
    const { client, service } = world();
    service.on('GET', path, answer(400, { error: 'bad request', trace: 'a long trace' }));
    const error = await failureOf(client.transaction('t1'));
    expect(error).toMatchObject({ body: expect.stringContaining('a long trace') });
    expect(inspect(error)).not.toMatch(/a long trace|headers/);
  });

  test.for(shapes)('describes an error answer with %s', async ([, body, expected]) => {
    const { client, service } = world();
    service.on('GET', path, answer(400, body));
    const failure = await failureOf(client.transaction('t1'));
    expect(failure).toBeInstanceOf(ServiceError);
    expect(failure).toMatchObject({ kind: 'refused', exitCode: 3, status: 400, ...expected });
  });
});

describe('ServiceClient failure kind', () => {
  test.for([
    [400, 'refused', 3],
    [402, 'refused', 3],
    [403, 'authentication', 4],
    [404, 'not-found', 5],
    [409, 'refused', 3],
    [422, 'refused', 3],
  ] as const)('reports status %i as `%s`', async ([status, kind, exitCode]) => {
    const { client, service } = world();
    service.on('GET', path, answer(status, { error: 'no' }));
    await expect(client.transaction('t1')).rejects.toMatchObject({
      name: 'ServiceError',
      status,
      kind,
      exitCode,
    });
  });

  test.for([
    [429, 8],
    [500, 4],
    [502, 4],
    [503, 4],
    [504, 4],
  ] as const)('reports a temporary failure after repeated status %i', async ([status, times]) => {
    const { client, service } = world();
    service.on('GET', path, ...Array(times).fill(answer(status, { error: 'later' })));
    await expect(client.transaction('t1')).rejects.toMatchObject({
      status,
      kind: 'temporary',
      exitCode: 75,
    });
  });

  test('names the unknown transaction after a 404', async () => {
    const { client, service } = world();
    service.on('GET', path, answer(404, { error: 'not found' }));
    await expect(client.transaction('t1')).rejects.toMatchObject({
      message: 'The service has no transaction t1: not found (404).',
      next: { do: 'see-history' },
    });
  });

  test('suggests checking the base URL after a 404 without JSON', async () => {
    const { client, service } = world();
    service.on('GET', path, answer(404, '<html>', { 'content-type': 'text/html' }));
    await expect(client.transaction('t1')).rejects.toMatchObject({ hint: 'Check the base URL.' });
  });

  test('reports a redirect as a temporary failure without following it', async () => {
    const { client, service } = world();
    service.on('GET', path, answer(302, '', { location: 'https://elsewhere.example/?token=x' }));
    await expect(client.transaction('t1')).rejects.toMatchObject({
      kind: 'temporary',
      hint: 'Try again. If the error persists, check the base URL.',
      status: 302,
      message:
        'The service redirects to a different address, to which svcpay never sends the token: https://elsewhere.example/ (302).',
    });
  });

  test('reports a temporary failure with the first words of the page if the service answers every retry with HTML', async () => {
    const { client, service } = world();
    const page = `<html><body>${'Welcome to the guest network. '.repeat(9)}</body></html>`;
    service.on(
      'GET',
      path,
      ...Array(4).fill(answer(200, page, { 'content-type': 'text/html; charset=utf-8' })),
    );
    await expect(client.transaction('t1')).rejects.toMatchObject({
      kind: 'temporary',
      message:
        'The service answered with a body that is not JSON (text/html): ' +
        '"Welcome to the guest network. Welcome to the guest network. Welcome to the gues…".',
    });
  });

  test('ignores a byte order mark before a JSON answer', async () => {
    const { client, service } = world();
    const { body } = answer(200, transaction());
    service.on('GET', path, answer(200, `\uFEFF${body}`));
    expect(await client.transaction('t1')).toMatchObject({ txnId: 't1' });
  });

  test('describes a truncated token answer without quoting the token', async () => {
    const { client, service } = world({ token: null });
    service.on('POST', tokenPath, ...Array(4).fill(answer(200, '{"accessToken":"eyJhbGciOi')));
    await expect(client.authenticate()).rejects.toMatchObject({
      message: 'The service answered with truncated JSON (26 characters).',
    });
  });

  test('names the field, value and expected type of an invalid answer', async () => {
    const { client, service } = world();
    service.on('GET', '/api/v2/account/ne01-7f3a/wallet/', answer(200, { data: 'abc' }));
    await expect(client.wallets()).rejects.toMatchObject({
      kind: 'unexpected',
      message: `The service's answer could not be read: the list is "abc", a list was expected.`,
    });
  });
});

describe('ServiceClient outcome of a write request', () => {
  const html: FakeAnswer = answer(200, '<html></html>', { 'content-type': 'text/html' });
  const unknown = { name: 'NoAnswer', mayHaveArrived: true };
  const untouched = { name: 'NoAnswer', mayHaveArrived: false, kind: 'temporary', exitCode: 75 };
  const outcomes: [string, FakeAnswer, Record<string, unknown>][] = [
    ['as not sent after a refused connection', refused(), untouched],
    [
      'as not sent if the host is unknown',
      new NetworkError('the host name cannot be resolved', { requestSent: false }),
      untouched,
    ],
    ['as possibly sent after a lost answer', lost(), unknown],
    [
      'as possibly sent after status 500',
      answer(500, { error: 'internal' }),
      { ...unknown, status: 500 },
    ],
    [
      'as possibly sent after status 502 with HTML',
      answer(502, '<h1>Bad Gateway</h1>'),
      { ...unknown, status: 502 },
    ],
    ['as possibly sent after status 503', answer(503, ''), { ...unknown, status: 503 }],
    ['as possibly sent after a redirect', answer(303, ''), { ...unknown, status: 303 }],
    ['as possibly sent after HTML with status 200', html, unknown],
    [
      'as possibly sent after truncated JSON',
      answer(200, '{"txnId":"t1","txnState":"srccr'),
      unknown,
    ],
    ['as possibly sent after an empty answer with status 200', answer(200, ''), unknown],
    [
      'as possibly sent after JSON of another structure',
      answer(200, { txnId: 't1', txnState: [] }),
      unknown,
    ],
    [
      'as a temporary failure after status 429 of the service',
      answer(429, { error: 'too many' }),
      { name: 'ServiceError', kind: 'temporary', status: 429, exitCode: 75 },
    ],
    [
      'as refused after status 400',
      answer(400, { error: 'bad request' }),
      { name: 'ServiceError', kind: 'refused', status: 400 },
    ],
    [
      'as an authentication failure after status 403',
      answer(403, { error: 'Permission denied' }),
      { name: 'ServiceError', kind: 'authentication', status: 403 },
    ],
    [
      'as not found after status 404',
      answer(404, { error: 'not found' }),
      { name: 'ServiceError', kind: 'not-found', status: 404 },
    ],
  ];

  test.for(outcomes)('reports a create request %s', async ([, trouble, expected]) => {
    const { client, service } = world();
    service.on('POST', '/api/v2/transaction', trouble);
    const sides = {
      sourceReq: { ccy: 'BTC', method: 'servicepay' },
      destReq: { ccy: 'USDT', method: 'servicepay' },
    };
    const kind = expected['mayHaveArrived'] === true ? { kind: 'temporary', exitCode: 75 } : {};
    await expect(client.createTransaction(sides)).rejects.toMatchObject({ ...expected, ...kind });
  });

  test.for(outcomes)('reports a confirmation %s', async ([, trouble, expected]) => {
    const { client, service } = world();
    service.on('PUT', '/api/v2/transaction/t1/confirm', trouble);
    const known = expected['mayHaveArrived'] !== true;
    const kind = known
      ? {}
      : { kind: 'pending', exitCode: 8, txnId: 't1', next: { do: 'resume', id: 't1' } };
    await expect(client.confirmTransaction('t1')).rejects.toMatchObject({ ...expected, ...kind });
  });

  test('reports a confirmation as possibly sent if a gateway answers the confirmation with 429', async () => {
    const { client, service } = world();
    service.on('PUT', '/api/v2/transaction/t1/confirm', answer(429, '<h1>Too Many Requests</h1>'));
    await expect(client.confirmTransaction('t1')).rejects.toMatchObject({
      ...unknown,
      status: 429,
      kind: 'pending',
      exitCode: 8,
    });
  });

  test('reports an unknown outcome after an interrupt only if the confirmation was already sent', async () => {
    for (const [requestSent, kind] of [
      [true, 'pending'],
      [false, 'interrupted'],
    ] as const) {
      const interruption = new AbortController();
      const { client } = world({
        signal: interruption.signal,
        transport: () => {
          interruption.abort();
          return Promise.reject(new NetworkError('interrupted', { requestSent }));
        },
      });
      const failure = await failureOf(client.confirmTransaction('t1'));
      expect(failure).toBeInstanceOf(NoAnswer);
      expect(failure).toMatchObject({ kind, mayHaveArrived: requestSent });
    }
  });

  test('sends no confirmation after an interrupt', async () => {
    const { client, service } = world({ signal: AbortSignal.abort() });
    await expect(client.confirmTransaction('t1')).rejects.toMatchObject({ kind: 'interrupted' });
    expect(service.requests()).toEqual([]);
  });

  test('includes the transaction state in the failure of a confirmation with code 2005', async () => {
    const { client, service } = world();
    const body = {
      resultStatus: 'error',
      code: '2005',
      error: 'transaction t1 already in final state completed',
      errorMetadata: { params: JSON.stringify({ state: 'completed', txnId: 't1' }) },
    };
    service.on('PUT', '/api/v2/transaction/t1/confirm', answer(400, body));
    await expect(client.confirmTransaction('t1')).rejects.toMatchObject({
      code: '2005',
      params: { state: 'completed', txnId: 't1' },
    });
  });
});

describe('ServiceClient cancellation', () => {
  const cancelPath = '/api/v2/transaction/t1/cancel';

  test.for([
    [404, { error: 'not found' }],
    [405, '<h1>Method Not Allowed</h1>'],
  ] as const)(
    'throws CancelNotOffered if the service answers a cancellation with %i',
    async ([status, body]) => {
      const { client, service } = world();
      service.on('PUT', cancelPath, answer(status, body));
      const failure = await failureOf(client.cancelTransaction('t1'));
      expect(failure).toBeInstanceOf(CancelNotOffered);
      expect(failure).toMatchObject({ kind: 'refused', status });
    },
  );

  test('reports `refused` if the service refuses a cancellation', async () => {
    const { client, service } = world();
    service.on(
      'PUT',
      cancelPath,
      answer(400, { error: 'transaction t1 already in final state', code: '2005' }),
    );
    const failure = await failureOf(client.cancelTransaction('t1'));
    expect(failure).not.toBeInstanceOf(CancelNotOffered);
    expect(failure).toMatchObject({ kind: 'refused', code: '2005' });
  });

  test("returns the cancelled transaction from the service's answer", async () => {
    const { client, service } = world();
    service.on('PUT', cancelPath, answer(200, transaction({ txnState: 'usercanceled' })));
    expect(await client.cancelTransaction('t1')).toMatchObject({
      txnState: 'usercanceled',
      createdAt: start,
    });
  });

  test.for(['', { resultStatus: 'success' }] as const)(
    'reads the transaction if the service answers a cancellation with %j',
    async (body) => {
      const { client, service } = world();
      service.on('PUT', cancelPath, answer(200, body));
      service.on('GET', path, answer(200, transaction({ txnState: 'usercanceled' })));
      expect(await client.cancelTransaction('t1')).toMatchObject({ txnState: 'usercanceled' });
    },
  );
});
