// Only one process at a time changes the settings, and each change keeps the fields of newer
// versions.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { findHome, openFolder } from '../../../src/store/files/home.js';
import { changeProfile, openConfig } from '../../../src/store/profile/profiles.js';
import { openSecrets, type Keyring, resolveSettings } from '../../../src/store/profile/settings.js';
import { startSvcpay, svcpay } from '../../support/svcpay.js';

const program = resolve(import.meta.dirname, '../../../bin/svcpay.js');

function homeWith(config?: object): { home: string; raw: () => unknown } {
  const home = mkdtempSync(join(tmpdir(), 'svcpay-settings-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const path = join(home, 'config.json');
  if (config !== undefined) writeFileSync(path, JSON.stringify(config));
  return { home, raw: () => JSON.parse(readFileSync(path, 'utf8')) };
}

const written = {
  theme: 'dark',
  current: 'one',
  profiles: {
    one: { network: 'testnet', greeting: 'hello', limits: { perDay: { BTC: '1' } } },
    two: {},
  },
};

describe('settings file', () => {
  test('keeps all six changes if six commands change the settings at the same time', async () => {
    const { home } = homeWith();
    const names = [1, 2, 3, 4, 5, 6].map((n) => `a${n}@pay.example`);
    await Promise.all(names.map((name) => svcpay(['limits', 'allow', name, '-q'], { home })));
    const destinations = openConfig(home).read().profiles['default']?.limits?.destinations;
    expect(destinations?.toSorted()).toEqual(names);
  });

  test('keeps unknown fields at any level of the settings', async () => {
    const { home, raw } = homeWith(written);
    const config = openConfig(home);
    await config.update((before) => ({ ...before, current: 'two' }));
    await changeProfile(config, 'one', ({ network: _gone, ...before }) => ({
      ...before,
      account: 'ne01',
    }));
    const { network: _gone, ...one } = written.profiles.one;
    expect(raw()).toMatchObject({
      theme: 'dark',
      current: 'two',
      profiles: { one: { ...one, account: 'ne01' }, two: {} },
    });
    expect(raw()).not.toHaveProperty('profiles.one.network');
  });

  test.for([
    { profiles: { one: { limits: { perWeek: { BTC: '1' } } } } },
    { profiles: { one: { per_day: '1btc' } } },
    { profiles: { one: { maxPerPayment: '1btc' } } },
    { limits: { perDay: { BTC: '1' } } },
  ])('refuses settings with an unknown limit: %j', (config) => {
    expect(() => openConfig(homeWith(config).home).read()).toThrow(
      /which this version does not support/,
    );
  });

  test('reads and changes settings that start with a byte order mark', async () => {
    const { home, raw } = homeWith();
    writeFileSync(join(home, 'config.json'), `\uFEFF${JSON.stringify(written)}`);
    await openConfig(home).update((before) => ({ ...before, current: 'two' }));
    expect(raw()).toMatchObject({ ...written, current: 'two' });
  });

  test('refuses settings whose file is a broken link', () => {
    const { home } = homeWith();
    symlinkSync(join(home, 'not-mounted', 'config.json'), join(home, 'config.json'));
    expect(() => openConfig(home).read()).toThrow(/config\.json cannot be used: ENOENT/);
  });

  test('refuses settings whose file is a pipe', () => {
    const { home } = homeWith();
    expect(spawnSync('mkfifo', [join(home, 'config.json')]).status).toBe(0);
    expect(() => openConfig(home).read()).toThrow('config.json is damaged: the path is not a file');
  });

  test.for(['the-secret', '{"a":the-secret}'])(
    'reports a damaged secrets file without quoting its content (%s)',
    async (content) => {
      const { home } = homeWith();
      writeFileSync(join(home, 'secrets.json'), content);
      const secrets = openSecrets(findHome({ SVCPAY_HOME: home }), async () => undefined);
      const failure: unknown = await secrets.load('any').catch((error: unknown) => error);
      expect(failure).toMatchObject({
        exitCode: 2,
        message: expect.stringMatching(/secrets\.json is damaged: Unexpected token '.'\.$/),
      });
    },
  );

  test('stores a secret in the file if the keyring does not return the secret', async () => {
    const { home } = homeWith();
    const place = { config: home, data: home, isolated: false };
    const kept = new Map<string, string>();
    const ring = (returns: boolean): Keyring => ({
      get: (name) => (returns ? (kept.get(name) ?? null) : null),
      set: (name, secret) => void kept.set(name, secret),
      delete: (name) => void kept.delete(name),
    });
    const forgetful = openSecrets(place, async () => ring(false));
    expect(await forgetful.save('webhook', 'whsec_1')).toBe('file');
    expect(await forgetful.load('webhook')).toEqual({ secret: 'whsec_1', place: 'file' });
    const good = openSecrets(place, async () => ring(true));
    expect(await good.save('webhook', 'whsec_2')).toBe('keyring');
    expect(await good.load('webhook')).toEqual({ secret: 'whsec_2', place: 'keyring' });
  });

  test('refuses an unknown profile in a flag or the environment', () => {
    const config = openConfig(homeWith(written).home).read();
    const named = { sandbox: false, profile: 'three' };
    expect(() => resolveSettings(named, {}, config)).toThrow('Profile "three" does not exist');
    expect(() =>
      resolveSettings({ sandbox: false }, { SVCPAY_PROFILE: 'constructor' }, config),
    ).toThrow('does not exist');
    expect(resolveSettings(named, {}, config, true).profile).toEqual({});
    expect(resolveSettings({ sandbox: false, profile: 'two' }, {}, config).profileName).toBe('two');
  });

  test.for(['000', '777'])(
    'creates settings readable only by their owner with the umask %s',
    (umask) => {
      const { home } = homeWith();
      mkdirSync(join(home, 'shared'));
      chmodSync(join(home, 'shared'), 0o1777);
      for (const name of ['shared', 'new']) {
        const line = `umask ${umask}; exec "$0" "${program}" config set network testnet`;
        spawnSync('/bin/sh', ['-c', line, process.execPath], {
          env: { SVCPAY_HOME: join(home, name) },
        });
      }
      const names = [
        'shared',
        'shared/config.json',
        'shared/settings.lock',
        'new',
        'new/config.json',
      ];
      const modes = names.map((name) => (statSync(join(home, name)).mode & 0o7777).toString(8));
      expect(modes).toEqual(['1777', '600', '600', '700', '600']);
    },
  );

  test('removes the temporary files of a process that died while writing settings', async () => {
    const { home } = homeWith(written);
    const left = join(home, 'config.json.tmp-52976614');
    writeFileSync(left, 'a secret');
    await openConfig(home).update((before) => before);
    expect(existsSync(left)).toBe(false);
  });

  test('changes settings after another process died during a change', async () => {
    const { home } = homeWith();
    const { child, ended } = startSvcpay(['config', 'set', 'network', 'testnet'], { home });
    child.kill('SIGKILL');
    await ended;
    expect(await svcpay(['config', 'set', 'network', 'any'], { home })).toMatchObject({
      exitCode: 0,
    });
  });
});

describe('home folder', () => {
  test.skipIf(process.platform !== 'linux')(
    'refuses a relative XDG_CONFIG_HOME as the place of the home folder',
    () => {
      vi.stubEnv('XDG_CONFIG_HOME', 'relative');
      onTestFinished(() => void vi.unstubAllEnvs());
      expect(() => findHome({})).toThrow('svcpay has no folder for its files');
      expect(findHome({ SVCPAY_HOME: 'here' }).data).toBe('here');
    },
  );

  test.skipIf(process.getuid?.() !== 0)(
    'requires HOME or SVCPAY_HOME for a user without a system account',
    () => {
      const { home } = homeWith();
      chmodSync(home, 0o777);
      const run = (env: NodeJS.ProcessEnv) =>
        spawnSync(process.execPath, [program, 'config', 'set', 'network', 'any'], {
          env,
          uid: 12_345,
          encoding: 'utf8',
        });
      expect(run({ SVCPAY_HOME: home }).status).toBe(0);
      expect(run({})).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('Set HOME or SVCPAY_HOME'),
      });
    },
  );

  test.skipIf(process.platform !== 'linux')('names a home folder that cannot be created', () => {
    expect(() => openFolder('/proc/none/svcpay')).toThrow(
      'the folder /proc/none/svcpay cannot be written',
    );
  });
});
