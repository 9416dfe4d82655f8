// The committed pictures show the output of the built program; npm run generate updates them.
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('docs/pictures show the current output of the built program', async () => {
  const script = resolve(import.meta.dirname, '../../build/pictures.mjs');
  const { stderr } = await promisify(execFile)(process.execPath, [script, '--check']);
  expect(stderr).toBe('');
});
