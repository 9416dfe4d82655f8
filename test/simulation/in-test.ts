// Runs the simulation for a test: as `npm run simulate` does, since plain Node is twice as fast as a test runner.
import { execFile } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';

const program = join(import.meta.dirname, 'run.mjs');

/** Complaints are the seed that failed, what it violated, its events, and how to replay it. */
export function simulate(...args: readonly string[]): Promise<{ exitCode: number; complaints: string }> {
  return new Promise((done) => {
    const { pid } = execFile(process.execPath, [program, ...args], { maxBuffer: 64 * 2 ** 20 }, (error, _, complaints) => {
      done({ exitCode: error === null ? 0 : Number(error.code), complaints });
    });
    // Minutes of work that nobody waits for step by step; tests beside it do wait, for programs that are to be quick.
    if (pid !== undefined) setPriority(pid, 5);
  });
}
