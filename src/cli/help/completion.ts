// Prints the completion script of a shell.
import { completionNodes, completionScript, shells } from './completion-scripts.js';
import type { Branch } from '../branch.js';
import { defineCommand, type Command } from '../define.js';
import { choice } from '../values.js';

export const completion = (tree: Branch): Command => defineCommand({
  arguments: { shell: choice(shells).describe('the shell to complete in') },
  options: {},
  examples: [
    ['source <(svcpay completion bash)', 'for this bash; put the line into ~/.bashrc to keep it'],
    ['svcpay completion fish > ~/.config/fish/completions/svcpay.fish', 'for every fish'],
  ],
  async run({ shell }, { out }) {
    out.text(completionScript(shell, await completionNodes(tree)).trimEnd());
  },
});
