// Prints a statement of the wallets: opening balance, movements with running balances, closing
// balance, and whether the movements explain the service's balance. Sums the movements by currency
// and kind.
import { Failure, type FailureDetails } from '../../formats/failure.js';
import { always, dayWriter, monthSpan, type Span } from '../../formats/calendar.js';
import { fixed } from '../../formats/amount.js';
import { commandLine } from '../../terminal/next-step.js';
import { besideTable, namesOf } from '../../terminal/rows/list.js';
import {
  differenceText,
  explanationText,
  openingLines,
  periodText,
  statementList,
  type StatementTotal,
  tiedText,
  totalList,
} from '../../terminal/views/statement-view.js';
import type { Books } from '../../wallet/books/gather.js';
import { type Candidate, sumsOf } from '../../wallet/books/movement.js';
import {
  type Difference,
  explanations,
  type StatementScope,
} from '../../wallet/books/statement.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { choice, currency } from '../values.js';
import { month } from '../tx/history.js';
import { checkWallet, statementFormats, statementText } from './formats.js';
import { chosenWallets, date, periodOf, withBooks, zoneOf, zoneOption } from './open-books.js';
import { lookUpsOf, statementLines } from './lines.js';
import { whereaboutsOf } from '../login/whereabouts.js';
import { list } from '../show.js';

export const statement = defineCommand({
  prints: namesOf(undefined, statementList(undefined)),
  formats: statementFormats,
  options: {
    month: month(),
    from: date()
      .optional()
      .describe('first day, or a month: 2026-10-01, 2026-10 (default: the first transaction)'),
    to: date().optional().describe('last day, or a month (default: today)'),
    wallet: currency().optional().describe('only the wallet in this currency'),
    tz: zoneOption(),
    format: choice(statementFormats, 'FORMAT')
      .optional()
      .describe(
        'same as -o; hledger and beancount entries assert the balances, ' +
          'ofx, xero and quickbooks export one fiat wallet',
      ),
  },
  examples: [
    [
      'svcpay statement --month 2026-10',
      'shows the wallets in October, each with its opening and closing balance',
    ],
    [
      'svcpay statement --wallet BTC -o csv > btc.csv',
      'writes the statement for a spreadsheet; exits with 10 if the entries do not add up to ' +
        'the balance',
    ],
    [
      'svcpay statement --month last -o hledger > month.journal',
      'writes ledger entries that assert the closing balances',
    ],
    [
      'svcpay statement --wallet USD -o ofx > usd.ofx',
      'writes a fiat wallet, for programs that import bank statements',
    ],
  ],
  async run({ month: of, from, to, wallet, tz, format }, context) {
    const zone = zoneOf(tz);
    if (of !== undefined && (from !== undefined || to !== undefined))
      throw new Failure('usage', 'Give either --month, or --from and --to, not both.');
    const period = of === undefined ? periodOf(from, to, zone) : monthSpan(of, zone, context.now());
    if (format !== undefined) checkWallet(format, wallet);
    const use = async (books: Books): Promise<void> => {
      const wallets = chosenWallets(books, wallet);
      const scope = { wallets, period, now: books.at, day: dayWriter(zone) };
      if (format !== undefined)
        await context.out.pour(statementText(format, books, scope, zone, context));
      else
        await context.out.list(
          statementLines(books, scope, lookUpsOf(context)),
          statementList(await headingOf(wallets, period, zone, context), wallet === undefined),
        );
      const failure = notTied(wallets, books, zone, context);
      if (failure !== undefined) throw failure;
      showPending(scope, books, context);
      showTied(scope, books, context);
    };
    await withBooks({ zone, period }, use, context);
  },
});

/** Lists the transactions that have not settled, because the statement does not contain them. */
function showPending(
  { wallets, period }: StatementScope,
  books: Books,
  { out }: Pick<Context, 'out'>,
): void {
  for (const each of pendingIn(wallets, books, period))
    out.say(`  ${explanationText({ ...each, isExact: false })}`);
}

/** The transactions in flight that were created in the period. */
export const pendingIn = (
  wallets: readonly string[],
  { candidates }: Books,
  { first, end }: Span,
): Candidate[] =>
  wallets
    .flatMap((ccy) => candidates(ccy))
    .filter(({ reason, at }) => reason === 'in flight' && at >= first && at < end);

/**
 * Builds the heading of a statement, such as `BTC · October 2026 · UTC`, with the account at the
 * right end.
 */
async function headingOf(
  wallets: readonly string[],
  { first, end }: Span,
  zone: string,
  context: Context,
): Promise<readonly [string, string] | undefined> {
  if (!context.out.forPeople) return undefined;
  const day = dayWriter(zone);
  const from = first <= always.first ? undefined : day(first);
  const to = end >= always.end ? undefined : day(end - 1);
  const [only, ...others] = wallets;
  const left = [others.length === 0 ? (only ?? '') : 'All wallets', periodText(from, to), zone];
  const { service, accountId } = await whereaboutsOf(context);
  return [left.join(' · '), `${service} · ${accountId}`];
}

