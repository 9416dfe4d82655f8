// Answers a shell that requests completions at the cursor. This file is separate from the program,
// because completion must load very little code.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'libsql';
import { complete, type Candidate, type SuggestionsOf } from './cli/completion/complete.js';
import type { Page } from './cli/help/help.js';
import type { Suggested } from './cli/values.js';
import { isGenerated, isFields, jsonIn } from './formats/text.js';
import { sanitize } from './terminal/sanitize.js';
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
    entries(join(data, 'seen-institutions.json'), 'institutions').flatMap(([country, names]) =>
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
    const seen = entries(join(home.data, 'seen-ids.json'), 'seen')
      .flatMap(([, each]) =>
        isFields(each) ? { text: String(each['txnId']), about: String(each['about'] ?? '') } : [],
      )
      .filter(({ text }) => !own.some((payment) => payment.text === text));
    return [...own, ...seen.slice(-mostOffered).toReversed()];
  },
};

function entries(path: string, key: string): [string, unknown][] {
  if (!isFile(path)) return [];
  const whole = jsonIn(readFileSync(path, 'utf8'));
  const part = isFields(whole) ? whole[key] : undefined;
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
  const latest = `SELECT ref, txn_id, txn_state, state, approved_total, spend_ccy, opened_at,
    request
    FROM payments p JOIN attempts ON payment_id = id ORDER BY p.rowid DESC, number DESC LIMIT ?`;
  return rowsOf(journalFile(home), latest, load).map(
    ({
      ref,
      txn_id: txnId,
      txn_state: txnState,
      state,
      approved_total: total,
      spend_ccy: ccy,
      opened_at: at,
      request,
    }) => ({
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
