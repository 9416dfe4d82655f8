// Tests svcpay config, svcpay profiles, environment variables, and changes that the person must
// confirm.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { test } from '../support/svcpay.js';

const recipient =
  '--country VN --institution 970436 --acct-num 0123456789 --acct-name Le --recipient-type individual --recipient-name Le'
    .concat(' --recipient-country VN')
    .split(' ');

const lines = (text: string): string[] => text.trim().split('\n');

describe('svcpay config', () => {
  test('stores validated values in a file that only its owner can read', async ({ home }) => {
    expect(await svcpay(['config', 'set', 'sender.country', 'Grmany'], { home })).toMatchObject({
      exitCode: 2,
      stdout: '',
    });
    expect(await svcpay(['config', 'set', 'sender.country', 'de'], { home })).toMatchObject({
      exitCode: 0,
      stdout: '',
    });
    expect(await svcpay(['config', 'get', 'sender.country'], { home })).toMatchObject({
      exitCode: 0,
      stdout: 'DE\n',
    });
    const path = lines((await svcpay(['config', 'path'], { home })).stdout)[0] ?? '';
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      profiles: { default: { sender: { countryCode: 'DE' } } },
    });
  });

  test('removes a setting, and ends with exit 5 for a missing setting', async ({ home }) => {
    await svcpay(['config', 'set', 'network', 'testnet'], { home });
    expect(await svcpay(['config', 'unset', 'network'], { home })).toMatchObject({
      exitCode: 0,
    });
    expect(await svcpay(['config', 'get', 'base-url', '--json'], { home })).toMatchObject({
      exitCode: 5,
      stdout: '',
    });
  });

  test('lists the settings without the API key and the secret', async ({ around }) => {
    const run = await svcpay(['config', 'list', '--json'], around);
    expect(run.json()).toContainEqual({
      key: 'base-url',
      value: around.sandbox.url,
      from: 'environment',
    });
    expect(run.stdout).not.toContain(around.sandbox.apiKey);
    expect(run.stdout).not.toContain(around.sandbox.apiSecret);
  });
});

test('svcpay works with a damaged token file and mentions the damage only with --debug', async ({
  around,
}) => {
  const path = join(around.home, 'tokens.json');
  writeFileSync(path, '{"accessToken":');
  expect(await svcpay(['wallets', '--debug'], around)).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('tokens.json is damaged'),
  });
  writeFileSync(path, 'not JSON');
  expect(await svcpay(['whoami'], around)).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(readFileSync(path, 'utf8'))).not.toEqual({});
});

describe('the environment variables of svcpay', () => {
  test('may end with Windows line endings', async ({ home, sandbox }) => {
    const env = {
      SVCPAY_BASE_URL: `${sandbox.url}\r`,
      SVCPAY_API_KEY: `${sandbox.apiKey}\r`,
      SVCPAY_API_SECRET: `${sandbox.apiSecret}\r\n`,
      SVCPAY_NETWORK: 'testnet\r',
      SVCPAY_MAKER: ' service\r',
      SVCPAY_WEBHOOK_SECRET: 'whsec\r',
    };
    expect(await svcpay(['wallets', 'BTC', '-q'], { home, env })).toMatchObject({
      exitCode: 0,
      stdout: '1\n',
    });
    const sign = (secret: string) =>
      svcpay(['webhook', 'sign', '-q'], {
        home,
        env: { ...env, SVCPAY_WEBHOOK_SECRET: secret },
        input: '{}',
      });
    expect((await sign('whsec\r')).stdout).toBe((await sign('whsec')).stdout);
  });

  test.for(['schlüssel', 'a\nb', '…'])(
    'cause a usage error if SVCPAY_API_KEY is %j',
    async (SVCPAY_API_KEY, { home, sandbox }) => {
      const run = await svcpay(['wallets'], { home, sandbox, env: { SVCPAY_API_KEY } });
      expect(run).toMatchObject({
        exitCode: 2,
        stdout: '',
        stderr: expect.stringContaining('API key'),
      });
    },
  );
});

describe('svcpay --json', () => {
  test('prints a JSON document for each command that has no other output', async ({ home }) => {
    await svcpay(['contacts', 'add', 'Le', '--sandbox', ...recipient], { home });
    const steps: [line: string, expected: object][] = [
      ['login --sandbox --profile trial', { profile: 'trial' }],
      ['config set network testnet', { profile: 'trial', key: 'network', set: true }],
      ['config unset network', { profile: 'trial', key: 'network', set: false }],
      ['sandbox reset --yes', { reset: true }],
      ['contacts remove Le --yes', { name: 'Le', removed: true }],
      ['profiles use trial', { name: 'trial', current: true }],
      ['logout --yes', { profile: 'trial', loggedOut: true }],
      ['profiles remove trial --yes', { name: 'trial', removed: true }],
    ];
    for (const [line, expected] of steps) {
      const run = await svcpay([...line.split(' '), '--json'], { home });
      expect({ line, ...run, printed: run.json() }).toMatchObject({
        line,
        exitCode: 0,
        printed: expected,
      });
    }
  });
});

