// Finds the name that is most similar to a misspelt word.
import { closestMatch } from 'leven';

/**
 * The most similar name within two edits of the word. A word of up to three letters allows only one
 * edit.
 */
export const nearest = (word: string, names: readonly string[]): string | undefined =>
  closestMatch(word.toLowerCase(), names, { maxDistance: word.length <= 3 ? 1 : 2 });
