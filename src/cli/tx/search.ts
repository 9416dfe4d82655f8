// Searches the history for text in the payee, the note, the reference, the id, and the details of
// both sides. Services offer no text search, so svcpay reads the whole list of transactions.
import type { ListedTransaction } from '../../api/types.js';
import { plainLetters } from '../../formats/text.js';
import type { RecipientOf } from '../../terminal/views/transaction-view.js';
import type { Context } from '../context.js';
import { withNotes } from './local-facts.js';
import { recipientsOf } from './local-facts.js';

/**
 * Returns a function that tests whether a transaction contains every word, regardless of letter
 * case and accents.
 */
export function matcher(
  text: string,
): (txn: ListedTransaction, recipientOf: RecipientOf) => boolean {
  const words = plainLetters(text)
    .split(/\s+/)
    .filter((word) => word !== '');
  return (txn, recipientOf) => {
    const texts = textsOf(txn, recipientOf).map(plainLetters);
    return words.every((word) => texts.some((text) => hasWord(text, word)));
  };
}

/**
 * Returns whether a text contains a word, at the beginning of one of its own words. In an id,
 * invoice or address, a short word such as `ada` counts only at the beginning of the whole text.
 */
function hasWord(text: string, word: string): boolean {
  if (isCode(text)) return word.length < leastPart ? text.startsWith(word) : text.includes(word);
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!/[\p{L}\p{N}]/u.test(text.charAt(at - 1))) return true;
  return false;
}

/** Whether a text is an id, an invoice or an address. */
const isCode = (text: string): boolean => /^(?=.*\d)[\w-]{26,}$/.test(text);

const leastPart = 8;

const textsOf = (txn: ListedTransaction, recipientOf: RecipientOf): string[] =>
  [
    txn.txnId,
    txn.extRefId,
    txn.note,
    recipientOf(txn.txnId),
    ...[txn.sourceReq, txn.destReq].flatMap(({ reqDetails }) => Object.values(reqDetails ?? {})),
  ].filter((value) => typeof value === 'string');

/**
 * Yields the matching transactions, or without a text all transactions, in the order of the
 * service's list. Shows the progress on the live line.
 */
export async function* searched(
  pages: AsyncIterable<readonly ListedTransaction[]>,
  text: string | undefined,
  context: Context,
): AsyncGenerator<ListedTransaction> {
  const { live, terminal } = context;
  const isMatch = matcher(text ?? '');
  let [read, found] = [0, 0];
  const progress = (): string =>
    text === undefined
      ? `Reading: ${read} transactions`
      : `Searching: ${read} transactions, ${found} found`;
  if (terminal.canAnimate) live.start(progress);
  try {
    for await (const page of pages) {
      const rows = text === undefined ? page : await withNotes(page, context);
      const recipientOf = await recipientsOf(text === undefined ? [] : rows, context);
      const matches = rows.filter((txn) => isMatch(txn, recipientOf));
      read += rows.length;
      found += matches.length;
      live.update();
      yield* matches;
    }
  } finally {
    if (terminal.canAnimate) live.stop();
  }
}
