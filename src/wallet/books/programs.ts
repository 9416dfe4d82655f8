// Writes the rows of a statement for other programs: as double entry for hledger and beancount, and
// as OFX 2.1.1. A CSV file maps the rows to the firm's own accounts.
import { decimalsOf, fixed, type Money } from '../../formats/amount.js';
import { changeOf, isExchangeCredit, type StatementRow } from '../../formats/statement-row.js';
import { createHash } from 'node:crypto';
import Big from 'big.js';
import { type Span, dateAfter } from '../../formats/calendar.js';
import { invalid } from '../../formats/failure.js';

/** The columns of the file. An empty cell matches every row. */
export const ruleColumns = ['kind', 'method', 'payee', 'note', 'account'] as const;

export type Rule = Readonly<Record<(typeof ruleColumns)[number], string>>;

/** The parts of a row, a fee or a wallet by which a rule selects its account. */
export interface Booked {
  /** The kind of a statement row, or `wallet`, `fee` or `gain`. */
  readonly kind: string;
  /** The payment method, the currency of a wallet, or `service` or `network` for a fee. */
  readonly method: string | null;
  readonly counterparty?: string | null;
  readonly note?: string | null;
}

/** Returns the account of the first rule that matches, or undefined. */
export type AccountOf = (booked: Booked) => string | undefined;

const isAlike = (rule: string, text: string | null | undefined): boolean =>
  rule === '' || rule.toLowerCase() === (text ?? '').toLowerCase();

/** The note of a rule matches every note that contains it. */
export const accountsBy =
  (rules: readonly Rule[]): AccountOf =>
  ({ kind, method, counterparty, note }) =>
    rules.find(
      (rule) =>
        isAlike(rule.kind, kind) &&
        isAlike(rule.method, method) &&
        isAlike(rule.payee, counterparty) &&
        (note ?? '').toLowerCase().includes(rule.note.toLowerCase()),
    )?.account;

/** Throws Failure `usage` for an account that hledger and beancount cannot both read. */
export function checkAccount(account: string, line: number): void {
  if (/^(?:Assets|Liabilities|Equity|Income|Expenses)(?::[\p{Lu}\d][\p{L}\d-]*)+$/u.test(account))
    return;
  throw invalid(
    `Line ${line} of the accounts: "${account}" is not an account of a ledger. ` +
      'Write an account such as Expenses:Wages.',
  );
}

interface BankAccount {
  readonly ccy: string;
  /** The account at the service, which acts as the bank. */
  readonly accountId: string;
  readonly bank: string;
}

const checking = '<ACCTTYPE>CHECKING</ACCTTYPE>';
const success = '<STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>';

/** @param now the time at which svcpay writes the file, in epoch ms */
export const ofxHead = (
  { ccy, accountId, bank }: BankAccount,
  { first, end }: Span,
  now: number,
): string =>
  `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>
<OFX>
<SIGNONMSGSRSV1><SONRS>${success}<DTSERVER>${time(now)}</DTSERVER>
<LANGUAGE>ENG</LANGUAGE></SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><TRNUID>0</TRNUID>${success}<STMTRS><CURDEF>${ccy}</CURDEF>
<BANKACCTFROM><BANKID>${text(bank, 9)}</BANKID>
<ACCTID>${text(accountName(accountId, ccy), longestAccount)}</ACCTID>${checking}</BANKACCTFROM>
<BANKTRANLIST><DTSTART>${time(first)}</DTSTART><DTEND>${time(end - 1)}</DTEND>
`;

