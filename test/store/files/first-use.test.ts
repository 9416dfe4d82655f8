// Tests that several processes can open a new SQLite file at the same time.
import { fork, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countOf } from '../../support/part.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const program = join(root, 'node_modules', `.opener-${process.pid}.mjs`);
let folder: string;
let openers: ChildProcess[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'first-use-'));
  await build({
    entryPoints: [join(root, 'test/store/files/opener.ts')],
    outfile: program,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
  });
  openers = Array.from({ length: 4 }, () => fork(program));
});

afterAll(async () => {
  for (const opener of openers) opener.kill();
  await rm(folder, { recursive: true });
  await rm(program);
});

/** The number of new files that each process opens. */
const rounds = countOf({ part: 50, all: 200 });

/**
 * Makes a child process open a file at the given time, and returns the report of the child process.
 */
const opened = (opener: ChildProcess, path: string, at: number): Promise<unknown> =>
  new Promise((resolve) => {
    opener.once('message', resolve);
    opener.send({ path, at });
  });

test('openSqlite opens a new file in four processes at the same time', async () => {
  for (let round = 0; round < rounds; round++) {
    const path = join(folder, `file-${round}`);
    const at = Date.now() + 5;
    expect(await Promise.all(openers.map((opener) => opened(opener, path, at)))).toEqual(
      openers.map(() => 'opened'),
    );
  }
});
