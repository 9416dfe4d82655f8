// Defines the style of prompts with the colours of stderr, because the prompt library would use the
// colours of stdout.
import type { Terminal } from '../terminal.js';
import { asciiGlyphs } from '../sanitize.js';
import { widthOf, wrap } from '../layout.js';

const dots = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const dashes = ['-', '\\', '|', '/'];

/** Returns the frames that every spinner uses. */
export const spinnerFrames = (unicode: boolean): string[] => (unicode ? [...dots] : [...dashes]);

interface PromptLook {
  /** The effect of Esc in a list, such as `back`. */
  readonly escape?: string | undefined;
  /** The key of a shortcut, and what it shows. */
  readonly shortcut?: { readonly key: string; readonly name: string } | undefined;
  /** A dim text in parentheses after the question, until the person has answered. */
  readonly hint?: string | undefined;
  /** A dim remark after `(y/N)`. */
  readonly note?: string | undefined;
  /** Whether the answer follows the question on the same line. */
  readonly isYesNo?: boolean;
  readonly over?: readonly string[] | undefined;
  /** Called with the text of the choice under the cursor. */
  readonly onHighlight?: (text: string) => void;
}

/** The minimum width of an answer that stays on the line of its question. */
const leastRoom = 14;
/** The width of ` (y/N) ` and the typed letter. */
const roomForYesNo = 8;

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

export function promptTheme(
  { unicode, stderrCanvas: { style, columns } }: Terminal,
  { escape, shortcut, hint, note, isYesNo = false, over = [], onHighlight }: PromptLook,
) {
  const sign = (text: string): string => (unicode ? text : asciiGlyphs(text));
  const keys = [
    ...(unicode ? ['↑↓ move', '⏎ choose'] : ['arrows move', 'enter chooses']),
    ...(shortcut === undefined ? [] : [`${shortcut.key} ${lowerFirst(shortcut.name)}`]),
  ];
  return {
    prefix: {
      idle: (over.length === 0 ? '' : ['', ...over.map(sign), '', ''].join('\n')) + style.cyan('?'),
      done: style.green(sign('✓')),
    },
    spinner: { interval: 80, frames: spinnerFrames(unicode).map((frame) => style.cyan(frame)) },
    icon: { cursor: sign('❯') },
    style: {
      answer: (text: string) => style.cyan(text),
      message: (text: string, status: string) => {
        const hinted =
          hint === undefined || status === 'done'
            ? style.bold(text)
            : `${style.bold(text)} ${style.dim(`(${hint})`)}`;
        const lines = wrap(hinted, columns - 3);
        // An answer starts on a new line if the answer does not fit next to the question.
        const isFull =
          (hint !== undefined || isYesNo) &&
          status !== 'done' &&
          widthOf(lines.at(-1) ?? '') > columns - (isYesNo ? roomForYesNo : leastRoom);
        return lines.join('\n  ') + (isFull ? '\n ' : '');
      },
      error: (text: string) =>
        wrap(text, columns - 3)
          .map((line, i) => `${i === 0 ? style.red(sign('✗')) : ' '} ${line}`)
          .join('\n'),
      defaultAnswer: (text: string) => style.dim(note ? `(${text})  ${note}` : `(${text})`),
      help: (text: string) => style.dim(text),
      highlight: (text: string) => {
        onHighlight?.(text);
        return style.cyan(text);
      },
      key: (text: string) => style.bold(text),
      disabled: (text: string) => style.dim(text),
      searchTerm: (text: string) => style.cyan(text),
      description: (text: string) => style.dim(text),
      keysHelpTip: () => {
        const tip = [...keys, ...(escape === undefined ? [] : [`esc ${escape}`])].join(' · ');
        return wrap(sign(tip), columns - 1)
          .map((line) => style.dim(line))
          .join('\n');
      },
    },
  };
}
