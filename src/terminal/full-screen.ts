// Opens raw keyboard input and the alternate screen, and restores the terminal afterwards.
import { emitKeypressEvents, type Key } from 'node:readline';
import { asciiGlyphs } from './text.js';
import type { Terminal } from './terminal.js';

/**
 * Calls `onKey` for every key, including Ctrl-C, until the caller runs the returned function.
 * `hide` clears the screen before Ctrl-Z stops the process, and returns a function that redraws the
 * screen.
 */
export function takeKeys(
  { stdin: input }: Pick<Terminal, 'stdin'>,
  { onKey, hide }: { readonly onKey: (key: Key) => void; readonly hide: () => () => void },
): () => void {
  const stdin = input.open();
  let isTaking = false;
  const take = (): void => {
    isTaking = true;
    stdin.setRawMode?.(true);
    stdin.on('keypress', listener).resume();
  };
  const release = (): void => {
    isTaking = false;
    stdin.off('keypress', listener).pause();
    stdin.setRawMode?.(false);
  };
  let cancel: (() => void) | undefined;
  const listener = (_: unknown, key: Key): void => {
    if (key.ctrl !== true || key.name !== 'z' || input.suspend === undefined) return onKey(key);
    const show = hide();
    release();
    cancel = input.suspend(() => {
      take();
      show();
    });
  };
  emitKeypressEvents(stdin);
  take();
  return () => {
    cancel?.();
    if (isTaking) release();
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
 * change of the window size, and for each call of `draw`. `open` shows the lines again after
 * `close`. `hide` closes the screen, and returns `open`, as {@link takeKeys} needs it.
 */
export function openFullScreen({ stdout, unicode }: Terminal, lines: () => readonly string[]) {
  let isOpen = false;
  const draw = (): void => {
    if (isOpen) stdout.write(frame(unicode ? lines() : lines().map(asciiGlyphs)));
  };
  const open = (): void => {
    isOpen = true;
    stdout.write(enter);
    stdout.on('resize', draw);
    draw();
  };
  const close = (): void => {
    if (isOpen) stdout.write(exit);
    isOpen = false;
    stdout.off('resize', draw);
  };
  const hide = (): (() => void) => {
    close();
    return open;
  };
  open();
  return { open, draw, close, hide };
}
