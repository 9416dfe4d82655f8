// Runs the simulation for a test in a separate process, because plain Node is twice as fast as a
// test runner.
import { execFile } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Break } from './breaks.js';
import { bundle, flags } from './bundle.mjs';

/**
 * `complaints` has the failed seed, its violations, its events, and the command that replays it.
 */
interface Simulated {
  readonly exitCode: number;
  readonly complaints: string;
}

/**
 * @param nice the priority for the operating system: from 10 on, the process uses mostly idle
 * processor time
 */
export async function simulate(
  args: readonly string[],
  nice: number,
  broken?: Break,
): Promise<Simulated> {
  const { outfile, remove } = await bundle(broken);
  try {
    return await new Promise((done) => {
      const { pid } = execFile(
        process.execPath,
        [...flags, outfile, ...args],
        { maxBuffer: 64 * 2 ** 20 },
        (error, _, complaints) => {
          done({ exitCode: error === null ? 0 : Number(error.code), complaints });
        },
      );
      if (pid !== undefined) setPriority(pid, nice);
    });
  } finally {
    remove();
  }
}