function showTied(
  { wallets, period, now }: StatementScope,
  { tied }: Books,
  { out }: Context,
): void {
  const shown = tied.filter(({ ccy }) => wallets.includes(ccy));
  if (shown.length > 0)
    out.screen((canvas) => besideTable(tiedText(shown, period.end <= now), canvas));
}

/**
 * Returns undefined if the transactions explain the balances. Otherwise, prints the transactions
 * that could explain an unexplained amount, and returns a failure whose hint contains a command
 * that records such an amount.
 */
export function notTied(
  wallets: readonly string[],
  books: Books,
  zone: string,
  { out, terminal, globals }: Pick<Context, 'out' | 'terminal' | 'globals'>,
): Failure | undefined {
  const openings = books.openings.filter(({ ccy }) => wallets.includes(ccy));
  const differences = books.differences.filter(({ ccy }) => wallets.includes(ccy));
  for (const line of openingLines(openings, terminal.stderrCanvas)) out.say(line);
  const texts = differences.map((difference) => differenceWithReasons(difference, books, out));
  const [first] = differences;
  if (first !== undefined)
    return new Failure(
      'books-differ',
      `The statement does not add up. ${texts.join('. ')}. ` +
        `To compare each transaction: ${commandLine({ command: 'reconcile' }, globals)}`,
      adjustAdvice(first, dayWriter(zone)(first.lastTied ?? books.at)),
    );
  const [opening] = openings;
  if (opening === undefined) return undefined;
  const names = openings.map(({ ccy }) => ccy).join(', ');
  const amount = `${fixed(opening.value)}${opening.ccy.toLowerCase()}`;
  const on = dayWriter(zone)(opening.at);
  return new Failure('books-differ', `No transaction explains the opening balance of ${names}.`, {
    hint: `Record the opening balance of ${opening.ccy} once`,
    next: {
      do: 'run',
      command: `statement adjust ${amount}`,
      options: { '--on': on, '--note': 'opening balance' },
    },
  });
}

function differenceWithReasons(
  difference: Difference,
  books: Books,
  out: Pick<Context['out'], 'say'>,
): string {
  const found = explanations(difference, books.candidates(difference.ccy));
  for (const each of found) out.say(`  ${explanationText(each)}`);
  const exact = found
    .filter(({ isExact }) => isExact)
    .map(({ txnId, reason }) => `${txnId} (${reason})`);
  const text = differenceText(difference);
  return exact.length === 0
    ? text
    : `${text}. The difference is exactly the amount of ${exact.join(', ')}`;
}

function adjustAdvice(
  { ccy, difference }: Difference,
  day: string,
): Pick<FailureDetails, 'hint' | 'next'> {
  const [hint, note] = difference.gt(0)
    ? ['If it came to your permanent address', 'deposit']
    : ['If the money left without a listed transaction', 'withdrawal'];
  const argument = `${fixed(difference)}${ccy.toLowerCase()}`;
  const options = { '--on': day, '--note': note };
  return { hint, next: { do: 'run', command: 'statement adjust', argument, options } };
}

interface Totals {
  readonly rows: readonly StatementTotal[];
  /** The failure of a statement that does not add up. */
  readonly failure: Failure | undefined;
}

export const statementTotals = defineCommand({
  options: {
    from: date().optional().describe('first day, or a month (default: the first transaction)'),
    to: date().optional().describe('last day, or a month (default: today)'),
    wallet: currency().optional().describe('only the wallet in this currency'),
    tz: zoneOption(),
  },
  examples: [
    ['svcpay statement totals --from 2026-10 --to 2026-10', 'sums a month by currency and kind'],
  ],
  async run({ from, to, wallet, tz }, context): Promise<Totals> {
    const zone = zoneOf(tz);
    const period = periodOf(from, to, zone);
    return withBooks(
      { zone, period },
      async (books) => {
        const wallets = chosenWallets(books, wallet);
        const rows = wallets.flatMap((each) =>
          sumsOf(books.movements(each, period), ({ kind }) =>
            moves.has(kind) ? kind : undefined,
          ).map(({ ccy, name, count, in: received, out, fee }) => ({
            ccy,
            kind: name,
            count,
            in: received,
            out,
            fee,
          })),
        );
        return { rows, failure: notTied(wallets, books, zone, context) };
      },
      context,
    );
  },
  view: list<StatementTotal, Totals>(totalList, ({ rows }) => rows),
  failure: ({ failure }) => failure,
});

const moves: ReadonlySet<string> = new Set(['receive', 'send', 'swap']);
