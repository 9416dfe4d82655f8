// Prints the completion script of a shell.
import { defineCommand } from '../define.js';
import { choice } from '../values.js';
import { completionScript, shells } from './completion-scripts.js';

export const completion = defineCommand({
  arguments: { shell: choice(shells, 'SHELL').describe(`the shell to complete in: ${shells.join(', ')}`) },
  examples: [
    ['source <(svcpay completion bash)', 'for this bash; put the line into ~/.bashrc to keep it'],
    ['svcpay completion fish > ~/.config/fish/completions/svcpay.fish', 'for every fish'],
  ],
  run: async ({ shell }, { out }) => out.text(completionScript(shell).trimEnd()),
});
