// Handles keys while a request waits for its payment: c copies the invoice or address, and Enter
// shows the QR code on the full screen, and Esc leaves.
import type { Key } from 'node:readline';
import { openFullScreen, takeKeys } from '../../terminal/full-screen.js';
import { qrPage } from '../../terminal/cards/invoice-card.js';
import type { Context } from '../context.js';

interface Shown {
  readonly noun: string;
  readonly code: string;
  readonly text: string;
}

/** Whether the live line accepts keys. */
export const takesKeys = ({ terminal, out }: Context): boolean =>
  terminal.canPrompt &&
  terminal.canAnimate &&
  out.forPeople &&
  terminal.stdin.isForeground?.() !== false;

/**
 * Handles the keys while a payment request waits for its payment. `hint` returns a text about the
 * keys, which svcpay shows below the live line, and `release` stops reading the keyboard.
 */
export function takeWaitKeys({ noun, code, text }: Shown, context: Context) {
  const { terminal, live, interrupt } = context;
  if (!takesKeys(context)) return { hint: () => '', release: () => undefined };
  const {
    stderr,
    stderrCanvas: { blocks },
    unicode,
  } = terminal;
  let isCopied = false;
  let close: (() => void) | undefined;
  const open = (): void => {
    const resume = live.aside();
    const screen = openFullScreen(terminal, () => qrPage(code, terminal));
    close = () => {
      close = undefined;
      screen.close();
      resume();
    };
  };
  const onKey = ({ name, ctrl, sequence }: Key): void => {
    const leaves = name === 'escape' || sequence === 'q';
    if (ctrl === true && name === 'c') interrupt();
    else if (close !== undefined) close();
    else if (leaves) interrupt();
    else if (name === 'return' && blocks) open();
    else if (sequence === 'c') {
      // OSC 52 copies text to the clipboard, and the terminal sends no response.
      stderr.write(`\u001B]52;c;${Buffer.from(text).toString('base64')}\u0007`);
      isCopied = true;
      live.update();
    }
  };
  const hide = (): (() => void) => {
    close?.();
    return live.aside();
  };
  const releaseKeys = takeKeys(terminal, { onKey, hide });
  const opening = `${unicode ? '⏎' : 'Enter'} QR`;
  return {
    hint: () =>
      [isCopied ? `${noun} copied` : 'c copy', ...(blocks ? [opening] : []), 'esc leave'].join(
        ' · ',
      ),
    release: (): void => {
      close?.();
      releaseKeys();
    },
  };
}
