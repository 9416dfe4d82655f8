// The sandbox accepts one webhook per account, requires HTTPS, and never shows the secret of a
// webhook.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fresh, type Client, type Fresh } from '../support.js';

const callback = 'https://example.com/hook';
const unknown = '00000000-0000-4000-8000-000000000000';
let sandbox: Fresh;

beforeEach(async () => {
  sandbox = await fresh();
});

afterEach(() => sandbox.close());

const register = (body: object = { callback, secret: 'one' }) =>
  sandbox.call('POST', '/webhook', body);
const list = async () => (await sandbox.call('GET', '/webhook')).body;

describe('the webhook endpoint of the sandbox', () => {
  test('returns no webhook at first', async () => {
    expect(await list()).toEqual({ data: [] });
  });

  test('returns the id, callback and time of a webhook, but never its secret', async () => {
    const { status, body } = await register();
    const { now } = (await sandbox.control('GET', 'clock')).body;
    expect(status).toBe(200);
    expect(body).toEqual({ id: expect.any(String), callback, createdAt: now });
    expect(await list()).toEqual({ data: [body] });
  });

  test('replaces the previous webhook', async () => {
    const first = (await register()).body;
    const second = (await register({ callback: 'https://example.com/second', secret: 'two' })).body;
    expect(second.id).not.toBe(first.id);
    expect(await list()).toEqual({ data: [second] });
    expect((await sandbox.call('DELETE', `/webhook/${first.id}`)).status).toBe(404);
  });

  test.for(
    [
      {
        what: 'the callback',
        change: { callback: 'https://example.com/new' },
        becomes: 'https://example.com/new',
      },
      { what: 'the secret', change: { secret: 'new' }, becomes: callback },
      {
        what: 'the callback and the secret',
        change: { callback: 'https://example.com/new', secret: 'new' },
        becomes: 'https://example.com/new',
      },
    ].map((each) => [each.what, each] as const),
  )('updates %s of a webhook', async ([, { change, becomes }]) => {
    const before = (await register()).body;
    const { status, body } = await sandbox.call('PUT', `/webhook/${before.id}`, change);
    expect([status, body]).toEqual([200, { ...before, callback: becomes }]);
    expect(await list()).toEqual({ data: [body] });
  });

  test('removes a webhook and answers with JSON', async () => {
    const { id } = (await register()).body;
    const { status, body } = await sandbox.call('DELETE', `/webhook/${id}`);
    expect([status, body.id]).toEqual([200, id]);
    expect(await list()).toEqual({ data: [] });
  });

  test.for(
    [
      { method: 'PUT', body: { secret: 'x' } },
      { method: 'DELETE', body: undefined },
    ].map((each) => [each.method, each] as const),
  )('answers 404 to a %s request for an unknown webhook', async ([, { method, body }]) => {
    const answer = await sandbox.call(method, `/webhook/${unknown}`, body);
    expect([answer.status, answer.body]).toEqual([404, { error: 'not found' }]);
  });

  test.for(
    [
      { what: 'no secret', body: { callback } },
      { what: 'no callback', body: { secret: 'one' } },
      { what: 'an http callback', body: { callback: 'http://example.com/hook', secret: 'one' } },
      {
        what: 'an http callback on this machine',
        body: { callback: 'http://localhost:8080/hook', secret: 'one' },
      },
      { what: 'an ftp callback', body: { callback: 'ftp://example.com/', secret: 'one' } },
      { what: 'a callback that is not a URL', body: { callback: 'hook', secret: 'one' } },
      { what: 'an empty secret', body: { callback, secret: '' } },
      { what: 'a null character in the secret', body: { callback, secret: 'a\0b' } },
      { what: 'a number as the callback', body: { callback: 7, secret: 'one' } },
      {
        what: 'a callback of 3,000 characters',
        body: { callback: `https://example.com/${'x'.repeat(3000)}`, secret: 'one' },
      },
    ].map((each) => [each.what, each] as const),
  )('refuses a webhook with %s', async ([, { body }]) => {
    const answer = await register(body);
    expect([answer.status, answer.body.error]).toEqual([400, 'bad request']);
    expect(await list()).toEqual({ data: [] });
  });

  test.for([{}, { callback: 'http://example.com' }, { secret: '' }])(
    'refuses to change a webhook to %j',
    async (change) => {
      const before = (await register()).body;
      const answer = await sandbox.call('PUT', `/webhook/${before.id}`, change);
      expect([answer.status, answer.body.error]).toEqual([400, 'bad request']);
      expect(await list()).toEqual({ data: [before] });
    },
  );

  test('accepts http callbacks after allowHttpLoopback is set, but only to this machine', async () => {
    await sandbox.control('PUT', 'webhook-options', { allowHttpLoopback: true });
    for (const host of ['localhost:1', '127.0.0.1:1', 'hooks.localhost', '[::1]:1']) {
      expect((await register({ callback: `http://${host}/`, secret: 'one' })).status).toBe(200);
    }
    for (const host of [
      'example.com',
      '127.0.0.1.example.com',
      '192.168.0.1',
      'localhost.example.com',
    ]) {
      expect((await register({ callback: `http://${host}/`, secret: 'one' })).status).toBe(400);
    }
  });

  test.for(['GET', 'POST'])('requires a token for %s on the webhook endpoint', async (method) => {
    const answer = await sandbox.call(method, '/webhook', method === 'POST' ? {} : undefined, {
      authorization: '',
    });
    expect([answer.status, answer.body]).toEqual([401, { error: 'unauthorized' }]);
  });

  test('lets only the parent account remove the webhook of another account', async () => {
    const login = async (body: object) =>
      sandbox.login((await sandbox.control('POST', 'accounts', body)).body);
    const child = await login({ displayName: 'Shop' });
    const stranger = await login({ displayName: 'Stranger', parentAccountId: null });
    const own = (await register()).body.id;
    const childs = (await child.call('POST', '/webhook', { callback, secret: 'two' })).body.id;
    const remove = (caller: Client) => caller.call('DELETE', `/webhook/${own}`);
    const [fromChild, fromStranger] = [await remove(child), await remove(stranger)];
    expect([fromChild.status, fromChild.body]).toEqual([403, { error: 'Permission denied' }]);
    expect([fromStranger.status, fromStranger.body]).toEqual([
      401,
      { error: 'you are not authorized to view this account' },
    ]);
    expect((await sandbox.call('DELETE', `/webhook/${childs}`)).status).toBe(200);
    expect((await list()).data).toHaveLength(1);
  });
});
