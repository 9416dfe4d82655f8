// Finds the name that is most similar to a misspelt word. Every "Did you mean" uses this rule.
import { closestMatch } from 'leven';

/**
 * Returns the most similar name: with the same letters in another order, within two edits of the
 * word, or within one edit of a word of up to three letters. Letter case does not count as an edit.
 */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  const match =
    names.find((name) => letters(name) === letters(lower)) ??
    closestMatch(
      lower,
      names.map((name) => name.toLowerCase()),
      { maxDistance: word.length <= 3 ? 1 : 2 },
    );
  return names.find((name) => name.toLowerCase() === match?.toLowerCase());
}

const letters = (word: string): string => [...word.toLowerCase()].toSorted().join('');

/** Returns the question that a message appends to a misspelt word, or an empty string. */
export function didYouMean(word: string, names: readonly string[]): string {
  const meant = nearest(word, names);
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}
