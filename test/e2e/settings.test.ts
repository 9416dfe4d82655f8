// svcpay profiles and svcpay config, through the front door.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { svcpay, test } from '../support/svcpay.js';

const lines = (text: string): string[] => text.trim().split('\n');

describe('svcpay config', () => {
  test('keeps what was checked, in a file for its owner alone', async ({ home }) => {
    expect(await svcpay(['config', 'set', 'sender.country', 'Germany'], { home })).toMatchObject({ exitCode: 2, stdout: '' });
    expect(await svcpay(['config', 'set', 'sender.country', 'de'], { home })).toMatchObject({ exitCode: 0, stdout: '' });
    expect(await svcpay(['config', 'get', 'sender.country'], { home })).toMatchObject({ exitCode: 0, stdout: 'DE\n' });
    const path = lines((await svcpay(['config', 'path'], { home })).stdout)[0] ?? '';
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ profiles: { default: { sender: { countryCode: 'DE' } } } });
  });

  test('says that a setting is not set, and takes one away', async ({ home }) => {
    await svcpay(['config', 'set', 'network', 'testnet'], { home });
    expect(await svcpay(['config', 'set', 'network', '--unset'], { home })).toMatchObject({ exitCode: 0 });
    expect(await svcpay(['config', 'get', 'base-url', '--json'], { home })).toMatchObject({ exitCode: 5, stdout: '' });
  });

  test('lists no secret and no key', async ({ around }) => {
    const run = await svcpay(['config', 'list', '--json'], around);
    expect(run.json()).toContainEqual({ key: 'base-url', value: around.sandbox.url, from: 'environment' });
    expect(run.stdout).not.toContain(around.sandbox.apiKey);
    expect(run.stdout).not.toContain(around.sandbox.apiSecret);
  });
});

describe('svcpay profiles', () => {
  test('lists, chooses and removes them with their secrets', async ({ home, sandbox }) => {
    const login = (name: string) =>
      svcpay(['login', '--profile', name, '--base-url', sandbox.url, '--api-key', sandbox.apiKey, '--api-secret-stdin'], {
        home,
        input: sandbox.apiSecret,
      });
    const secrets = (): string => readFileSync(join(home, 'secrets.json'), 'utf8');
    await login('one');
    await login('two');
    expect(await svcpay(['profiles', 'use', 'one'], { home })).toMatchObject({ exitCode: 0 });
    expect((await svcpay(['profiles', 'list', '--fields', 'name,current'], { home })).stdout).toBe('one\ttrue\ntwo\tfalse\n');
    expect(await svcpay(['profiles', 'use', 'three'], { home })).toMatchObject({ exitCode: 5 });

    expect(await svcpay(['profiles', 'remove', 'one'], { home })).toMatchObject({ exitCode: 9 });
    expect(await svcpay(['profiles', 'remove', 'one', '--yes'], { home })).toMatchObject({ exitCode: 0 });
    expect(secrets()).toContain(sandbox.apiSecret);
    expect(await svcpay(['profiles', 'remove', 'two', '--yes'], { home })).toMatchObject({ exitCode: 0 });
    expect(secrets()).not.toContain(sandbox.apiSecret);
    expect(readFileSync(join(home, 'tokens.json'), 'utf8')).not.toContain('accessToken');
    expect(await svcpay(['profiles', 'list', '--json'], { home })).toMatchObject({ exitCode: 0, stdout: '[]\n' });
  });
});
