// Finds the name that is most similar to a misspelt word.
import { closestMatch } from 'leven';

/**
 * Returns the most similar name within two edits of the word, or within one edit of a word of up to
 * three letters.
 */
export const nearest = (word: string, names: readonly string[]): string | undefined =>
  closestMatch(word.toLowerCase(), names, { maxDistance: word.length <= 3 ? 1 : 2 });
