// Pages of help that belong to no single command.
import { wrap } from '../../terminal/text.js';

export interface Topic {
  readonly name: string;
  readonly summary: string;
  /** Paragraphs, and lists of words with what they mean. */
  readonly parts: readonly (string | readonly Term[])[];
}

type Term = readonly [term: string, meaning: string];

export const topics: readonly Topic[] = [
  {
    name: 'amounts',
    summary: 'how amounts are written',
    parts: [
      'An amount carries its unit: 50000sat, 0.0005btc, 25usdt, 500000vnd. Upper and lower case are the same, and so are sat and sats. Spaces between digits, as the screen prints them, are taken: "50 000 sat".',
      'A bare number is taken only where the command names the currency already, as in: svcpay swap 25 USDT BTC. For bitcoin it is refused, because it could mean sat or BTC.',
      'There is no sign, no exponent and no other separator. More decimals than the currency has are refused, never rounded. All is computed in exact decimals.',
      'Fees are limited with --max-fee, in the currency of the wallet that pays (100sat) or as a share of the amount (1%).',
    ],
  },
  {
    name: 'environment',
    summary: 'the variables that are read',
    parts: [
      'A flag goes before the environment, the environment before the profile, the profile before the default.',
      [
        ['SVCPAY_PROFILE', 'the profile, as --profile'],
        ['SVCPAY_ACCOUNT', 'the subaccount, as --account'],
        ['SVCPAY_BASE_URL', 'address of the service, as --base-url'],
        ['SVCPAY_API_KEY, SVCPAY_API_SECRET', 'the credentials; with these and the address no login is needed'],
        ['SVCPAY_NETWORK', 'mainnet, testnet or any: which invoices and addresses are taken'],
        ['SVCPAY_MAKER', "the service's name on the wire: acme for acmepay (default service)"],
        ['SVCPAY_SIGNATURE_HEADER', "the header that webhooks are signed in, where it is not X-Servicepay-Signature"],
        ['SVCPAY_WEBHOOK_SECRET', 'the secret of the webhook commands'],
        ['SVCPAY_HOME', 'one folder for settings, journal and sandbox'],
        ['SVCPAY_DATABASE_URL', 'PostgreSQL for journal, limits and events, shared by several machines'],
        ['SVCPAY_LIVE_SHAPES', 'what the sandbox answers as live services do: svcpay sandbox start --help'],
        ['SVCPAY_NO_INPUT, CI', 'never ask a question, as --no-input'],
        ['SVCPAY_LOG_FORMAT', 'text or json, as --log-format'],
        ['NO_COLOR, FORCE_COLOR', 'colours never, or always'],
        ['HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'the proxy, and the hosts that need none'],
      ],
    ],
  },
  {
    name: 'fields',
    summary: 'which fields a command prints, and how to choose',
    parts: [
      '--fields a,b.c prints only these fields, in this order, in every format; a dot leads into an object: txnState,sourceReq.ccy. The names are those of the specification, the same in every output.',
      '--fields help lists those that a command has: svcpay tx list --fields help',
      '-q prints the one value that a script wants: the invoice, the address, the transaction id.',
      'There is no filter language: jq reads --json, and one line each of -o jsonl.',
      [
        ['svcpay tx list --fields txnId,txnState -o csv', 'a table for a spreadsheet'],
        ["svcpay tx list --json | jq '.[].txnId'", 'for everything else'],
      ],
    ],
  },
  {
    name: 'scripting',
    summary: 'scripts that can be run twice',
    parts: [
      'stdout carries the result and nothing else; questions, progress and errors go to stderr. In a pipe a list is tab-separated. --json prints one document, -o jsonl a line per row or change.',
      'Nothing is asked without a terminal, with --no-input, --json or CI: the command then ends at once and names the flags that were missing. A payment needs --yes.',
      'A payment with --ref REF is made once: run again with the same reference, it finds the earlier one and reports or goes on with it.',
      [
        ['svcpay send DEST 50000sat --ref order-118 --yes --json', 'pays once, however often it is run'],
        ['exit code 8', 'not known yet: run the same line again, or svcpay tx resume REF'],
        ['exit code 75', 'nothing moved, the network failed: run the same line again later'],
        ['exit code 6', 'ended without paying: --retry makes another attempt'],
        ['svcpay batch rows.csv --yes', 'pays no row twice; exit code 8 also when rows are left that the same line goes on with'],
      ],
      'Under --json the last line of stderr is {"error":{"kind","message","hint","exitCode",...}}. All codes: svcpay help exit-codes',
      'Output that cannot be written does not end a payment and does not change its exit code.',
    ],
  },
];

export const topicNames: readonly string[] = ['exit-codes', ...topics.map(({ name }) => name)].toSorted();

const margin = '  ';

/** @param columns width of the window */
export function topicText({ parts }: Topic, columns: number): string {
  const width = columns - margin.length;
  const blocks = parts.map((part) => {
    if (typeof part === 'string') return wrap(part, columns);
    return part.flatMap(([term, meaning]) => [`${margin}${term}`, ...wrap(meaning, width - 4).map((line) => `${margin}    ${line}`)]);
  });
  return blocks.map((lines) => lines.join('\n')).join('\n\n');
}
