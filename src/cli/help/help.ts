// Prints help on a topic or a command, as in `svcpay help exit-codes` or `svcpay help send
// lightning`.
import { detailLines } from '../../terminal/cards/card.js';
import type { Output } from '../../terminal/output.js';
import { defineCommand, type Branch, type Command } from '../define.js';
import { phrase } from '../values.js';
import { exitCodeRows, topicNames, topics, topicText } from './topics.js';
import { branchNamed } from './suggest.js';

export const help = (tree: Branch): Command =>
  defineCommand({
    arguments: {
      topic: phrase('COMMAND')
        .suggesting('command')
        .describe(`a command, or one of ${topicNames.join(', ')}`),
    },
    examples: [
      ['svcpay help', 'lists all commands by purpose'],
      ['svcpay help exit-codes', 'shows every exit code and what it means for the money'],
      ['svcpay help scripting', 'how to write a script that can run again safely'],
      ['svcpay help send lightning', 'same as svcpay send lightning --help'],
    ],
    async run({ topic }, { out, runLine, terminal }) {
      if (topic === 'exit-codes') return printExitCodes(out);
      const page = topics.find(({ name }) => name === topic);
      if (page !== undefined)
        return void out.text(topicText(page, Math.min(terminal.columns, 100)));
      const words = topic?.split(' ') ?? [];
      branchNamed(words, tree, topicNames);
      await runLine([...words, '--help']);
    },
  });

async function printExitCodes(out: Output): Promise<void> {
  if (out.forPeople) {
    out.screen((canvas) =>
      detailLines(
        exitCodeRows.map(({ code, meaning }) => ({ label: String(code), value: meaning })),
        canvas,
        3,
      ),
    );
    return;
  }
  await out.list(exitCodeRows, {
    columns: [
      { name: 'code', title: 'Code', align: 'right' },
      { name: 'kind', only: 'rows' },
      { name: 'meaning', title: 'Meaning' },
    ],
    quiet: ({ code }) => String(code),
    empty: '',
  });
}
