// Maps the rows of a statement to the firm's own accounts, with the rules of a CSV file.
import { Failure } from '../../formats/failure.js';

/** The columns of the file. An empty cell matches every row. */
export const ruleColumns = ['kind', 'method', 'payee', 'note', 'account'] as const;

export type Rule = Readonly<Record<(typeof ruleColumns)[number], string>>;

/** The parts of a row, a fee or a wallet by which a rule selects its account. */
export interface Booked {
  /** The kind of a statement row, or `wallet`, `fee` or `gain`. */
  readonly kind: string;
  /** The payment method, the currency of a wallet, or `service` or `network` for a fee. */
  readonly method: string | null;
  readonly payee?: string | null;
  readonly note?: string | null;
}

/** Returns the account of the first rule that matches, or undefined. */
export type AccountOf = (booked: Booked) => string | undefined;

const isAlike = (rule: string, text: string | null | undefined): boolean =>
  rule === '' || rule.toLowerCase() === (text ?? '').toLowerCase();

/** The note of a rule matches every note that contains it. */
export const accountsBy =
  (rules: readonly Rule[]): AccountOf =>
  ({ kind, method, payee, note }) =>
    rules.find(
      (rule) =>
        isAlike(rule.kind, kind) &&
        isAlike(rule.method, method) &&
        isAlike(rule.payee, payee) &&
        (note ?? '').toLowerCase().includes(rule.note.toLowerCase()),
    )?.account;

/** Throws Failure `usage` for an account that hledger and beancount cannot both read. */
export function checkAccount(account: string, line: number): void {
  if (/^(?:Assets|Liabilities|Equity|Income|Expenses)(?::[\p{Lu}\d][\p{L}\d-]*)+$/u.test(account))
    return;
  throw new Failure(
    'usage',
    `Line ${line} of the accounts: "${account}" is not an account of a ledger. ` +
      'Write an account such as Expenses:Wages.',
  );
}
