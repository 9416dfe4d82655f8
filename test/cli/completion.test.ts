// Completion: what is committed is what the command tree makes, and bash completes with it.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { completionNodes, completionScript, shells, type CompletionNode } from '../../src/cli/help/completion-scripts.js';
import { tree } from '../../src/cli/table.js';

const fileOf = (shell: string): string => resolve(import.meta.dirname, `../../completions/svcpay.${shell}`);

describe('completion', () => {
  let nodes: CompletionNode[];
  beforeAll(async () => {
    nodes = await completionNodes(tree);
  });

  test.for(shells)('the committed %s script is current (npm run completions makes it)', (shell) => {
    expect(readFileSync(fileOf(shell), 'utf8')).toBe(completionScript(shell, nodes));
  });

  test('every command has a summary and at least one example', async () => {
    const bare = nodes.flatMap(({ commands }) => commands).filter(({ summary }) => summary === '');
    expect(bare).toEqual([]);
  });

  test.for([
    { typed: ['svcpay', 'sw'], offers: ['swap'] },
    { typed: ['svcpay', '--json', 'sw'], offers: ['swap'] },
    { typed: ['svcpay', 'send', 'li'], offers: ['lightning'] },
    { typed: ['svcpay', 'send', 'lightning', '--max'], offers: ['--max-fee'] },
    { typed: ['svcpay', '--output', 'jso'], offers: ['json', 'jsonl'] },
    { typed: ['svcpay', 'completion', 'f'], offers: ['fish'] },
  ])('bash completes $typed', ({ typed, offers }) => {
    const words = typed.map((word) => `'${word}'`).join(' ');
    const script = `source '${fileOf('bash')}'; COMP_WORDS=(${words}); COMP_CWORD=${typed.length - 1}; _svcpay; printf '%s\\n' "\${COMPREPLY[@]}"`;
    expect(execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n')).toEqual(offers);
  });
});
