// References, the caller's names for payments. svcpay compares them exactly, because a reference
// identifies one payment permanently.
import { Failure } from './failure.js';

const longest = 200;

/**
 * Whether a reference has characters that replace bytes outside UTF-8, or that no database stores.
 * With such characters two references would look equal.
 */
const isUnreadable = (text: string): boolean => /[\0\uFFFD\p{Cs}]/u.test(text);

/**
 * Throws Failure `usage` for a text that cannot be a reference. Blanks around the text belong to
 * the reference.
 */
export function parseReference(given: string): string {
  const marksAttempt = /~\d{1,15}$/.test(given);
  if (given.trim() !== '' && given.length <= longest && !marksAttempt && !isUnreadable(given))
    return given;
  throw new Failure('usage', `"${given}" cannot be a reference.`, {
    hint: isUnreadable(given)
      ? 'Write it in UTF-8.'
      : `Use 1 to ${longest} characters, not ending like ~2: that marks a further attempt.`,
  });
}
