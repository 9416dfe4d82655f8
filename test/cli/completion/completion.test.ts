// Tests the words that svcpay offers to the completion scripts, and the scripts in real shells.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answer, complete } from '../../../src/complete.js';
import { completionScript } from '../../../src/cli/completion/completion.js';
import { pagesOf, type Page } from '../../../src/cli/help/help.js';
import { tree } from '../../../src/cli/table.js';
import { isInstalled } from '../../support/installed.js';

const root = resolve(import.meta.dirname, '../../..');
let pages: Page[];
beforeAll(async () => {
  pages = await pagesOf(tree);
});

test('svcpay help has a summary and an example for every executable command', () => {
  const bare = pages.filter(
    ({ summary, runs, examples }) => summary === '' || (runs && examples.length === 0),
  );
  expect(bare.map(({ path }) => path)).toEqual([]);
});

test('svcpay help describes every option and argument', () => {
  const silent = pages.flatMap(({ path, flags, arguments: slots }) =>
    [...flags, ...slots].filter(({ summary }) => summary === '').map(() => path),
  );
  expect(silent).toEqual([]);
});

describe('complete', () => {
  const offered = (...words: string[]): 'files' | string[] => {
    const found = complete(words, pages, (kind) => [{ text: `a-${kind}` }]);
    return found === 'files' ? found : found.map(({ text }) => text);
  };
  const cases: [words: string[], offers: string[] | 'files'][] = [
    [['sw'], ['swap']],
    [['--json', 'sw'], ['swap']],
    [['--profile', 'x', 'sw'], ['swap']],
    [['pa'], ['pay', 'payout']],
    [['send', 'li'], ['lightning']],
    [['pay', 'li'], ['lightning']],
    [['send', 'lightning', '--max-f'], ['--max-fee']],
    [['send', 'lightning', '--qui'], ['--quiet']],
    [['send', '--ref', ''], ['a-reference']],
    [['send', '--note', ''], []],
    [['send', 'lightning', ''], []],
    [['send', '--from', ''], ['a-wallet']],
    [['wallets', ''], ['a-wallet']],
    [['--profile', ''], ['a-profile']],
    [['profiles', 'use', ''], ['a-profile']],
    [
      ['payout', ''],
      ['methods', 'institutions', 'a-contact'],
    ],
    [['tx', 'watch', 'one', ''], ['a-transaction']],
    [['tx', 'get', 'one', ''], []],
    [['tx', 'list', '--state', 'do'], ['done']],
    [['tx', 'list', '--state', 'comp'], []],
    [['tx', 'list', '--state=do'], ['--state=done']],
    [['tx', 'list', '--src-method', 'w'], ['wallet']],
    [
      ['receive', 'address', '--chain', ''],
      ['tron', 'ethereum'],
    ],
    [['tx', 'list', '--dest-method', 'light'], ['lightning']],
    [
      ['payout', '--country', 'V'],
      ['VN', 'Vietnam'],
    ],
    [
      ['-o', 'jso'],
      ['json', 'jsonl'],
    ],
    [
      ['--output', 'jso'],
      ['json', 'jsonl'],
    ],
    [['statement', '-o', 'h'], ['hledger']],
    [['wallets', '-o', 'h'], []],
    [['tx', 'cancel', '--fields', 'txnId,txnSt'], ['txnId,txnState']],
    [['payout', '--institution', ''], ['a-institution']],
    [['payout', 'institutions', 'V'], ['VN']],
    [
      ['payout', '--sender-country', 'D'],
      ['DE', 'DJ', 'DK', 'DM', 'DO', 'DZ'],
    ],
    [['sandbox', 'snapshot', 'load', ''], ['a-snapshot']],
    [['batch', ''], 'files'],
    [['payout', '--from-file', ''], 'files'],
    [['config', 'get', 'base'], ['base-url']],
    [['completion', 'f'], ['fish']],
    [['help', 'exit'], ['exit-codes']],
    [['help', 'send', 'li'], ['lightning']],
    [['nosuch', ''], []],
  ];
  test.for(cases)('completes the words %j with %j', ([words, offers]) => {
    expect(offered(...words)).toEqual(offers);
  });
});

