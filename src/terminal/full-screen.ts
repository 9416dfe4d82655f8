// Opens raw keyboard input and the alternate screen, and restores the terminal afterwards.
import { emitKeypressEvents, type Key } from 'node:readline';
import { asciiGlyphs } from './glyphs.js';
import type { Terminal } from './terminal.js';

/** Calls `onKey` for every key, including Ctrl-C, until the caller runs the returned function. */
export function takeKeys(
  { stdin: input }: Pick<Terminal, 'stdin'>,
  onKey: (key: Key) => void,
): () => void {
  const stdin = input.open();
  const listener = (_: unknown, key: Key): void => onKey(key);
  emitKeypressEvents(stdin);
  stdin.setRawMode?.(true);
  stdin.on('keypress', listener).resume();
  return () => {
    stdin.off('keypress', listener).pause();
    stdin.setRawMode?.(false);
  };
}

const enter = '\u001B[?1049h\u001B[?25l';
const exit = '\u001B[?25h\u001B[?1049l';

/**
 * Encloses lines in a synchronized update, so that a terminal that supports synchronized updates
 * never shows a half-drawn screen.
 */
const frame = (lines: readonly string[]): string => {
  const text = lines.map((line) => `${line}\u001B[K`).join('\r\n');
  return `\u001B[?2026h\u001B[H${text}\u001B[J\u001B[?2026l`;
};

/**
 * Shows lines on the alternate screen until the caller runs `close`. Redraws the lines after a
 * change of the window size, and for each call of `draw`.
 */
export function openFullScreen({ stdout, unicode }: Terminal, lines: () => readonly string[]) {
  const draw = (): void => void stdout.write(frame(unicode ? lines() : lines().map(asciiGlyphs)));
  stdout.write(enter);
  stdout.on('resize', draw);
  draw();
  return {
    draw,
    close: (): void => {
      stdout.off('resize', draw);
      stdout.write(exit);
    },
  };
}
