// A statement of the wallets: opening balance, movements with running balances, closing balance, and whether the sum
// matches the service's balance.
import { Failure } from '../../formats/failure.js';
import { dayWriter } from '../../formats/calendar.js';
import { namesOf } from '../../terminal/rows/list.js';
import {
  differenceText,
  explanationText,
  statementList,
} from '../../terminal/views/statement-view.js';
import type { Books } from '../../wallet/books/gather.js';
import { explanations, type Difference } from '../../wallet/books/statement.js';
import { beancountWriter } from '../../wallet/history/beancount.js';
import { hledgerWriter } from '../../wallet/history/hledger.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { choice, currency } from '../values.js';
import { knownHere } from './known-here.js';
import { isFiat } from '../../formats/amount.js';
import { entryText, ledgerText, ofxText } from './ledger-text.js';
import {
  chosenWallets,
  date,
  openingOption,
  openingsOf,
  periodOf,
  withBooks,
  zoneOf,
  zoneOption,
} from './open-books.js';
import { lookUpsOf, statementLines } from './statement-lines.js';

const ownFormats = ['hledger', 'beancount', 'ofx'] as const;

export const statement = defineCommand({
  prints: namesOf(undefined, statementList('')),
  formats: ownFormats,
  options: {
    from: date()
      .optional()
      .describe('first day, or a month: 2026-10-01, 2026-10 (default: the first transaction)'),
    to: date().optional().describe('last day, or a month (default: today)'),
    wallet: currency().optional().describe('only the wallet of this currency'),
    tz: zoneOption(),
    opening: openingOption(),
    format: choice(ownFormats, 'FORMAT')
      .optional()
      .describe(
        'same as -o: hledger and beancount with balance assertions, ofx for one fiat wallet',
      ),
  },
  examples: [
    [
      'svcpay statement --from 2026-10 --to 2026-10',
      'the wallets in October, each with its opening and closing balance',
    ],
    [
      'svcpay statement --wallet BTC -o csv > btc.csv',
      'all of history, for a spreadsheet; exit 6 if it does not tie',
    ],
    [
      'svcpay statement --from 2026-10 --to 2026-10 -o hledger > october.journal',
      'entries, and what each wallet must hold at the end',
    ],
    [
      'svcpay statement --wallet USD -o ofx > usd.ofx',
      'a fiat wallet, for programs that import bank statements',
    ],
  ],
  async run({ from, to, wallet, tz, opening, format }, context) {
    const zone = zoneOf(tz);
    const period = periodOf(from, to, zone);
    const before = openingsOf(opening);
    checkWallet(format, wallet);
    const writer =
      format === 'hledger'
        ? hledgerWriter(zone)
        : format === 'beancount'
          ? beancountWriter(zone)
          : undefined;
    const day = dayWriter(zone);
    const use = async (books: Books, now: number): Promise<void> => {
      const wanted = { wallets: chosenWallets(books, wallet), period, now, before, day };
      if (format === 'ofx')
        await context.out.pour(ofxText(await bankAccount(wallet ?? '', context), books, wanted));
      else if (writer !== undefined) await context.out.pour(ledgerText(writer, books, wanted));
      else
        await context.out.list(
          statementLines(books, wanted, lookUpsOf(context)),
          statementList(`In calendar days of ${zone}`),
        );
      const differences = books.differences.filter(({ ccy }) => wanted.wallets.includes(ccy));
      if (differences.length > 0) throw await notTied(differences, books, context);
    };
    await withBooks(
      { before, entry: writer && entryText(writer, day) },
      (books, service) => use(books, service.serviceNow()),
      context,
    );
  },
});

/** Throws Failure `usage` if format and wallet do not match. */
function checkWallet(
  format: (typeof ownFormats)[number] | undefined,
  wallet: string | undefined,
): void {
  if (format === 'ofx' && (wallet === undefined || !isFiat(wallet))) {
    throw new Failure(
      'usage',
      'OFX is a statement of one account in a fiat currency. Name its wallet, as in --wallet USD.',
    );
  }
  if (format !== undefined && format !== 'ofx' && wallet !== undefined) {
    throw new Failure(
      'usage',
      `An entry for ${format} can belong to two wallets. Leave --wallet out.`,
    );
  }
}

const bankAccount = async (ccy: string, { account, settings }: Context) => ({
  ccy,
  accountId: (await account()).id,
  bank: settings.maker,
});

/** A failure that names each difference; prints transactions that could explain it. */
export async function notTied(
  differences: readonly Difference[],
  books: Books,
  context: Context,
): Promise<Failure> {
  const hidden = await knownHere(books, context);
  const texts = differences.map((difference) => {
    const { ccy } = difference;
    const found = explanations(difference, [
      ...books.candidates(ccy),
      ...hidden.filter((each) => each.ccy === ccy),
    ]);
    for (const each of found) context.out.say(`  ${explanationText(each)}`);
    const exact = found
      .filter(({ isExact }) => isExact)
      .map(({ txnId, reason }) => `${txnId} (${reason})`);
    return (
      differenceText(difference) +
      (exact.length === 0 ? '' : `, which is exactly ${exact.join(', ')}`)
    );
  });
  return new Failure('books-differ', `The statement does not tie. ${texts.join('. ')}.`, {
    hint: 'svcpay reconcile compares each transaction; money that no transaction shows is given with --opening AMOUNT.',
  });
}
