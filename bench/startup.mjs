// Measures the start of the program, and the completion that a shell requests when a person presses
// Tab.
import { against, inFolder, inTurns, program, run } from './support/process.mjs';

const rounds = 31;
const targets = [
  ['--version', 1.1, ['--version']],
  ['--help', 2.5, ['--help']],
  ['a completion', 1.5, ['__complete', 'bash', 'tx', '']],
];

export function measure() {
  return inFolder(async (folder) => {
    const { node, ...figures } = await inTurns(rounds, {
      node: () => run(folder, ['-e', '0']),
      ...Object.fromEntries(
        targets.map(([name, , args]) => [name, () => run(folder, [program, ...args])]),
      ),
    });
    return targets.map(([name, atMost]) =>
      against(`svcpay ${name}`, figures[name], 'node -e 0', node, atMost),
    );
  });
}