/** @param clean the function that sanitizes external text and converts it to one line */
export function ofxRow(row: StatementRow, clean: (text: string) => string): string {
  const change = changeOf(row);
  const type = change.lt(0) ? 'DEBIT' : 'CREDIT';
  const posted = row.time === null ? dayText(row.date) : time(Date.parse(row.time));
  const memo = [row.note, row.reference].flatMap((each) => each ?? []).join(' ');
  const id = clean(row.txnId ?? row.reference ?? '');
  const fields = [
    `<STMTTRN><TRNTYPE>${type}</TRNTYPE><DTPOSTED>${posted}</DTPOSTED>`,
    `<TRNAMT>${amount(change, row.wallet)}</TRNAMT><FITID>${text(id, 255)}</FITID>`,
    `<NAME>${text(clean(row.counterparty ?? ''), 32)}</NAME>`,
    memo === '' ? '' : `<MEMO>${text(clean(memo), 255)}</MEMO>`,
  ];
  return `${fields.join('')}</STMTTRN>\n`;
}

export const ofxFoot = (balance: Big, { end }: Span, ccy: string): string =>
  `</BANKTRANLIST>
<LEDGERBAL><BALAMT>${amount(balance, ccy)}</BALAMT><DTASOF>${time(end - 1)}</DTASOF></LEDGERBAL>
</STMTRS></STMTTRNRS></BANKMSGSRSV1>
</OFX>
`;

const amount = (value: Big, ccy: string): string => value.toFixed(decimalsOf(ccy));

const longestAccount = 22;

/**
 * Names the account of a wallet by currency and account id. A hash replaces a long account id, so
 * that each wallet has its own account name.
 */
function accountName(accountId: string, ccy: string): string {
  const name = `${ccy}-${accountId}`;
  if (name.length <= longestAccount) return name;
  const hash = createHash('sha256').update(accountId).digest('hex');
  return `${ccy}-${hash}`.slice(0, longestAccount);
}

/** Writes a time such as `20261031235959.999[0:GMT]`. */
const time = (at: number): string =>
  `${new Date(at).toISOString().replaceAll(/[-:TZ]/g, '')}[0:GMT]`;

const dayText = (date: string | null): string => (date ?? '').replaceAll('-', '');

/** Shortens a text to the length that the OFX field allows. */
const text = (value: string, longest: number): string =>
  [...value]
    .slice(0, longest)
    .join('')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');

interface Posting extends Money {
  /** The account in the format of hledger and beancount, such as `Assets:Svcpay:BTC`. */
  readonly account: string;
  /** The price of the amount: of one unit (`@`) or of the whole amount (`@@`). */
  readonly price?: Money & { readonly of: '@' | '@@' };
}

/**
 * Writes entries in the format of a ledger program. Each text declares the accounts and currencies
 * that no earlier text has declared.
 */
export interface LedgerWriter {
  readonly head: string;
  readonly entry: (row: StatementRow) => string;
  /** Asserts the balance of a wallet at the end of a day. */
  readonly closing: (day: string, balance: Money) => string;
  /**
   * Sets the balance of a wallet at the start of a day, so that the program can check the file of a
   * period alone, and also after the files of earlier periods. Not every program can do both.
   */
  readonly opening: ((day: string, balance: Money) => string) | undefined;
}

type LedgerProgram = keyof typeof styles;

interface Style {
  readonly indent: string;
  readonly head: (title: string, note: string | null) => string;
  readonly tag: (name: string, value: string) => string;
  readonly declare: (name: string) => string;
  /** @param wallet the account of the wallet */
  readonly closing: (day: string, wallet: string, balance: Money) => string;
  readonly opening?: (day: string, wallet: string, balance: Money, from: string) => string;
}

const isAccount = (name: string): boolean => name.includes(':');

// hledger reads a semicolon as the beginning of a comment, and a comma as the end of a tag.
const withoutComment = (text: string): string => text.replaceAll(';', ',');

const hledger: Style = {
  indent: '    ',
  head: (title, note) => [title, ...(note === null ? [] : [note])].map(withoutComment).join(' | '),
  tag: (name, value) => `; ${name}: ${value.replaceAll(',', ' ')}`,
  declare: (name) =>
    isAccount(name) ? `account ${name}\n` : `commodity ${sampleOf(name)} ${name}\n`,
  closing: (day, wallet, { ccy, value }) =>
    `\n${day} * Closing balance\n    ${wallet}  0 ${ccy} = ${fixed(value)} ${ccy}\n`,
  opening: (day, wallet, { ccy, value }, from) =>
    `\n${day} * Opening balance\n    ${wallet}  = ${fixed(value)} ${ccy}\n    ${from}\n`,
};

