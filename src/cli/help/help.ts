// Help on a topic or a command: `svcpay help exit-codes`, `svcpay help send lightning`.
import { exitCodes } from '../../formats/failure.js';
import { factLines } from '../../terminal/cards/card.js';
import { defineCommand } from '../define.js';
import { text } from '../values.js';

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

export const help = defineCommand({
  arguments: { topic: text('COMMAND').repeated().describe('a command, or exit-codes') },
  options: {},
  examples: [
    ['svcpay help exit-codes', 'one exit code per fate of the money'],
    ['svcpay help send lightning', 'the same as svcpay send lightning --help'],
  ],
  async run({ topic }, { out, runLine }) {
    if (topic.join(' ') !== 'exit-codes') {
      await runLine([...topic, '--help']);
      return;
    }
    if (out.forPeople) {
      out.screen((canvas) => factLines(rows.map(({ code, meaning }) => ({ label: String(code), value: meaning })), canvas, 3));
      return;
    }
    await out.list(rows, {
      columns: [
        { title: 'Code', value: ({ code }) => code, align: 'right' },
        { title: 'Kind', value: ({ kind }) => kind, only: 'rows' },
        { title: 'Meaning', value: ({ meaning }) => meaning },
      ],
      quiet: ({ code }) => String(code),
      empty: '',
    });
  },
});
