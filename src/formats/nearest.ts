// The name that is most similar to a misspelt word.
import { closestMatch } from 'leven';

/** The name within one or two edits of the word. */
export const nearest = (word: string, names: readonly string[]): string | undefined =>
  closestMatch(word.toLowerCase(), names, { maxDistance: word.length <= 3 ? 1 : 2 });
