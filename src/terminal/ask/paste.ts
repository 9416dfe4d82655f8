// Joins pasted text with line breaks to one line for a question.

const start = '\u001B[200~';
const end = '\u001B[201~';
/** Starts and stops the marking of pasted text by the terminal. */
export const markPastes = '\u001B[?2004h';
export const markNoPastes = '\u001B[?2004l';

/** This many characters at once are pasted, not typed. */
const least = 8;

/**
 * Processes keyboard input in chunks. Line breaks within a paste become blanks: it is marked by the
 * terminal, or detected by a line break followed by more text. A final line break is the Enter key.
 */
export function pasteReader(): (piece: string) => string {
  let isOpen = false;
  const read = (piece: string): string => {
    const at = piece.indexOf(isOpen ? end : start);
    if (at < 0) return isOpen ? onOneLine(piece) : unmarked(piece);
    const before = piece.slice(0, at);
    const wasOpen = isOpen;
    isOpen = !isOpen;
    return (wasOpen ? onOneLine(before).trimEnd() : before) + read(piece.slice(at + start.length));
  };
  return read;
}

/** Arrows, deletions and other keys that no text has. */
const keys = /[^\P{Cc}\r\n\t]/u;

/** Marked as pasted, or too much at once to be typed. */
export const isPaste = (piece: string): boolean =>
  piece.includes(start) || (piece.length >= least && !keys.test(piece));

const onOneLine = (text: string): string => text.replace(/[\r\n\t]+ */g, ' ');

function unmarked(piece: string): string {
  let at = piece.length;
  while (at > 0 && /[\r\n]/.test(piece.charAt(at - 1))) at -= 1;
  const [text, enter] = [piece.slice(0, at), piece.slice(at)];
  return text.length < least || keys.test(text) ? piece : onOneLine(text) + enter;
}
