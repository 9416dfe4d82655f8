// Checks references, which are the caller's names for payments. svcpay compares references exactly,
// because a reference permanently identifies one payment.
import { invalid } from './failure.js';

const longest = 200;

/**
 * Whether a reference contains characters that could make two different references look identical
 * (replacements of invalid UTF-8), that databases cannot store, or that break lines.
 */
const isUnreadable = (text: string): boolean => /[\uFFFD\p{Cc}\p{Cs}]/u.test(text);

/**
 * Throws Failure `usage` for a text that cannot be a reference. Leading and trailing blanks are
 * part of a reference.
 */
export function parseReference(given: string): string {
  const marksAttempt = /~\d{1,15}$/.test(given);
  if (given.trim() !== '' && given.length <= longest && !marksAttempt && !isUnreadable(given))
    return given;
  throw invalid(`${JSON.stringify(given)} cannot be a reference.`, {
    hint: isUnreadable(given)
      ? 'Write the reference in UTF-8, without line breaks and other control characters.'
      : `Use 1 to ${longest} characters, without an ending such as ~2, which marks a further ` +
        'attempt.',
  });
}
