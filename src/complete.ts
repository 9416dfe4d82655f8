// Answers a shell that requests completions at the cursor. This file is separate from the program,
// because completion must load very little code.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'libsql';
import type { Page, Flag } from './cli/help/help.js';
import type { Shape, Suggested } from './cli/values.js';
import { isGenerated, isFields, jsonIn } from './formats/text.js';
import { sanitize } from './terminal/text.js';
import { sendWord } from './terminal/cards/steps.js';
import { findHome, journalFile, sandboxFile, type Home } from './store/files/home.js';

const mostOffered = 20;

type LoadModule = (name: 'libsql') => typeof Database;

/**
 * @param args the shell, and the words after the name of the program up to the cursor
 * @param load loads the SQLite library, which most completions do not need
 */
export function answer(
  [shell = '', ...typed]: readonly string[],
  pages: readonly Page[],
  env: NodeJS.ProcessEnv,
  load: LoadModule,
): string {
  const words =
    shell === 'bash'
      ? rejoined(typed)
      : typed.map((word) => (shell === 'powershell' && word === "''" ? '' : word));
  const found = complete(
    words.map(unquoted),
    pages,
    knownAt(() => findHome(env), load),
  );
  if (found === 'files') return ':files\n';
  // bash replaces only the text after the last `=` or `:` of a word.
  const cut = shell === 'bash' ? (/^.*[=:]/.exec(words.at(-1) ?? '')?.[0].length ?? 0) : 0;
  // Completion omits names with characters that a person cannot type, such as a line break in a
  // name from the service.
  const typeable = found.filter(({ text }) => sanitize(text) === text);
  return typeable
    .map(({ text, about = '' }) => `${text.slice(cut)}\t${sanitize(about)}\n`)
    .join('');
}

/** Joins the words of an option, because bash passes `--output=json` as three words. */
function rejoined(words: readonly string[]): string[] {
  const whole: string[] = [];
  let glued = false;
  for (const word of words) {
    const isBreak = /^[=:]+$/.test(word);
    if (whole.length > 0 && (isBreak || glued)) whole.push(`${whole.pop() ?? ''}${word}`);
    else whole.push(word);
    glued = isBreak;
  }
  return whole;
}

