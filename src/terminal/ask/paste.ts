// A text that was pasted with line breaks in it, as the one line that a question takes.

const start = '\u001B[200~';
const end = '\u001B[201~';
/** Asks the terminal to mark what is pasted, and to stop it. */
export const markPastes = '\u001B[?2004h';
export const markNoPastes = '\u001B[?2004l';

/** So many characters at once were not typed. */
const least = 8;

/**
 * Reads what comes from the keyboard, piece by piece. Breaks within a paste become blanks: marked ones are told by the
 * terminal, others by a line break with more behind it. A break at the end is the Enter key.
 */
export function pasteReader(): (piece: string) => string {
  let isOpen = false;
  const read = (piece: string): string => {
    const at = piece.indexOf(isOpen ? end : start);
    if (at < 0) return isOpen ? flat(piece) : unmarked(piece);
    const before = piece.slice(0, at);
    const wasOpen = isOpen;
    isOpen = !isOpen;
    return (wasOpen ? flat(before).trimEnd() : before) + read(piece.slice(at + start.length));
  };
  return read;
}

/** Marked as pasted, or too much at once to be typed. */
export const isPaste = (piece: string): boolean => piece.includes(start) || (piece.length >= least && !piece.includes('\u001B'));

const flat = (text: string): string => text.replace(/[\r\n\t]+ */g, ' ');

function unmarked(piece: string): string {
  let at = piece.length;
  while (at > 0 && /[\r\n]/.test(piece.charAt(at - 1))) at -= 1;
  const [text, enter] = [piece.slice(0, at), piece.slice(at)];
  return text.length < least || !/[\r\n]/.test(text) || text.includes('\u001B') ? piece : flat(text) + enter;
}
