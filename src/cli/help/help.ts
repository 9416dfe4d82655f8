// Describes every command as data, for completion and the manual. Prints help on a topic or a
// command, as in `svcpay help exit-codes` or `svcpay help send lightning`, and defines the topics.
import { cardLines } from '../../terminal/cards/card.js';
import type { Output } from '../../terminal/output.js';
import { type Command, defineCommand } from '../define.js';
import { type Branch, branchNamed, loadBelow } from '../tree.js';
import { flagsOf, phrase, type Shape, takesWord, type Values, globalOptions } from '../values.js';
import { wrap } from '../../terminal/text.js';
import { exitCodes } from '../../formats/failure.js';

export const help = (tree: Branch): Command =>
  defineCommand({
    arguments: {
      topic: phrase('COMMAND')
        .suggesting('command')
        .offering(topicNames)
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
      cardLines(
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

export interface Flag {
  /** Every spelling of the option, the long spelling first. */
  readonly names: readonly string[];
  readonly summary: string;
  /** The value of the option, or undefined for a switch. */
  readonly value?: Shape;
}

interface NamedEntry {
  readonly name: string;
  readonly summary: string;
}

export interface Page extends NamedEntry {
  /** The path of the command, such as `send lightning`, or an empty string for svcpay itself. */
  readonly path: string;
  readonly aliases: readonly string[];
  readonly section?: string | undefined;
  readonly runs: boolean;
  readonly money: boolean;
  readonly commands: readonly NamedEntry[];
  readonly arguments: readonly Shape[];
  readonly flags: readonly Flag[];
  /** The formats that `-o` accepts in addition to the usual formats. */
  readonly formats: readonly string[];
  readonly fields: readonly string[];
  readonly examples: Command['examples'];
}

/**
 * Returns a page for every command. The first page describes the program and the global
 * options.
 */
export const pagesOf = async (tree: Branch): Promise<Page[]> =>
  (await loadBelow(tree)).map(({ branch, path, command }) => ({
    path,
    name: branch.name,
    summary: branch.summary,
    aliases: branch.aliases ?? [],
    section: branch.section,
    runs: command !== undefined,
    money: branch.money === true,
    commands: (branch.branches ?? []).flatMap(({ name, aliases = [], summary }) =>
      [name, ...aliases].map((each) => ({ name: each, summary })),
    ),
    arguments: Object.values(command?.arguments ?? {}).map(({ shape }) => shape),
    flags: flagEntries(path === '' ? globalOptions : (command?.options ?? {})),
    formats: command?.formats ?? [],
    fields: command?.fields ?? [],
    examples: command?.examples ?? [],
  }));

const flagEntries = (values: Values): Flag[] =>
  Object.entries(values).map(([name, value]) => {
    const { summary, short } = value.shape;
    const names = [...flagsOf(name, value), ...(short === undefined ? [] : [`-${short}`])];
    return { names, summary, ...(takesWord(value) && { value: value.shape }) };
  });

interface Topic {
  readonly name: string;
  readonly summary: string;
  /** The parts of a help topic: paragraphs, and lists of terms. */
  readonly parts: readonly (string | readonly Term[])[];
}

type Term = readonly [term: string, meaning: string];

export const topics: readonly Topic[] = [
  {
    name: 'amounts',
    summary: 'how amounts are written',
    parts: [
      'An amount carries its unit: 50000sat, 0.0005btc, 25usdt, 500000vnd, ' +
        'in any letter case; sats works too. Spaces between digits, as the screen prints them, ' +
        'are accepted: "50 000 sat".',
      'svcpay accepts a bare number only if the command already names the currency, e.g. ' +
        'svcpay swap 25 USDT BTC. For bitcoin, it refuses a bare number, ' +
        'which could mean sat or BTC.',
      'svcpay refuses signs, exponents, other separators, and more decimals than the ' +
        'currency has. It never rounds an amount, and all arithmetic is exact.',
      '--max-fee limits the fees, in the currency of the wallet that pays (100sat) ' +
        'or as a share of the amount (1%).',
    ],
  },
  {
    name: 'environment',
    summary: 'environment variables',
    parts: [
      'Precedence: flag, environment, profile, default.',
      [
        ['SVCPAY_PROFILE', 'profile; same as --profile'],
        ['SVCPAY_ACCOUNT', 'subaccount; same as --account'],
        ['SVCPAY_BUDGET', 'budget that payments charge; same as --budget'],
        ['SVCPAY_BASE_URL', 'address of the service; same as --base-url'],
        [
          'SVCPAY_API_KEY, SVCPAY_API_SECRET',
          'credentials; together with SVCPAY_BASE_URL they replace svcpay login',
        ],
        ['SVCPAY_NETWORK', 'mainnet, testnet or any: which invoices and addresses are accepted'],
        [
          'SVCPAY_MAKER',
          'service name in requests and responses, without its ending "pay": ' +
            'acme for the service name acmepay (default: service)',
        ],
        [
          'SVCPAY_SIGNATURE_HEADER',
          'header that carries the webhook signature (default X-Servicepay-Signature)',
        ],
        ['SVCPAY_WEBHOOK_SECRET', 'the webhook secret, for the webhook commands'],
        ['SVCPAY_HOME', 'one folder for settings, journal and sandbox data'],
        [
          'SVCPAY_DATABASE_URL',
          'PostgreSQL for journal, limits and events, shared by several machines',
        ],
        ['SVCPAY_DATABASE_ID', 'id of the database; for containers, because they keep no settings'],
        [
          'SVCPAY_LIMIT_PER_PAYMENT, SVCPAY_LIMIT_PER_DAY',
          'limits such as 100000sat,25usdt; the stricter of these and the saved limits applies',
        ],
        ['SVCPAY_NO_INPUT, CI', 'never ask a question; same as --no-input'],
        ['SVCPAY_LOG_FORMAT', 'text or json; same as --log-format'],
        ['SVCPAY_NO_UPDATE_CHECK', 'any value stops the check for a newer version'],
        ['NO_COLOR, FORCE_COLOR', 'never or always use colours'],
        ['HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'proxy, and hosts that need no proxy'],
      ],
    ],
  },
  {
    name: 'fields',
    summary: 'which fields a command prints, and how to choose them',
    parts: [
      '--fields a,b.c prints only these fields, in this order, in every format; ' +
        'a dot selects a field of an object: txnState,sourceReq.ccy. ' +
        'The specification defines the names.',
      '--fields help lists the fields of a command: svcpay tx list --fields help',
      '-q prints the one value a script needs: the invoice, the address or the transaction id.',
      'To filter, pipe --json or -o jsonl into jq.',
      [
        ['svcpay tx list --fields txnId,txnState -o csv', 'prints a table for a spreadsheet'],
        ["svcpay tx list --json | jq '.[].txnId'", 'for everything else'],
      ],
    ],
  },
  {
    name: 'scripting',
    summary: 'scripts that can run again safely',
    parts: [
      'stdout carries the result only; questions, progress and errors go to stderr. ' +
        'In a pipe a list is tab-separated. --json prints one document, -o jsonl one line per ' +
        'row or change.',
      'Without a terminal, or with --no-input, --json or CI, svcpay never asks: ' +
        'the command fails at once and names the missing flags. A payment needs --yes.',
      'A payment with --ref REF is made once. If you run it again with the same reference, ' +
        'svcpay reports or resumes the earlier payment.',
      [
        [
          'svcpay send DEST 50000sat --ref order-118 --yes --json',
          'pays once, however often you run the command',
        ],
        [
          'exit code 8',
          'outcome not known yet: run the same command again, or svcpay tx resume REF',
        ],
        ['exit code 75', 'nothing moved, temporary failure: run the same command again later'],
        ['exit code 6', 'the payment failed, nothing moved: --retry makes another attempt'],
        [
          'svcpay batch rows.csv --yes',
          'pays no row twice; also exits with 8 if rows are left for the next run',
        ],
      ],
      'With --json, the last line of stderr is ' +
        '{"error":{"kind","message","hint","exitCode",...}}. All codes: svcpay help exit-codes',
      'A failed write to stdout never changes the payment or its exit code.',
    ],
  },
];

const topicNames: readonly string[] = ['exit-codes', ...topics.map(({ name }) => name)].toSorted();

const margin = '  ';

/**
 * Returns the text of a topic.
 * @param columns the width of the window
 */
function topicText({ parts }: Topic, columns: number): string {
  const width = columns - margin.length;
  const blocks = parts.map((part) => {
    if (typeof part === 'string') return wrap(part, columns);
    return part.flatMap(([term, meaning]) => [
      `${margin}${term}`,
      ...wrap(meaning, width - 4).map((line) => `${margin}    ${line}`),
    ]);
  });
  return blocks.map((lines) => lines.join('\n')).join('\n\n');
}

const meanings: Readonly<Record<keyof typeof exitCodes | 'done', string>> = {
  done: 'the command succeeded',
  unexpected: 'an unexpected error occurred',
  usage: 'the arguments or the input are invalid; no money was sent',
  refused: 'the service refused the request (4xx)',
  authentication: 'authentication failed, or a permission is missing',
  'not-found': 'the requested object does not exist',
  'already-paid': 'the invoice was already paid under another reference; no money was sent',
  'payment-failed':
    'the payment ended in state failed, rejected, expired or usercanceled; no money moved',
  'outcome-unknown':
    'the payment ended, and the service does not report whether money moved; ask the service, ' +
    'then record its answer with tx resolve',
  'books-differ':
    'the statement does not add up, or reconcile or db verify found a difference; ' +
    'no money was sent',
  limit: 'funds are insufficient, or a limit or --max-fee stopped the payment',
  pending:
    'the outcome of the payment is not known yet; the message names the command to resume it',
  declined: 'you declined at the prompt, or svcpay could not ask a question',
  temporary: 'a temporary failure (network, 5xx, 429); no money moved, so run the command again',
  interrupted: 'svcpay was interrupted before money moved',
  terminated: 'SIGTERM ended svcpay before money moved',
};

export const exitCodeRows: readonly {
  readonly code: number;
  readonly kind: string;
  readonly meaning: string;
}[] = [
  { code: 0, kind: 'done', meaning: meanings.done },
  ...Object.entries(exitCodes).map(([kind, code]) => ({
    code,
    kind,
    meaning: meanings[kind as keyof typeof exitCodes],
  })),
];