/** Removes quoting from a typed word, which may have an opening quote without a closing quote. */
const unquoted = (word: string): string => word.replace(/^['"]/, '').replaceAll(/\\(.)/g, '$1');

const knownAt =
  (findIt: () => Home, load: LoadModule): SuggestionsOf =>
  (kind: Suggested) => {
    try {
      return readers[kind](findIt(), load);
    } catch {
      // If a local file is missing or damaged, completion offers no names and reports no error.
      return [];
    }
  };

const readers: Readonly<Record<Suggested, (home: Home, load: LoadModule) => Candidate[]>> = {
  file: () => [],
  command: () => [],
  profile: ({ config }) => namesIn(join(config, 'config.json'), 'profiles', 'profile'),
  contact: ({ config }) => namesIn(join(config, 'config.json'), 'contacts', 'contact'),
  wallet: ({ data }) => {
    const seen = entries(join(data, 'seen-wallets.json'), 'wallets').map(([, ccy]) => String(ccy));
    return [...new Set(['BTC', 'USDT', ...seen])].map((text) => ({ text, about: 'wallet' }));
  },
  institution: ({ data }) =>
    entries(join(data, 'seen-institutions.json')).flatMap(([country, names]) =>
      (isFields(names) ? Object.entries(names) : []).map(([text, name]) => ({
        text,
        about: `${String(name)}, ${country}`,
      })),
    ),
  snapshot: (home, load) =>
    rowsOf(sandboxFile(home), 'SELECT name FROM snapshot ORDER BY id DESC LIMIT ?', load).map(
      ({ name }) => ({ text: String(name), about: 'snapshot' }),
    ),
  reference: (home, load) =>
    recentPayments(home, load).flatMap(({ ref, state }) =>
      ref === '' ? [] : [{ text: ref, about: state }],
    ),
  transaction: (home, load) => {
    const own = recentPayments(home, load).flatMap(({ ref, txnId, state }) =>
      txnId === null ? [] : [{ text: txnId, about: isGenerated(ref) ? state : `${state}, ${ref}` }],
    );
    const seen = entries(join(home.data, 'seen-ids.json'))
      .flatMap(([, list]) => (Array.isArray(list) ? list : []))
      .flatMap((each: unknown) =>
        isFields(each) ? { text: String(each['txnId']), about: String(each['about'] ?? '') } : [],
      )
      .filter(({ text }) => !own.some((payment) => payment.text === text));
    return [...own, ...seen.slice(-mostOffered).toReversed()];
  },
};

/** Returns the entries of the JSON object in a file, or of its part with the given name. */
function entries(path: string, key?: string): [string, unknown][] {
  if (!isFile(path)) return [];
  const whole = jsonIn(readFileSync(path, 'utf8'));
  const part = key === undefined || !isFields(whole) ? whole : whole[key];
  return typeof part === 'object' && part !== null ? Object.entries(part) : [];
}

/**
 * Whether a path is a regular file. Completion does not read a pipe or a device, because such a
 * read may never end.
 */
const isFile = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === true;

const namesIn = (path: string, key: string, about: string): Candidate[] =>
  entries(path, key).map(([text]) => ({ text, about }));

interface RecentPayment {
  readonly ref: string;
  readonly txnId: string | null;
  readonly state: string;
}

/** Returns the latest payments of the journal, newest first. */
function recentPayments(home: Home, load: LoadModule): RecentPayment[] {
  const latest = `SELECT ref, txn_id AS "txnId", txn_state AS "txnState", state, spend_ccy AS ccy,
    approved_total AS total, opened_at AS at, request
    FROM payments p JOIN attempts ON payment_id = id ORDER BY p.rowid DESC, number DESC LIMIT ?`;
  return rowsOf(journalFile(home), latest, load).map(
    ({ ref, txnId, txnState, state, total, ccy, at, request }) => ({
      ref: String(ref),
      txnId: typeof txnId === 'string' ? txnId : null,
      state: [
        total == null ? '' : `${String(total)} ${String(ccy)}`,
        destinationIn(request),
        txnState == null ? String(state) : sendWord(String(txnState)),
        new Date(Number(at)).toISOString().slice(0, 16).replace('T', ' '),
      ]
        .filter((part) => part !== '')
        .join(', '),
    }),
  );
}

/** Returns the shortened recipient of an order in the journal. */
function destinationIn(request: unknown): string {
  const order = typeof request === 'string' ? jsonIn(request) : undefined;
  const to =
    isFields(order) && typeof order['destination'] === 'string' ? order['destination'] : '';
  return to.length > 24 && !to.includes('@') ? `${to.slice(0, 4)}…${to.slice(-4)}` : to;
}

/** Returns the first rows of a query on a database file, or no rows if the file does not exist. */
function rowsOf(
  path: string,
  query: string,
  load: LoadModule,
): Readonly<Record<string, unknown>>[] {
  if (!isFile(path)) return [];
  const Opened = load('libsql');
  const db = new Opened(path, { readonly: true });
  const rows: unknown[] = db.prepare(query).all(mostOffered);
  db.close();
  return rows.filter(isFields);
}

interface Candidate {
  readonly text: string;
  readonly about?: string | undefined;
}

type SuggestionsOf = (kind: Suggested) => readonly Candidate[];

/** The candidates for a completion, or `files` if the shell should complete file names. */
type Completion = 'files' | readonly Candidate[];

/** Stands for the names of files among the candidates. */
const fileNames: Candidate = { text: '' };

/**
 * Completes the last word, which may be empty.
 * @param words the words after the program's name
 * @param pages the page of the program, followed by those of all commands
 */
export function complete(
  words: readonly string[],
  pages: readonly Page[],
  suggestionsOf: SuggestionsOf,
): Completion {
  const [root] = pages;
  if (root === undefined) return [];
  const current = words.at(-1) ?? '';
  const cursor = cursorAfter(words.slice(0, -1), root, pages);
  const found = candidatesAt(cursor, current, suggestionsOf);
  return found.includes(fileNames) ? 'files' : found.filter(({ text }) => text.startsWith(current));
}

interface Cursor {
  readonly page: Page;
  readonly pages: readonly Page[];
  /** The options that a command line may contain here. */
  readonly flags: readonly Flag[];
  /** The arguments before the word to complete. */
  readonly given: readonly string[];
  /** The option whose value is being completed. */
  readonly pending?: Flag | undefined;
  /** Whether `--` precedes the word to complete, which then is not an option. */
  readonly isOver?: true;
}

function cursorAfter(words: readonly string[], root: Page, pages: readonly Page[]): Cursor {
  let page = root;
  const given: string[] = [];
  const here = (): Cursor => {
    const flags = page === root ? root.flags : [...page.flags, ...root.flags];
    return { page, pages, flags, given };
  };
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') return { ...here(), given: [...given, ...rest], isOver: true };
    if (word.startsWith('-') && word !== '-') {
      const flag = flagNamed(word, here());
      if (flag?.value === undefined) continue;
      if (rest.length === 0) return { ...here(), pending: flag };
      rest.shift();
      continue;
    }
    const next = given.length === 0 ? childOf(page, word, pages) : undefined;
    if (next === undefined) given.push(word);
    else page = next;
  }
  return here();
}

const childOf = ({ path }: Page, word: string, pages: readonly Page[]): Page | undefined =>
  pages.find(
    (each) =>
      each.path === `${path} ${each.name}`.trimStart() &&
      each.path !== path &&
      [each.name, ...each.aliases].includes(word),
  );

const flagNamed = (name: string, { flags }: Cursor): Flag | undefined =>
  flags.find(({ names }) => names.includes(name));

function candidatesAt(cursor: Cursor, current: string, suggestionsOf: SuggestionsOf): Candidate[] {
  const { flags, pending, isOver } = cursor;
  if (pending !== undefined) return valuesOf(pending, current, cursor, suggestionsOf);
  if (isOver === true || !current.startsWith('-')) return argumentsAt(cursor, suggestionsOf);
  const [name = '', value] = current.split(/=(.*)/s, 2);
  if (value !== undefined && name.startsWith('--')) {
    return valuesOf(flagNamed(name, cursor), value, cursor, suggestionsOf).map((each) =>
      each === fileNames ? each : { ...each, text: `${name}=${each.text}` },
    );
  }
  const own = flags.flatMap(({ names, summary: about }) =>
    names.flatMap((text) => (text.startsWith('--') ? { text, about } : [])),
  );
  return [...own, { text: '--help', about: 'display help for command' }];
}

function valuesOf(
  flag: Flag | undefined,
  current: string,
  { page: { formats, fields } }: Cursor,
  suggestionsOf: SuggestionsOf,
): Candidate[] {
  if (flag?.value === undefined) return [];
  // In a comma-separated list, svcpay completes the text after the last comma.
  if (flag.names.includes('--fields'))
    return fields.map((name) => ({ text: current.replace(/[^,]*$/, name) }));
  const values = slotValues(flag.value, suggestionsOf);
  if (!flag.names.includes('--output')) return values;
  const others = formats.filter((format) => !values.some(({ text }) => text === format));
  return [...values, ...others.map((text) => ({ text }))];
}

const slotValues = (
  { choices, offers = choices, suggests }: Shape,
  suggestionsOf: SuggestionsOf,
): Candidate[] => [
  ...offers.map((text) => ({ text })),
  ...(suggests === undefined ? [] : suggests === 'file' ? [fileNames] : suggestionsOf(suggests)),
];

function argumentsAt({ page, pages, given }: Cursor, suggestionsOf: SuggestionsOf): Candidate[] {
  const last = page.arguments.at(-1);
  const slot = page.arguments[given.length] ?? (last?.kind === 'words' ? last : undefined);
  const isFirst = given.length === 0;
  if (slot?.suggests === 'command') {
    // `help` accepts command names and, as the first word, topics.
    let named = pages[0];
    for (const word of given) named = named && childOf(named, word, pages);
    const topics = isFirst ? (slot.offers ?? []) : [];
    return [...commandsOf(named), ...topics.map((text) => ({ text, about: 'topic' }))];
  }
  const values = slot === undefined ? [] : slotValues(slot, suggestionsOf);
  return isFirst ? [...commandsOf(page), ...values] : values;
}

const commandsOf = (page: Page | undefined): Candidate[] =>
  (page?.commands ?? []).map(({ name: text, summary: about }) => ({ text, about }));
