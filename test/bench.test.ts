// The bench, as far as it can be told without running it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');

test('every file of ours that a part of the bench builds or starts is there', () => {
  const parts = readdirSync(join(root, 'bench'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.mjs'));
  const named = parts.flatMap((file) => {
    const text = readFileSync(join(root, 'bench', file), 'utf8');
    return [...text.matchAll(/\b((?:src|test|bin)\/[\w/-]+\.(?:ts|js))\b/g)].map(([path]) => path);
  });
  expect(named.length).toBeGreaterThan(3);
  const isThere = (path: string): boolean => existsSync(join(root, path)) || existsSync(join(root, path.replace(/\.js$/, '.ts')));
  expect(named.filter((path) => !isThere(path))).toEqual([]);
});
