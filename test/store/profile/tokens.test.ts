// A damaged token never stops a command, and never affects tokens of other profiles.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openTokens } from '../../../src/store/profile/settings.js';

const token = { accessToken: 'fresh', expiresAt: 1, accountId: 'ne01' };

function folder(): { home: string; path: string; raw: () => unknown } {
  const home = mkdtempSync(join(tmpdir(), 'svcpay-tokens-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const path = join(home, 'tokens.json');
  return { home, path, raw: () => JSON.parse(readFileSync(path, 'utf8')) };
}

test.for(['', '{"mine":{"accessTok', '\u0000\u0000', '[]', '7'])(
  'token store ignores a file that contains %j and replaces the file',
  async (content) => {
    const { home, path, raw } = folder();
    writeFileSync(path, content);
    const warnings: string[] = [];
    const tokens = openTokens(home, 'mine', (words) => warnings.push(words));
    expect(await tokens.load()).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('tokens.json is damaged')]);
    await tokens.save(token);
    expect(raw()).toEqual({ mine: token });
  },
);

test('token store ignores a folder with the name of the token file', async () => {
  const { home, path } = folder();
  mkdirSync(path);
  expect(await openTokens(home, 'mine').load()).toBeUndefined();
});

test.for([
  [{ accessToken: 7 }],
  ['gone'],
  [{ ...token, accessToken: 'a\nb' }],
  [{ ...token, accountId: '' }],
  [null],
])(
  'token store replaces an invalid entry such as %j without changing other entries',
  async ([entry]) => {
    const { home, path, raw } = folder();
    const newer = { tokens: ['of a newer form'] };
    writeFileSync(path, JSON.stringify({ mine: entry, theirs: token, newer }));
    expect(await openTokens(home, 'mine').load()).toBeUndefined();
    expect(await openTokens(home, 'theirs').load()).toEqual(token);
    await openTokens(home, 'mine').save(token);
    expect(raw()).toEqual({ mine: token, theirs: token, newer });
  },
);
