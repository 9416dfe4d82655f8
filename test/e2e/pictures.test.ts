// The committed pictures show what the built program draws.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('docs/pictures are current (npm run generate makes them)', async () => {
  const script = resolve(import.meta.dirname, '../../build/pictures.mjs');
  const { stderr } = await promisify(execFile)(process.execPath, [script, '--check']);
  expect(stderr).toBe('');
});
