// svcpay config accepts or refuses the value of a setting, and reports where the current value
// comes from.
import { describe, expect, test } from 'vitest';
import { findKey, readKey } from '../../../src/cli/config/config.js';
import { readAll, globalOptions } from '../../../src/cli/values.js';
import type { Profile } from '../../../src/store/profile/profiles.js';
import { resolveSettings } from '../../../src/store/profile/settings.js';

const taken: { key: string; text: string; profile: Profile }[] = [
  {
    key: 'base-url',
    text: 'https://pay.example/api/v2/',
    profile: { baseUrl: 'https://pay.example' },
  },
  { key: 'account', text: 'ne01-7f3a', profile: { account: 'ne01-7f3a' } },
  { key: 'network', text: 'testnet', profile: { network: 'testnet' } },
  { key: 'maker', text: 'acme', profile: { maker: 'acme' } },
  { key: 'sandbox', text: 'false', profile: { sandbox: false } },
  { key: 'sender.type', text: 'business', profile: { sender: { type: 'business' } } },
  { key: 'sender.name', text: ' Jane  Roe ', profile: { sender: { legalFullName: 'Jane Roe' } } },
  { key: 'sender.country', text: 'de', profile: { sender: { countryCode: 'DE' } } },
  {
    key: 'sender.phone',
    text: '+49 151 123-4567',
    profile: { sender: { contactNumber: '+491511234567' } },
  },
  { key: 'sender.address', text: '1 High St', profile: { sender: { address1: '1 High St' } } },
];

const refused = [
  { key: 'base-url', text: 'http://pay.example', message: /not encrypted/ },
  { key: 'base-url', text: 'https://u:p@pay.example', message: /user name or password/ },
  { key: 'account', text: '../x', message: /is not a valid account id/ },
  { key: 'network', text: 'moon', message: /use mainnet, testnet, any/ },
  { key: 'maker', text: 'Acme Pay', message: /lower-case letters/ },
  { key: 'sandbox', text: 'yes', message: /must be true or false/ },
  { key: 'sender.type', text: 'robot', message: /individual, business/ },
  { key: 'sender.country', text: 'Grmany', message: /Did you mean DE/ },
  { key: 'sender.phone', text: '0151123456', message: /no country code/ },
];

describe('svcpay config', () => {
  test.each(taken.map((each) => [each.text, each.key, each] as const))(
    'accepts "%s" for %s',
    (_text, _key, { key, text, profile }) => {
      expect(findKey(key).change({}, text)).toEqual(profile);
    },
  );

  test.each(refused.map((each) => [each.text, each.key, each] as const))(
    'refuses "%s" for %s',
    (_text, _key, { key, text, message }) => {
      expect(() => findKey(key).change({}, text)).toThrow(message);
    },
  );

  test('removes a setting and leaves the other settings unchanged', () => {
    const profile: Profile = {
      maker: 'acme',
      sender: { type: 'business', legalFullName: 'Acme Ltd' },
    };
    expect(JSON.parse(JSON.stringify(findKey('sender.name').change(profile, undefined)))).toEqual({
      maker: 'acme',
      sender: { type: 'business' },
    });
  });

  test.each(['api-key', 'api-secret', 'secret', 'toString'])(
    'refuses the unknown setting %s',
    (key) => {
      expect(() => findKey(key)).toThrow(/There is no setting/);
    },
  );
});

describe('readKey', () => {
  const inForce = (
    key: string,
    flags: { baseUrl?: string },
    env: Record<string, string>,
    profile: Profile,
  ) => {
    const globals = readAll(globalOptions, flags);
    const settings = resolveSettings(globals, env, {
      profiles: { default: profile },
      contacts: {},
    });
    return readKey(findKey(key), { settings, globals, env });
  };
  const profile = { baseUrl: 'https://profile.example' };
  const env = { SVCPAY_BASE_URL: 'https://env.example' };

  test.each(
    [
      {
        flags: { baseUrl: 'https://flag.example' },
        env,
        profile,
        value: 'https://flag.example',
        from: 'flag',
      },
      { flags: {}, env, profile, value: 'https://env.example', from: 'environment' },
      { flags: {}, env: {}, profile, value: 'https://profile.example', from: 'profile' },
      { flags: {}, env: {}, profile: {}, value: null, from: null },
    ].map((each) => [each.from ?? 'none', each] as const),
  )('reports "%s" as the source of base-url', (_from, { flags, env, profile, value, from }) => {
    expect(inForce('base-url', flags, env, profile)).toEqual({ key: 'base-url', value, from });
  });

  test.each([
    'postgres://u:s3cret@db.example/x',
    'postgres://u:%zzs3cret@db.example/x',
    'postgres://u:s3/cret?s3cret@db.example/x',
    'postgres://u:a@s3cret@/x?host=/run',
    'postgres://db.example/x?user=u&Password=s3cret&sslmode=require',
  ])('hides the password of the database-url %s', (address) => {
    const { value } = inForce('database-url', {}, { SVCPAY_DATABASE_URL: address }, {});
    expect(value).toMatch(/^postgres:\/\/.*\/x/);
    expect(value).not.toMatch(/s3|cret/);
  });

  test('hides the password in base-url', () => {
    expect(
      inForce('base-url', {}, { SVCPAY_BASE_URL: 'https://u:s3cret@pay.example/v' }, {}).value,
    ).toBe('https://pay.example/v');
  });

  test('returns a default network that fits the base URL', () => {
    expect(inForce('network', {}, {}, profile)).toMatchObject({
      value: 'mainnet',
      from: 'default',
    });
  });
});
