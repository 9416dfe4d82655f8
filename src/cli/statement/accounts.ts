// The firm's own accounts: reads the mapping file, and writes a first mapping file from the
// history.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import * as v from 'valibot';
import { always, dayWriter, ownZone } from '../../formats/calendar.js';
import { invalid } from '../../formats/failure.js';
import { asPlainCell, fromPlainCell } from '../../formats/text.js';
import { accountFileView } from '../../terminal/views/statement-view.js';
import { ruleColumns, type Rule, usualAccount } from '../../wallet/books/programs.js';
import type { Context } from '../context.js';
import { defineCommand, record } from '../define.js';
import { openBooks, timedRows, withLocalData } from './open-books.js';

const cell = v.pipe(v.string(), v.transform(fromPlainCell));

const rulesOf = v.array(
  v.object({
    kind: cell,
    method: cell,
    payee: cell,
    note: cell,
    account: v.pipe(cell, v.nonEmpty()),
  }),
);

const pathOf = ({ home }: Pick<Context, 'home'>): string => join(home.data, 'accounts.csv');

/** Reads the mapping file. Without a file, no rule exists. Throws Failure `usage`. */
export function accountRules(context: Pick<Context, 'home'>): readonly Rule[] {
  const path = pathOf(context);
  if (!existsSync(path)) return [];
  try {
    return v.parse(rulesOf, parse(readFileSync(path, 'utf8'), { columns: true, trim: true }));
  } catch (cause) {
    throw invalid(
      `${path} is not a file of accounts: a CSV file with the columns ${ruleColumns.join(', ')}, ` +
        'and an account in each row.',
      { cause },
    );
  }
}

export const statementAccountsInit = defineCommand({
  examples: [
    [
      'svcpay statement accounts init',
      'writes a row for each payee of the history; fill in your accounts',
    ],
  ],
  changes: true,
  async run(_inputs, context) {
    const file = pathOf(context);
    if (existsSync(file)) throw invalid(`Nothing was written: ${file} exists. Edit it.`);
    const zone = ownZone();
    const books = await openBooks({ zone }, context);
    const found = new Map<string, Rule>();
    const scope = { period: always, day: dayWriter(zone) };
    const add = (kind: string, method = '', payee = ''): void => {
      const account = usualAccount({ kind, method });
      found.set(`${kind} ${method} ${payee}`, { kind, method, payee, note: '', account });
    };
    for await (const { kind, method, counterparty } of withLocalData(
      timedRows(books, scope),
      context,
    ))
      if (method !== null) add(kind, method, counterparty === method ? '' : (counterparty ?? ''));
    for (const kind of ['adjustment', 'correction']) add(kind);
    for (const method of ['service', 'network']) add('fee', method);
    add('gain');
    for (const ccy of books.currencies) add('wallet', ccy);
    const rules = [...found.values()];
    const cells = rules.map((rule) => ruleColumns.map((name) => asPlainCell(rule[name])));
    writeFileSync(file, stringify([[...ruleColumns], ...cells]), { mode: 0o600, flag: 'wx' });
    return { file, rows: rules.length };
  },
  view: record(accountFileView),
});
