// Help on a topic or a command: `svcpay help exit-codes`, `svcpay help send lightning`.
import { exitCodes } from '../../formats/failure.js';
import { factLines } from '../../terminal/cards/card.js';
import type { Output } from '../../terminal/output.js';
import { isNamed, type Branch } from '../branch.js';
import { defineCommand, type Command } from '../define.js';
import { text } from '../values.js';
import { unknownCommand } from './suggest.js';
import { topicNames, topics, topicText } from './topics.js';

const meanings: Readonly<Record<keyof typeof exitCodes | 'done', string>> = {
  done: 'done',
  unexpected: 'unexpected',
  usage: 'usage or invalid input, nothing was sent',
  refused: 'the service refused (4xx)',
  authentication: 'authentication or permission',
  'not-found': 'not found',
  'payment-failed': 'the payment ended in failed, rejected, expired, error or usercanceled',
  limit: 'not enough funds, a limit or --max-fee stopped it',
  pending: 'outcome not known yet: the payment goes on; the message names the command that resumes it',
  declined: 'declined at the prompt, or a question was needed and could not be asked',
  temporary: 'temporary (network, 5xx, 429), nothing moved, safe to run again',
  interrupted: 'interrupted before anything moved',
};

interface ExitCode {
  readonly code: number;
  readonly kind: string;
  readonly meaning: string;
}

const rows: readonly ExitCode[] = [
  { code: 0, kind: 'done', meaning: meanings.done },
  ...Object.entries(exitCodes).map(([kind, code]) => ({ code, kind, meaning: meanings[kind as keyof typeof exitCodes] })),
];

export const help = (tree: Branch): Command => defineCommand({
  arguments: { topic: text('COMMAND').repeated().describe(`a command, or one of ${topicNames.join(', ')}`) },
  options: {},
  examples: [
    ['svcpay help exit-codes', 'one exit code per fate of the money'],
    ['svcpay help scripting', 'how to use it in a script that can be run twice'],
    ['svcpay help send lightning', 'the same as svcpay send lightning --help'],
  ],
  async run({ topic }, { out, runLine, terminal }) {
    if (topic.join(' ') === 'exit-codes') return printExitCodes(out);
    const page = topics.find(({ name }) => name === topic.join(' '));
    if (page !== undefined) return void out.text(topicText(page, Math.min(terminal.columns, 100)));
    refuseUnknown(topic, tree);
    await runLine([...topic, '--help']);
  },
});

function refuseUnknown(topic: readonly string[], tree: Branch): void {
  let branch: Branch = tree;
  topic.forEach((word, index) => {
    const next = branch.branches?.find((each) => isNamed(each, word));
    if (next === undefined) throw unknownCommand(word, topic.slice(0, index), branch, index === 0 ? topicNames : []);
    branch = next;
  });
}

async function printExitCodes(out: Output): Promise<void> {
  if (out.forPeople) {
    out.screen((canvas) => factLines(rows.map(({ code, meaning }) => ({ label: String(code), value: meaning })), canvas, 3));
    return;
  }
  await out.list(rows, {
    columns: [
      { name: 'code', title: 'Code', value: ({ code }) => code, align: 'right' },
      { name: 'kind', title: 'Kind', value: ({ kind }) => kind, only: 'rows' },
      { name: 'meaning', title: 'Meaning', value: ({ meaning }) => meaning },
    ],
    quiet: ({ code }) => String(code),
    empty: '',
  });
}
