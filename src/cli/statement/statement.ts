// Prints a statement of the wallets: opening balance, movements with running balances, closing
// balance, and whether the movements explain the service's balance.
import { Failure } from '../../formats/failure.js';
import { always, dayWriter, spanOf, type CalendarDate, type Span } from '../../formats/calendar.js';
import { besideTable, namesOf } from '../../terminal/rows/list.js';
import {
  differenceText,
  explanationText,
  openingLines,
  periodText,
  statementList,
  tiedText,
} from '../../terminal/views/statement-view.js';
import type { Books } from '../../wallet/books/gather.js';
import { movementOf, openingEntry } from '../../wallet/books/entries.js';
import type { Movement } from '../../wallet/books/movement.js';
import { explanations, type Difference } from '../../wallet/books/statement.js';
import { beancountWriter } from '../../wallet/history/beancount.js';
import { hledgerWriter } from '../../wallet/history/hledger.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { amount, choice, currency } from '../values.js';
import { fixed, isFiat, type Money } from '../../formats/amount.js';
import { ledgerText, ledgerTexts, ofxText } from './ledger-text.js';
import { chosenWallets, date, periodOf, withBooks, zoneOf, zoneOption } from './open-books.js';
import { lookUpsOf, statementLines, type StatementScope } from './lines.js';
import { whereaboutsOf } from '../login/whereabouts.js';

const ownFormats = ['hledger', 'beancount', 'ofx'] as const;

export const statement = defineCommand({
  prints: namesOf(undefined, statementList(undefined)),
  formats: ownFormats,
  options: {
    from: date()
      .optional()
      .describe('first day, or a month: 2026-10-01, 2026-10 (default: the first transaction)'),
    to: date().optional().describe('last day, or a month (default: today)'),
    wallet: currency().optional().describe('only the wallet in this currency'),
    tz: zoneOption(),
    opening: amount()
      .repeated()
      .describe('balance of a wallet before --on, for this statement only; may be repeated'),
    on: date().optional().describe('the day of the --opening balance'),
    format: choice(ownFormats, 'FORMAT')
      .optional()
      .describe(
        'same as -o; hledger and beancount entries assert the balances, ' +
          'ofx exports one fiat wallet',
      ),
  },
  examples: [
    [
      'svcpay statement --from 2026-10 --to 2026-10',
      'shows the wallets in October, each with its opening and closing balance',
    ],
    [
      'svcpay statement --wallet BTC -o csv > btc.csv',
      'writes the statement for a spreadsheet; exits with 10 if the entries do not add up to ' +
        'the balance',
    ],
    [
      'svcpay statement --from 2026-10 --to 2026-10 -o hledger > october.journal',
      'writes ledger entries that assert the closing balances',
    ],
    [
      'svcpay statement --wallet USD -o ofx > usd.ofx',
      'writes a fiat wallet, for programs that import bank statements',
    ],
  ],
  async run({ from, to, wallet, tz, opening, on, format }, context) {
    const zone = zoneOf(tz);
    const period = periodOf(from, to, zone);
    const openings = openingsOf(opening, on, zone);
    checkWallet(format, wallet);
    const writer =
      format === 'hledger'
        ? hledgerWriter(zone)
        : format === 'beancount'
          ? beancountWriter(zone)
          : undefined;
    const day = dayWriter(zone);
    const use = async (books: Books): Promise<void> => {
      const wanted = { wallets: chosenWallets(books, wallet), period, now: books.at, day };
      if (format === 'ofx')
        await context.out.pour(ofxText(await bankAccount(wallet ?? '', context), books, wanted));
      else if (writer !== undefined) await context.out.pour(ledgerText(writer, books, wanted));
      else
        await context.out.list(
          statementLines(books, wanted, lookUpsOf(context)),
          statementList(
            await headingOf(wanted.wallets, period, zone, context),
            wallet === undefined,
          ),
        );
      const failure = notTied(wanted.wallets, books, zone, context);
      if (failure !== undefined) throw failure;
      showTied(wanted, books, context);
    };
    await withBooks(
      { zone, period, openings, ...(writer && ledgerTexts(writer, day, lookUpsOf(context).rates)) },
      use,
      context,
    );
  },
});

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
 * Reads the opening balances that apply to one statement. Throws Failure `usage` if opening
 * balances are given without a day.
 */
function openingsOf(
  amounts: readonly Money[],
  on: CalendarDate | undefined,
  zone: string,
): Movement[] {
  if (amounts.length === 0) return [];
  if (on === undefined)
    throw new Failure('usage', '--opening requires a day, e.g. --on 2026-10-01.', {
      hint: 'To record the opening balance permanently',
      next: { do: 'run', command: 'statement open' },
    });
  const at = spanOf(on, zone).first;
  return amounts.map(({ ccy, value }, i) =>
    movementOf({ ...openingEntry(ccy, value, at), id: `opening-${i + 1}` }, zone),
  );
}

/** Throws Failure `usage` if the output format does not support the chosen wallet. */
function checkWallet(
  format: (typeof ownFormats)[number] | undefined,
  wallet: string | undefined,
): void {
  if (format === 'ofx' && (wallet === undefined || !isFiat(wallet))) {
    throw new Failure(
      'usage',
      '-o ofx exports one fiat wallet. Name the wallet, e.g. --wallet USD.',
    );
  }
  if (format !== undefined && format !== 'ofx' && wallet !== undefined) {
    throw new Failure(
      'usage',
      `-o ${format} exports all wallets, because an entry can belong to two wallets. ` +
        'Remove --wallet.',
    );
  }
}

const bankAccount = async (ccy: string, { account, settings }: Context) => ({
  ccy,
  accountId: (await account()).id,
  bank: settings.maker,
});

/**
 * Returns undefined if the transactions explain the balances. Otherwise, prints the transactions
 * that could explain an unexplained amount, and returns a failure whose hint contains a command
 * that records such an amount.
 */
export function notTied(
  wallets: readonly string[],
  books: Books,
  zone: string,
  { out, terminal }: Pick<Context, 'out' | 'terminal'>,
): Failure | undefined {
  const openings = books.openings.filter(({ entry }) => wallets.includes(entry.ccy));
  const differences = books.differences.filter(({ ccy }) => wallets.includes(ccy));
  for (const line of openingLines(openings, terminal.stderrCanvas)) out.say(line);
  const texts = differences.map((difference) => differenceWithReasons(difference, books, out));
  const [first] = differences;
  if (first !== undefined)
    return new Failure(
      'books-differ',
      `The statement does not add up. ${texts.join('. ')}. ` +
        'svcpay reconcile compares each transaction.',
      { hint: adjustAdvice(first, dayWriter(zone)(first.lastTied ?? books.at)) },
    );
  if (openings.length === 0) return undefined;
  const names = openings.map(({ entry }) => entry.ccy).join(', ');
  return new Failure('books-differ', `No transaction explains the opening balance of ${names}.`, {
    hint: 'Record it once',
    next: { do: 'run', command: 'statement open' },
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

function adjustAdvice({ ccy, difference }: Difference, day: string): string {
  const amount = `${fixed(difference.abs())}${ccy.toLowerCase()}`;
  return difference.gt(0)
    ? 'If it came to your permanent address: ' +
        `svcpay statement adjust ${amount} --on ${day} --note deposit`
    : 'If the money left without a listed transaction: ' +
        `svcpay statement adjust --on ${day} --note withdrawal -- -${amount}`;
}