/** A sample amount of a currency, with the decimal point that hledger requires. */
const sampleOf = (ccy: string): string =>
  `${new Big(1).toFixed(decimalsOf(ccy))}${decimalsOf(ccy) === 0 ? '.' : ''}`;

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, (each) => `\\${each}`)}"`;

const beancount: Style = {
  indent: '  ',
  head: (title, note) => [title, ...(note === null ? [] : [note])].map(quoted).join(' '),
  tag: (name, value) => `${name}: ${quoted(value)}`,
  // beancount refuses an entry before the opening of its account.
  declare: (name) => (isAccount(name) ? `1970-01-01 open ${name}\n` : ''),
  // beancount checks a balance at the start of a day. Without "~ 0", beancount tolerates a
  // difference in the last digit.
  closing: (day, wallet, { ccy, value }) =>
    `\n${dateAfter(day)} balance ${wallet}  ${value.toFixed(decimalsOf(ccy))} ~ 0 ${ccy}\n`,
  // beancount refuses a balance that changes nothing, so a file cannot set its opening balance and
  // also follow the files of earlier periods.
};

const styles: Readonly<Record<'hledger' | 'beancount', Style>> = { hledger, beancount };

/** @param clean the function that sanitizes external text and converts it to one line */
export function ledgerWriter(
  program: LedgerProgram,
  zone: string,
  accountOf: AccountOf,
  clean: (text: string) => string,
): LedgerWriter {
  const { indent, head, tag, declare, closing, opening } = styles[program];
  const declared = new Set<string>();
  const used = new Set<string>();
  const use = (name: string): string => {
    if (!declared.has(name)) used.add(name);
    return name;
  };
  const account = (row: Booked): string => use(accountOf(row) ?? usualAccount(row));
  const wallet = (ccy: string): string => account({ kind: 'wallet', method: use(ccy) });
  const withDeclarations = (text: string): string => {
    // hledger declares a currency before the accounts that hold it.
    const names = [...used].toSorted((a, b) => Number(isAccount(a)) - Number(isAccount(b)));
    used.clear();
    for (const name of names) declared.add(name);
    const lines = names.map(declare).join('');
    return (lines && `\n${lines}`) + text;
  };
  const line = `\n${indent}`;
  const postingText = ({ ccy, value, price, ...of }: Posting): string =>
    `${line}${of.account}  ${fixed(value)} ${use(ccy)}` +
    (price === undefined ? '' : ` ${price.of} ${fixed(price.value)} ${use(price.ccy)}`);
  return {
    head: `; Written by svcpay. Dates are in ${zone}.\n`,
    closing: (day, money) => withDeclarations(closing(day, wallet(money.ccy), money)),
    opening:
      opening &&
      ((day, money) =>
        withDeclarations(opening(day, wallet(money.ccy), money, use('Equity:Svcpay:Opening')))),
    entry(row) {
      if (isExchangeCredit(row)) return '';
      const { date, time, txnId, reference, note } = row;
      const title = head(clean(titleOf(row)), note === null ? null : clean(note));
      const tags = Object.entries({ time, 'txn-id': txnId, ref: reference }).map(([name, value]) =>
        value === null ? '' : line + tag(name, clean(value)),
      );
      const postings = postingsOf(row, account).map(postingText);
      return withDeclarations(`\n${date} * ${title}${[...tags, ...postings].join('')}\n`);
    },
  };
}

function titleOf({ kind, method, counterparty }: StatementRow): string {
  if (kind === 'swap') return 'Swap';
  if (method === null) return kind === 'correction' ? 'Correction' : 'Adjustment';
  if (counterparty !== null && counterparty !== method) return counterparty;
  return `${kind === 'send' ? 'Send' : 'Receive'} ${method}`;
}

