// Runs the simulation for a test: as `npm run simulate` does, since plain Node is twice as fast as
// a test runner.
import { execFile } from 'node:child_process';
import { setPriority } from 'node:os';
import { bundle, flags } from './bundle.mjs';

/** Complaints are the seed that failed, what it violated, its events, and how to replay it. */
interface Simulated {
  readonly exitCode: number;
  readonly complaints: string;
}

/** @param nice as of the system: from 10 on it takes little but the time that nobody else wants */
export async function simulate(args: readonly string[], nice: number): Promise<Simulated> {
  const { outfile, remove } = await bundle();
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
