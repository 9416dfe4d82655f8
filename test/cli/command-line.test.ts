// readCommandLine extracts the details of a command line that svcpay needs before it loads the
// command.
import { describe, expect, test } from 'vitest';
import { readCommandLine } from '../../src/cli/program.js';

const line = (text: string) => readCommandLine(text === '' ? [] : text.split(' '));
const nameOf = (text: string): string =>
  line(text)
    .path.map(({ name }) => name)
    .join(' ');

describe('readCommandLine', () => {
  test.for([
    ['', ''],
    ['send lightning lntb1', 'send lightning'],
    ['--json send lightning lntb1', 'send lightning'],
    ['--profile send wallets', 'wallets'],
    ['-qo json --timeout=5s wallets', 'wallets'],
    ['pay lightning lntb1', 'send lightning'],
    ['send --via lightning bitcoin:x', 'send'],
    ['tx -- list', 'tx'],
    ['nothing send', ''],
  ] as const)('reads "svcpay %s" as the command "%s"', ([given, name]) => {
    expect(nameOf(given)).toBe(name);
  });

  test.for([
    ['the word after the command', 'send lightnin x', 'lightnin'],
    ['no word after a complete line', 'send', undefined],
    ['no word from the value of an option', 'send --note lightnin', undefined],
  ] as const)('returns %s of "svcpay %s" as the next word', ([, given, next]) => {
    expect(line(given).nextWord).toBe(next);
  });

  test.for([
    ['send lightning lntb1', true],
    ['tx list', false],
    ['api POST /api/v2/transaction', false],
    ['', false],
  ] as const)('reports whether "svcpay %s" moves money: %s', ([given, moves]) => {
    expect(line(given).movesMoney).toBe(moves);
  });
});

describe('readCommandLine on options', () => {
  test.for([
    ['wallets -ojson', 'json'],
    ['wallets -qo json', 'json'],
    ['wallets --output=csv -o jsonl', 'jsonl'],
    ['wallets --output', undefined],
    ['sandbox run npm -- -o json', undefined],
    ['wallets', undefined],
  ] as const)('reads the output format of "svcpay %s" as %s', ([given, output]) => {
    expect(line(given).word('output')).toBe(output);
  });

  test.for([
    ['send x --dry-run', true],
    ['send x -- --dry-run', false],
    ['send dry-run', false],
  ] as const)('reports whether "svcpay %s" has --dry-run: %s', ([given, has]) => {
    expect(line(given).has('dry-run')).toBe(has);
  });

  test.for([
    ['send - 5usdt', true],
    ['payout --from-file -', true],
    ['send -', true],
    ['send -y', false],
  ] as const)('reports whether "svcpay %s" reads stdin: %s', ([given, reads]) => {
    expect(line(given).readsStdin).toBe(reads);
  });

  test.for(['wallets -h', '-qh wallets', '--help', '-V', 'send --version'])(
    'recognizes a request for help or the version in "svcpay %s"',
    (given) => {
      expect(line(given).asksForHelp).toBe(true);
    },
  );
});

test.for([
  ['--profile tx tx --json list --limit 5', '--profile tx --json --limit 5'],
  ['sandbox run npm --version', 'npm --version'],
  ['send lightning lightning', 'lightning'],
  ['tx -- list', '-- list'],
] as const)('readCommandLine separates the name from "svcpay %s": %s', ([given, words]) => {
  expect(line(given).words.join(' ')).toBe(words);
});