describe('shell completion', () => {
  const home = mkdtempSync(join(tmpdir(), 'svcpay-completion-'));
  const env = {
    PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    SVCPAY_HOME: home,
    LANG: 'C.UTF-8',
  };
  beforeAll(() => {
    mkdirSync(join(home, 'bin'));
    symlinkSync(join(root, 'bin/svcpay.js'), join(home, 'bin/svcpay'));
    writeFileSync(join(home, 'rows.csv'), '');
    const config = {
      profiles: { main: {}, trial: {} },
      contacts: { 'Le Van A': {}, 'Le Thi B': {} },
    };
    writeFileSync(join(home, 'config.json'), JSON.stringify(config));
    writeFileSync(
      join(home, 'seen-ids.json'),
      JSON.stringify({
        scope: [{ txnId: 'ad79a67a-5e07', about: '↓ Lightning 12 000 sat, Ada' }],
      }),
    );
    writeFileSync(join(home, 'seen-wallets.json'), JSON.stringify({ wallets: ['BTC', 'VND'] }));
    writeFileSync(
      join(home, 'seen-institutions.json'),
      JSON.stringify({ VN: { 970436: 'Vietcom\u001b[2Jbank', 'a\n$(b)': 'C' } }),
    );
    const state = new Database(join(home, 'sandbox.db'));
    state.exec(
      "CREATE TABLE snapshot (id INTEGER, name TEXT); INSERT INTO snapshot VALUES (1, 'funded')",
    );
    state.close();
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const script = (shell: string): string => join(root, `completions/svcpay.${shell}`);

  const cases: [line: string, offers: string[]][] = [
    ['svcpay sw', ['swap']],
    ['svcpay tx list --state do', ['done']],
    ['svcpay --profile ', ['main', 'trial']],
    ['svcpay tx get ', ['ad79a67a-5e07']],
    ['svcpay wallets V', ['VND']],
    ['svcpay payout --institution ', ['970436']],
    ['svcpay sandbox snapshot load ', ['funded']],
    ['svcpay batch r', ['rows.csv']],
    ['svcpay send lightning ', []],
    ['svcpay tx export --out', ['--output']],
  ];

  const bashWords = (line: string): string =>
    `source '${script('bash')}'; cd '${home}'; COMP_WORDS=(${line.endsWith(' ') ? `${line}''` : line}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _svcpay; printf '%s\\n' "\${COMPREPLY[@]}"`;
  test.skipIf(!isInstalled('bash')).for(cases)(
    'completes "%s" with %j in bash',
    ([line, offers]) => {
      expect(
        linesOf(execFileSync('bash', ['-c', bashWords(line)], { encoding: 'utf8', env })),
      ).toEqual(offers);
    },
  );

  test.skipIf(!isInstalled('bash'))(
    'completes the value after an equals sign in bash, and quotes a name with spaces',
    () => {
      const equals = `source '${script('bash')}'; COMP_WORDS=(svcpay wallets --output = jsonl); COMP_CWORD=4; _svcpay; printf '%s\\n' "\${COMPREPLY[@]}"`;
      expect(linesOf(execFileSync('bash', ['-c', equals], { encoding: 'utf8', env }))).toEqual([
        'jsonl',
      ]);
      expect(
        linesOf(
          execFileSync('bash', ['-c', bashWords('svcpay contacts remove Le')], {
            encoding: 'utf8',
            env,
          }),
        ),
      ).toEqual(['Le\\ Van\\ A', 'Le\\ Thi\\ B']);
    },
  );

  test.skipIf(!isInstalled('fish')).for(cases)(
    'completes "%s" with %j in fish',
    ([line, offers]) => {
      const command = `source '${script('fish')}'; cd '${home}'; complete --do-complete '${line}'`;
      const lines = linesOf(
        execFileSync('fish', ['--no-config', '-c', command], { encoding: 'utf8', env }),
      );
      expect(lines.map((each) => each.split('\t')[0])).toEqual(offers);
    },
  );

  test('offers a transaction id with the amount and payee that an earlier list showed', () => {
    expect(answer(['fish', 'tx', 'get', ''], pages, env, () => Database)).toBe(
      'ad79a67a-5e07\t↓ Lightning 12 000 sat, Ada\n',
    );
  });

  test('escapes or omits control sequences from the service', () => {
    expect(answer(['fish', 'payout', '--institution', ''], pages, env, () => Database)).toBe(
      '970436\tVietcom\\x1b[2Jbank, VN\n',
    );
    expect(completionScript('powershell')).toContain(`"'" + $value.Replace("'", "''") + "'"`);
  });

  test('writes a PowerShell script that completes words and file names', () => {
    const lines = completionScript('powershell');
    for (const [open, close] of ['{}', '()', '[]'])
      expect(lines.split(open ?? '').length).toBe(lines.split(close ?? '').length);
    expect(lines).toContain(
      'Register-ArgumentCompleter -Native -CommandName svcpay -ScriptBlock {',
    );
    expect(lines.indexOf("-contains ':files') { return }")).toBeGreaterThan(
      lines.indexOf('svcpay __complete powershell @words'),
    );
    expect(lines.indexOf("-eq 0) { return '' }")).toBeGreaterThan(
      lines.indexOf("-contains ':files'"),
    );
    const offeredFor = (...words: string[]): string =>
      answer(['powershell', ...words], pages, env, () => Database);
    expect(offeredFor('completion', "''").split('\n')[0]).toBe('bash\t');
    expect(offeredFor('batch', "''")).toBe(':files\n');
    expect(offeredFor('send', 'lightning', "''")).toBe('');
  });

  const between = 'and the next line';
  /**
   * Returns the words that zsh offers for each command line. The script prints the offered words
   * itself, because zsh completes only at a terminal. One zsh process completes all command lines,
   * because zsh starts slowly.
   */
  const zshOffers = (lines: readonly string[]): string[] => {
    const asked = lines.map(
      (line) =>
        `(words=(${line.endsWith(' ') ? `${line}''` : line}); CURRENT=\${#words}; _svcpay); print -r -- '${between}'`,
    );
    const { stdout } = spawnSync(
      'zsh',
      [
        '-f',
        '-c',
        `
      autoload -Uz compinit; compinit -u -D; source '${script('zsh')}'; cd '${home}'
      _describe() { local -a given; given=("\${(@P)3}"); print -rl -- "\${(@)given%%:*}" }
      _files() { print -rl -- *(N) | grep "^\${words[CURRENT]}" }
      ${asked.join('\n')}`,
      ],
      { encoding: 'utf8', env },
    );
    return stdout.split(`${between}\n`);
  };
  describe.skipIf(!isInstalled('zsh'))('zsh', () => {
    let offered: string[];
    beforeAll(() => void (offered = zshOffers(cases.map(([line]) => line))));
    test.for(cases.map(([line, offers], at) => [line, offers, at] as const))(
      'completes "%s" with %j in zsh',
      ([, offers, at]) => {
        expect(linesOf(offered[at] ?? 'zsh offered nothing')).toEqual(offers);
      },
    );
  });
});

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');
