// svcpay api sends any request with a token and prints the response unchanged.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { test } from '../support/svcpay.js';
import { comesIn, inside } from '../support/shapes.js';

const swap = {
  sourceReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.001 },
  destReq: { ccy: 'USDT', method: 'servicepay' },
};

describe('svcpay api', () => {
  test('prints the unchanged response body, and adds the status and headers with -i', async ({
    around,
  }) => {
    const path = '/api/v2/account/{accountId}/wallet/';
    const plain = await svcpay(['api', 'GET', path], around);
    const withHead = await svcpay(['api', 'get', path, '-i'], around);
    const [request] = around.sandbox.requests('GET');
    expect(plain.stdout).toBe(`${request?.responseBody}\n`);
    expect(withHead.stdout).toMatch(/^HTTP 200\ncontent-type: .*\n(?:.+\n)*\n\{"data":/);
  });

  test('sends the request body from a file unchanged', async ({ around }) => {
    const body = JSON.stringify(swap, null, 1);
    const file = join(around.home, 'swap.json');
    // svcpay drops the byte order mark at the start of the file.
    writeFileSync(file, `\uFEFF${body}`);
    const run = await svcpay(['api', 'POST', 'transaction', '-d', `@${file}`, '--json'], around);
    expect(run.exitCode).toBe(0);
    expect(inside(run.json())).toMatchObject({ txnState: 'quoted' });
    expect(around.sandbox.requests('POST', '/api/v2/transaction')[0]?.requestBody).toBe(body);
  });

  test('sends piped stdin as the body of a POST request', async ({ around }) => {
    const body = JSON.stringify(swap);
    const piped = await svcpay(['api', 'POST', 'transaction'], { ...around, input: body });
    expect(piped.exitCode).toBe(0);
    expect(around.sandbox.requests('POST', '/api/v2/transaction')[0]?.requestBody).toBe(body);
    expect(await svcpay(['api', 'POST', 'transaction'], around)).toMatchObject({ exitCode: 3 });
    const wrong = await svcpay(['api', 'POST', 'transaction'], { ...around, input: 'a=b' });
    expect(wrong).toMatchObject({ exitCode: 2, stdout: '' });
    expect(around.sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(2);
  });

  test('writes the response body and the reason of a failed request only to stderr', async ({
    around,
  }) => {
    const run = await svcpay(['api', 'GET', 'transaction/nobody', '--json'], around);
    expect(run).toMatchObject({ exitCode: 5, stdout: '' });
    expect(run.stderr.split('\n')[0]).toBe('{"error":"not found"}');
    expect(run.error()).toMatchObject({ kind: 'not-found', status: 404, exitCode: 5 });
  });

  test('asks the person before it sends a request that moves money', async ({ around }) => {
    const quote = await svcpay(['api', 'POST', 'transaction', '-d', '-'], {
      ...around,
      input: JSON.stringify(swap),
    });
    const { txnId } = inside(quote.json()) as { txnId: string };
    const confirm = ['api', 'PUT', `transaction/${txnId}/confirm`];
    expect(await svcpay(confirm, around)).toMatchObject({ exitCode: 9, stdout: '' });
    expect(around.sandbox.requests('PUT')).toHaveLength(0);
    const tty = svcpayTty(confirm, around);
    await tty.waitFor('Send this request?');
    tty.type('\r');
    expect(await tty.ended).toBe(9);
    expect(inside((await svcpay([...confirm, '--yes'], around)).json())).toMatchObject(
      comesIn('confirm-ok') ? { message: 'OK' } : { txnId, txnState: 'completed' },
    );
  });

  test('retries only failed GET requests', async ({ around }) => {
    const { sandbox } = around;
    await sandbox.faults.add({ kind: 'status', status: 500, method: 'GET' });
    expect(await svcpay(['api', 'GET', 'transaction'], around)).toMatchObject({ exitCode: 0 });
    await sandbox.faults.add({
      kind: 'status',
      status: 500,
      method: 'POST',
      path: '/api/v2/transaction',
    });
    expect(
      await svcpay(['api', 'POST', 'transaction', '-d', JSON.stringify(swap)], around),
    ).toMatchObject({ exitCode: 75 });
    expect(sandbox.requests('GET')).toHaveLength(2);
    expect(sandbox.requests('POST', '/api/v2/transaction')).toHaveLength(1);
  });

  test('reports an unknown outcome if a confirmation gets no response', async ({ around }) => {
    const { sandbox } = around;
    const quote = await svcpay(['api', 'POST', 'transaction', '-d', JSON.stringify(swap)], around);
    const { txnId } = inside(quote.json()) as { txnId: string };
    await sandbox.faults.add({ kind: 'drop-after-commit', method: 'PUT' });
    const run = await svcpay(
      ['api', 'PUT', `transaction/${txnId}/confirm`, '--yes', '--json'],
      around,
    );
    expect(run).toMatchObject({
      exitCode: 8,
      stdout: '',
      stderr: expect.stringContaining(' svcpay did not repeat the request.'),
    });
    expect(run.error()).toMatchObject({ kind: 'pending', txnId, hint: `svcpay tx get ${txnId}` });
    expect(sandbox.requests('PUT')).toHaveLength(1);
  });

  test.skipIf(comesIn('list-without-pagination', 'list-bare'))(
    'prints all pages of a list as a single JSON array with --paginate',
    async ({ around }) => {
      const body = JSON.stringify(swap);
      await svcpay(['api', 'POST', 'transaction', '-d', body], around);
      await svcpay(['api', 'POST', 'transaction', '-d', body], around);
      const run = await svcpay(
        ['api', 'GET', 'transaction?limit=1', '--paginate', '--fields', 'txnState'],
        around,
      );
      expect(run.json()).toEqual([{ txnState: 'quoted' }, { txnState: 'quoted' }]);
      // A full page may be the last page of a list, so svcpay requests another page.
      expect(around.sandbox.requests('GET', '/api/v2/transaction')).toHaveLength(3);
    },
  );

  test.for([
    ['a full URL instead of a path', ['GET', 'https://example.com/x']],
    ['a body that is not JSON', ['POST', 'transaction', '-d', '{']],
    ['a body for a GET request', ['GET', 'transaction', '-d', '{}']],
    ['--paginate for a POST request', ['POST', 'transaction', '--paginate']],
    ['CSV output without --fields', ['GET', 'transaction', '-o', 'csv']],
  ] as const)('refuses %s before it sends a request', async ([, args], { around }) => {
    expect(await svcpay(['api', ...args], around)).toMatchObject({ exitCode: 2, stdout: '' });
    expect(around.sandbox.requests()).toHaveLength(0);
  });
});

describe('svcpay api for a service that refuses with status 200', () => {
  test.override({ sandboxOptions: { liveShapes: ['error-in-200'] } });

  test('ends with exit 3 and writes the refusal only to stderr', async ({ around }) => {
    const run = await svcpay(['api', 'POST', 'webhook', '-d', '{}', '--json'], around);
    expect(run).toMatchObject({ exitCode: 3, stdout: '' });
    expect(run.error()).toMatchObject({ kind: 'refused', status: 200 });
  });
});
