// npm run mutate -- [--changed] [--budget SECONDS] [--slowest SECONDS] [--tests FOLDER] [FILE...]:
// breaks the guards of src/wallet and src/store/journal one at a time, repeats the tests that reach
// each guard, and prints the mutants that no test detects.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { dead, mutantsOf, unreached } from './mutants.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Only files that are not committed or changed in the last two commits. */
    changed: { type: 'boolean', default: false },
    /** The seconds of tests for each mutant. */
    budget: { type: 'string', default: '3' },
    /** The seconds of the slowest test that is repeated. */
    slowest: { type: 'string', default: '0.25' },
    tests: { type: 'string', multiple: true, default: ['test/wallet', 'test/store/journal'] },
  },
});
const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim().split('\n');
const guarded = ['src/wallet', 'src/store/journal'];
const isIn = (path, folders) =>
  folders.some((each) => path === each || path.startsWith(`${each}/`));
const recent = values.changed ? git('diff', '--name-only', 'HEAD~2') : undefined;
const ms = (seconds) => Number(seconds) * 1000;

let count = 0;
const files = readdirSync('src', { recursive: true })
  .map((name) => join('src', name))
  .filter((path) => path.endsWith('.ts') && isIn(path, positionals[0] ? positionals : guarded))
  .filter((path) => recent?.includes(path) !== false)
  .toSorted()
  .map((path) => {
    const mutants = mutantsOf(readFileSync(path, 'utf8'), path);
    const firstId = count;
    count += mutants.length;
    return { path, mutants, firstId };
  });
if (count > 0) run();

function run() {
  console.log(`${count} mutants in ${files.length} files`);
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-mutants-'));
  const [state, plan] = [join(folder, 'state'), join(folder, 'plan.json')];
  const limits = { budgetMs: ms(values.budget), slowestMs: ms(values.slowest) };
  writeFileSync(state, Buffer.alloc(4 * count));
  writeFileSync(plan, JSON.stringify({ files, count, state, ...limits }));
  try {
    const config = ['--config', 'test/mutation/vitest.config.mjs'];
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...config, ...values.tests];
    const env = { ...process.env, SVCPAY_MUTANTS: plan };
    spawnSync(process.execPath, vitest, { stdio: 'ignore', env });
    report(readFileSync(state));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function report(state) {
  const all = files.flatMap(({ path, mutants, firstId }) =>
    mutants.map(({ line, what }, index) => ({
      spent: state.readUInt32LE(4 * (firstId + index)),
      text: `${path}:${line} ${what}`,
    })),
  );
  const alive = all.filter(({ spent }) => spent !== dead);
  for (const { spent, text } of alive)
    console.log(`${spent === unreached ? 'not reached' : 'survives   '} ${text}`);
  const killed = count - alive.length;
  console.log(`${killed} of ${count} mutants killed (${Math.floor((100 * killed) / count)} %)`);
}