/** Returns the postings of a row. The row of the debited wallet contains both sides of a swap. */
function postingsOf(row: StatementRow, account: (booked: Booked) => string): Posting[] {
  const { wallet: ccy, kind, exchanged, exchangedCcy } = row;
  const wallet = (of: string): string => account({ kind: 'wallet', method: of });
  const change = changeOf(row);
  const own = { account: wallet(ccy), ccy, value: change };
  const fees = (feeCcy: string): Posting[] =>
    Object.entries({ service: row.serviceFee, network: row.networkFee }).flatMap(([of, value]) =>
      value.eq(0) ? [] : { account: account({ kind: 'fee', method: of }), ccy: feeCcy, value },
    );
  if (kind === 'receive') {
    const paid = { ccy: exchangedCcy ?? ccy, value: exchanged ?? row.in };
    const gross = paid.value.plus(row.serviceFee).plus(row.networkFee);
    const income = { account: account(row), ccy: paid.ccy, value: gross.neg() };
    return priced([income, ...fees(paid.ccy), own], own, paid, row, account);
  }
  if (kind === 'send' || (kind === 'swap' && exchangedCcy !== null)) {
    const gets = {
      account: kind === 'send' ? account(row) : wallet(exchangedCcy ?? ccy),
      ccy: exchangedCcy ?? ccy,
      value: exchanged ?? row.out,
    };
    return priced([own, ...fees(ccy), gets], gets, { ccy, value: row.out }, row, account);
  }
  return [own, { account: account(row), ccy, value: change.neg() }];
}

/**
 * Adds prices: the stored rate of each amount in the firm's currency, with the difference of an
 * exchange as a gain or loss. Without stored rates, an exchanged amount has the amount that was
 * paid for it as its price.
 */
function priced(
  postings: readonly Posting[],
  bought: Posting,
  paid: Money,
  row: StatementRow,
  account: (booked: Booked) => string,
): Posting[] {
  const { fiat, wallet, fiatRate, exchangedCcy, exchangedRate } = row;
  const rateOf = (ccy: string): Big | null =>
    ccy === fiat ? new Big(1) : ccy === wallet ? fiatRate : exchangedRate;
  const currencies = exchangedCcy === null ? [wallet] : [wallet, exchangedCcy];
  if (fiat === null || currencies.some((ccy) => rateOf(ccy) === null))
    return postings.map((each) =>
      each === bought && bought.ccy !== paid.ccy
        ? { ...each, price: { of: '@@', ccy: paid.ccy, value: paid.value } }
        : each,
    );
  let sum = new Big(0);
  const all = postings.map((each): Posting => {
    const rate = rateOf(each.ccy) ?? new Big(0);
    sum = sum.plus(each.value.times(rate));
    return each.ccy === fiat ? each : { ...each, price: { of: '@', ccy: fiat, value: rate } };
  });
  if (sum.eq(0)) return all;
  return [
    ...all,
    { account: account({ kind: 'gain', method: null }), ccy: fiat, value: sum.neg() },
  ];
}

/** The accounts of kinds for which no rule exists, or their beginnings before the method. */
const usualAccounts: Readonly<Record<string, string>> = {
  wallet: 'Assets:Svcpay:',
  send: 'Expenses:Svcpay:',
  receive: 'Income:Svcpay:',
  fee: 'Expenses:Svcpay:Fees:',
  gain: 'Income:Svcpay:Gains',
  swap: 'Equity:Svcpay:Exchange',
  correction: 'Equity:Svcpay:Corrections',
};

/** Returns the account of a row, a fee or a wallet without a rule. */
export function usualAccount({ kind, method }: Booked): string {
  const account = usualAccounts[kind] ?? 'Equity:Svcpay:Adjustments';
  return account.endsWith(':') ? account + named(method ?? '') : account;
}

/**
 * Converts a text to a part of an account name: letters, digits and dashes, starting with a capital
 * or digit.
 */
function named(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9-]/g, '-').replace(/^-+/, '');
  return plain === '' ? 'Unknown' : plain.charAt(0).toUpperCase() + plain.slice(1);
}