describe('svcpay profiles', () => {
  test('lists, selects and removes profiles together with their secrets', async ({
    home,
    sandbox,
  }) => {
    const login = (name: string) =>
      svcpay(
        [
          'login',
          '--profile',
          name,
          '--base-url',
          sandbox.url,
          '--api-key',
          sandbox.apiKey,
          '--api-secret-stdin',
        ],
        {
          home,
          input: sandbox.apiSecret,
        },
      );
    const secrets = (): string => readFileSync(join(home, 'secrets.json'), 'utf8');
    await login('one');
    await login('two');
    expect(await svcpay(['profiles', 'use', 'one'], { home })).toMatchObject({ exitCode: 0 });
    expect((await svcpay(['profiles', 'list', '--fields', 'name,current'], { home })).stdout).toBe(
      'one\ttrue\ntwo\tfalse\n',
    );
    expect(await svcpay(['profiles', 'use', 'three'], { home })).toMatchObject({ exitCode: 5 });

    expect(await svcpay(['profiles', 'remove', 'one'], { home })).toMatchObject({ exitCode: 9 });
    expect(await svcpay(['profiles', 'remove', 'one', '--yes'], { home })).toMatchObject({
      exitCode: 0,
    });
    expect(secrets()).toContain(sandbox.apiSecret);
    expect(await svcpay(['profiles', 'remove', 'two', '--yes'], { home })).toMatchObject({
      exitCode: 0,
    });
    expect(secrets()).not.toContain(sandbox.apiSecret);
    expect(readFileSync(join(home, 'tokens.json'), 'utf8')).not.toContain('accessToken');
    expect(await svcpay(['profiles', 'list', '--json'], { home })).toMatchObject({
      exitCode: 0,
      stdout: '[]\n',
    });
  });
});

describe('svcpay before a change that is hard to undo', () => {
  const lines = [
    ['logout', []],
    ['limits clear', []],
    ['contacts remove', ['Anh A']],
    ['webhook remove', ['any']],
  ] as const;
  test.for(lines)(
    'requires --yes in a script for svcpay %s',
    async ([command, names], { around }) => {
      await svcpay(['limits', 'set', '--per-day', '5000sat'], around);
      await svcpay(['contacts', 'add', 'Anh A', ...recipient], around);
      const before = readFileSync(join(around.home, 'config.json'), 'utf8');
      const run = await svcpay([...command.split(' '), ...names], around);
      expect(run).toMatchObject({
        exitCode: 9,
        stdout: '',
        stderr: expect.stringContaining('--yes'),
      });
      expect(readFileSync(join(around.home, 'config.json'), 'utf8')).toBe(before);
      expect(around.sandbox.requests('DELETE')).toEqual([]);
    },
  );

  test('names the run of a saved contact in the command that pays the contact', async ({
    home,
  }) => {
    const tty = svcpayTty(['--sandbox', 'contacts', 'add', 'ada', 'ada@example.com'], { home });
    expect(await tty.ended).toBe(0);
    expect(tty.text()).toContain('svcpay --sandbox send ada');
  });

  test('raises a limit only if the person types the amount again or gives --yes', async ({
    home,
  }) => {
    const limit = async () => (await svcpay(['limits', 'list', '-q'], { home })).stdout;
    await svcpay(['limits', 'set', '--per-day', '5000sat'], { home });
    const low = await limit();
    expect(await svcpay(['limits', 'set', '--per-day', '50000sat'], { home })).toMatchObject({
      exitCode: 9,
    });
    const tty = svcpayTty(['limits', 'set', '--per-day', '50000sat'], {
      home,
      columns: 60,
      rows: 20,
    });
    await tty.waitFor(
      /raises the limit per day from\s+0\.00005000\s+BTC\s+\(5\s000\s+sat\)\s+to\s+0\.00050000\s+BTC\s+\(50\s000\s+sat\)/,
    );
    tty.resize(140, 45);
    tty.type('5000sat\r');
    await tty.waitFor('To confirm, type');
    tty.type('\u007F'.repeat(7) + '50000sat\r');
    expect(await tty.ended).toBe(0);
    expect(await limit()).not.toBe(low);
    expect(await svcpay(['limits', 'set', '--per-day', '5000sat'], { home })).toMatchObject({
      exitCode: 0,
    });
    expect(await limit()).toBe(low);
    expect(
      await svcpay(['limits', 'set', '--per-day', '50000sat', '--yes'], { home }),
    ).toMatchObject({ exitCode: 0 });
  });

  test('replaces the service of a profile at login only after the person confirms, and keeps the limits', async ({
    around,
    home,
  }) => {
    const { url, apiKey, apiSecret } = around.sandbox;
    const config = () => JSON.parse(readFileSync(join(home, 'config.json'), 'utf8'));
    const login = ['login', '--base-url', url, '--api-key', apiKey, '--api-secret-stdin'];
    const first = await svcpay(login, { home, input: apiSecret });
    expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^default\t/) });
    expect(await svcpay(login, { home, input: apiSecret })).toMatchObject({ exitCode: 0 });
    await svcpay(['limits', 'set', '--per-day', '5000sat'], { home });
    expect(await svcpay(['login', '--sandbox'], { home })).toMatchObject({
      exitCode: 9,
      stdout: '',
    });
    expect(config().profiles.default).toMatchObject({ apiKey });
    expect(await svcpay(['login', '--sandbox', '--yes'], { home })).toMatchObject({ exitCode: 0 });
    expect(config().profiles.default).toEqual({
      sandbox: true,
      limits: { perPayment: {}, perDay: { BTC: '0.00005' }, destinations: [] },
    });
  });
});
