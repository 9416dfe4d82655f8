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
 * `close`. Meanwhile, `onKey` receives every key.
 */
export function openFullScreen(
  terminal: Terminal,
  lines: () => readonly string[],
  onKey?: (key: Key) => void,
) {
  const { stdout, unicode } = terminal;
  let isShown = false;
  let release = (): void => undefined;
  const draw = (): void => {
    if (isShown) stdout.write(frame(unicode ? lines() : lines().map(asciiGlyphs)));
  };
  const show = (): void => {
    isShown = true;
    stdout.write(enter);
    stdout.on('resize', draw);
    draw();
  };
  const hide = (): (() => void) => {
    if (isShown) stdout.write(exit);
    isShown = false;
    stdout.off('resize', draw);
    return show;
  };
  const open = (): void => {
    show();
    if (onKey !== undefined) release = takeKeys(terminal, { onKey, hide });
  };
  const close = (): void => {
    release();
    hide();
  };
  open();
  return { open, draw, close };
}

/** Puts a text on the clipboard of a terminal that permits this (OSC 52). */
export const copying = (text: string): string =>
  `\u001B]52;c;${Buffer.from(text).toString('base64')}\u0007`;
