// What the program costs before it does anything: the time of the processor, against that of Node alone.
import { inFolder, inTurns, program, run } from './support/process.mjs';

const rounds = 21;
const targets = { '--version': 1.1, '--help': 1.25 };

export function measure() {
  return inFolder(async (folder) => {
    const { node, ...figures } = await inTurns(rounds, {
      node: () => run(folder, ['-e', '0']),
      ...Object.fromEntries(Object.keys(targets).map((flag) => [flag, () => run(folder, [program, flag])])),
    });
    return Object.entries(figures).map(([flag, { cpuMs }]) => ({
      name: `svcpay ${flag}`,
      measured: `${cpuMs.toFixed(1)} ms`,
      bare: `${node.cpuMs.toFixed(1)} ms, node -e 0`,
      ratio: Number((cpuMs / node.cpuMs).toFixed(2)),
      target: `<= ${targets[flag]}`,
      met: cpuMs / node.cpuMs <= targets[flag],
    }));
  });
}
