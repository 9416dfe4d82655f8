// Finds the name that is most similar to a misspelt word.
import { closestMatch } from 'leven';

/**
 * Returns the most similar name within two edits of the word, or within one edit of a word of up to
 * three letters. Letter case does not count as an edit.
 */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const match = closestMatch(
    word.toLowerCase(),
    names.map((name) => name.toLowerCase()),
    { maxDistance: word.length <= 3 ? 1 : 2 },
  );
  return names.find((name) => name.toLowerCase() === match);
}

/** Returns the question that a message appends to a misspelt word, or an empty string. */
export function didYouMean(word: string, names: readonly string[]): string {
  const meant = nearest(word, names);
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}
