// Asks questions as prompts that svcpay redraws in place, on a terminal that supports escape
// sequences.
import { input, search, select } from '@inquirer/prompts';
import { Failure, orFailure } from '../../formats/failure.js';
import { plainLetters } from '../../formats/text.js';
import { asciiGlyphs, sanitize, oneLine, truncate, widthOf, wrap } from '../text.js';
import type { Terminal, Input, InputStream, OutputStream } from '../terminal.js';
import {
  type Choice,
  type ChoiceQuestion,
  type Prompter,
  type Deadline,
  back,
  type Back,
  inputEnded,
  interrupted,
  isOver,
  notYesOrNo,
  readYesOrNo,
  tickMs,
  validFor,
} from './questions.js';
import { spinnerFrames } from '../live.js';
import {
  createPrompt,
  isEnterKey,
  makeTheme,
  useEffect,
  useKeypress,
  usePrefix,
  useState,
} from '@inquirer/core';
import { type Key, createInterface } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/**
 * Creates the prompts.
 * @param onKey called at each key of a question
 */
export function askByPrompts(terminal: Terminal, onKey: () => void): Prompter {
  const { stderrCanvas } = terminal;
  const run: Run = (prompt, behaviour = {}) => runPrompt(terminal, prompt, behaviour, onKey);
  return {
    async confirm(message, { note, deadline }) {
      const config = { ...asked(terminal, message, { isYesNo: true }), note, deadline };
      const behaviour = { canGoBack: false, isFresh: true };
      const answer = await run((context) => yesOrNo(config, context), behaviour);
      return answer === back ? false : answer;
    },

    text(
      { message, example, default: suggested = '', isSecret, over: above, validate },
      canGoBack,
    ) {
      const over = above?.(stderrCanvas);
      const hints = [...(example === undefined ? [] : [example]), ...(canGoBack ? [escBack] : [])];
      const hint = hints.length === 0 ? undefined : hints.join(terminal.unicode ? ' · ' : ', ');
      let isRefused = false;
      const config = {
        ...asked(terminal, message, { hint, over }),
        default: suggested,
        ...(isSecret === true && { transformer: (typed: string) => '*'.repeat(typed.length) }),
        validate(answer: string) {
          const judged = validate(answer);
          isRefused = judged !== true;
          return judged;
        },
      };
      const behaviour = { canGoBack, isRefused: () => isRefused, isWiped: over !== undefined };
      return run((context) => input(config, context), behaviour);
    },

    choose: (question) =>
      question.isSearch === true
        ? askSearch(terminal, question, run)
        : askSelect(terminal, question, run),
  };
}

type Run = <T>(
  prompt: (context: PromptContext) => Promise<T>,
  behaviour?: PromptBehaviour<T>,
) => Promise<T | Back>;

const asked = (terminal: Terminal, message: string, look: PromptLook) => ({
  message: sanitize(message),
  theme: promptTheme(terminal, look),
});

/**
 * Asks for one of the choices. After a change of the window size, svcpay rebuilds the options of
 * the prompt, with the cursor on the same choice.
 */
function askSelect<T>(
  terminal: Terminal,
  {
    message,
    choices: given,
    backName = 'Back',
    pageSize,
    shortcut,
    ...question
  }: ChoiceQuestion<T>,
  run: Run,
): Promise<T | Back> {
  const { stderrCanvas, unicode } = terminal;
  let [highlighted, isSuspended] = ['', false];
  const onHighlight = (text: string): void => {
    if (!isSuspended) highlighted = text;
  };
  const config = () => {
    isSuspended = false;
    const over = question.over?.(stderrCanvas);
    const choices = [...listed(terminal, given), backChoice(terminal, backName)];
    const chosen = choices.find(({ name }) => highlighted.endsWith(` ${name}`));
    const look = { escape: backName.toLowerCase(), over, onHighlight, shortcut };
    return {
      ...asked(terminal, message, look),
      choices,
      ...startingAt<T | Back>(chosen === undefined ? question.default : chosen.value),
      pageSize: pageSize ?? roomFor(terminal, over),
    };
  };
  return run<T | Back>((context) => select<T | Back>(config(), context), {
    isWiped: question.over !== undefined,
    above: () => (question.above?.(stderrCanvas) ?? []).map(unicode ? String : asciiGlyphs),
    onSuspend: () => void (isSuspended = true),
    shortcut,
  });
}

function askSearch<T>(
  terminal: Terminal,
  { typed, isTypedLast = false, pageSize, ...question }: ChoiceQuestion<T>,
  run: Run,
): Promise<T | Back> {
  const over = question.over?.(terminal.stderrCanvas);
  const choices = listed(terminal, question.choices);
  const always = listed(terminal, question.always ?? []);
  const hint = typed === undefined || isTypedLast ? 'type to search' : 'search, or type a new one';
  const isEmpty = question.startsEmpty === true && question.default === undefined;
  let hasSearched = false;
  const found = (text: string): ListedChoice<T>[] => {
    const own = typed && orFailure(() => typed(text.trim()));
    const isOwn = own !== undefined && !(own instanceof Failure);
    const ownChoices = isOwn ? listed(terminal, [own]) : [];
    const others = matching(choices, text);
    const matches = [
      ...(isTypedLast ? [...others, ...ownChoices] : [...ownChoices, ...others]),
      ...always,
    ];
    if (matches.length === 0 && own instanceof Failure) throw new Error(sanitize(own.message));
    return matches;
  };
  const config = {
    ...asked(terminal, question.message, { escape: 'back', hint, over }),
    // During a search, Esc goes back, because a last choice "Back" could look like a match.
    source(text = ''): ListedChoice<T | Back>[] {
      if (text !== '') {
        hasSearched = true;
        return found(text);
      }
      if (isEmpty) return [];
      const all = [...choices, ...always, backChoice(terminal, 'Back')];
      // The library preselects the first choice after a search, so the default moves to the top.
      const first = hasSearched ? all.filter(({ value }) => value === question.default) : [];
      return [...first, ...all.filter((each) => !first.includes(each))];
    },
    ...startingAt<T | Back>(question.default),
    pageSize: pageSize ?? roomFor(terminal, over),
  };
  return run<T | Back>((context) => search<T | Back>(config, context), {
    isWiped: over !== undefined,
  });
}

const startingAt = <T>(first: T | undefined): { default?: T } =>
  first === undefined ? {} : { default: first };

const escBack = 'esc back';

/** Returns the number of choices that fit on the screen below the question. */
const roomFor = ({ stderrCanvas: { rows } }: Terminal, over?: readonly string[]): number =>
  Math.min(Math.max(rows - (over === undefined ? 10 : over.length + 7), 4), 12);

const backChoice = ({ unicode }: Terminal, name: string): ListedChoice<Back> => ({
  value: back,
  name: `${unicode ? '←' : '<'} ${name}`,
  description: '',
});

interface ListedChoice<T> {
  readonly value: T;
  readonly name: string;
  readonly description: string;
}

function listed<T>({ stderrCanvas }: Terminal, choices: readonly Choice<T>[]): ListedChoice<T>[] {
  return choices.map(({ value, name, description }) => ({
    value,
    // The blanks within the name of a choice stay, because the blanks align the columns of a menu.
    name: truncate(sanitize(name.trimEnd().replace(/[\r\n\t]+/g, ' ')), stderrCanvas.columns - 3),
    description: oneLine(description ?? '', stderrCanvas.columns - 1),
  }));
}

function matching<T>(choices: readonly ListedChoice<T>[], typed: string): ListedChoice<T>[] {
  const words = plainLetters(typed).split(/\s+/);
  const having = (has: (text: string, word: string) => boolean): ListedChoice<T>[] =>
    choices.filter(({ name, description }) =>
      words.every((word) => has(plainLetters(`${name} ${description}`), word)),
    );
  const whole = having((text, word) => text.includes(word));
  return whole.length > 0 ? whole : having(hasInOrder);
}

/**
 * Whether a text contains every letter of a word in the same order, as `Vietcombank` contains
 * `vcb`.
 */
function hasInOrder(text: string, word: string): boolean {
  let at = -1;
  return [...word].every((letter) => (at = text.indexOf(letter, at + 1)) >= 0);
}

interface PromptLook {
  /** The effect of Esc in a list, such as `back`. */
  readonly escape?: string | undefined;
  /** The key of a shortcut, and what it shows. */
  readonly shortcut?: { readonly key: string; readonly name: string } | undefined;
  /** A dim text in parentheses after the question, until the person has answered. */
  readonly hint?: string | undefined;
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

function promptTheme(
  { unicode, stderrCanvas: { style, columns } }: Terminal,
  { escape, shortcut, hint, isYesNo = false, over = [], onHighlight }: PromptLook,
) {
  const { bold, cyan, dim } = style;
  const sign = (text: string): string => (unicode ? text : asciiGlyphs(text));
  const tip = [
    ...(unicode ? ['↑↓ move', '⏎ choose'] : ['arrows move', 'enter chooses']),
    ...(shortcut === undefined ? [] : [`${shortcut.key} ${lowerFirst(shortcut.name)}`]),
    ...(escape === undefined ? [] : [`esc ${escape}`]),
  ].join(' · ');
  const hasRoom = hint !== undefined || isYesNo;
  return {
    prefix: {
      idle: (over.length === 0 ? '' : ['', ...over.map(sign), '', ''].join('\n')) + cyan('?'),
      done: style.green(sign('✓')),
    },
    spinner: { interval: 80, frames: spinnerFrames(unicode).map((frame) => cyan(frame)) },
    icon: { cursor: sign('❯') },
    style: {
      answer: (text: string) => cyan(text),
      message(text: string, status: string) {
        const isOpen = status !== 'done';
        const hinted = hint !== undefined && isOpen ? ` ${dim(`(${hint})`)}` : '';
        const lines = wrap(bold(text) + hinted, columns - 3);
        // An answer starts on a new line if the answer does not fit next to the question.
        const isFull =
          hasRoom &&
          isOpen &&
          widthOf(lines.at(-1) ?? '') > columns - (isYesNo ? roomForYesNo : leastRoom);
        return lines.join('\n  ') + (isFull ? '\n ' : '');
      },
      error: (text: string) =>
        wrap(text, columns - 3)
          .map((line, i) => `${i === 0 ? style.red(sign('✗')) : ' '} ${line}`)
          .join('\n'),
      defaultAnswer: (text: string) => dim(`(${text})`),
      help: (text: string) => dim(text),
      highlight(text: string) {
        onHighlight?.(text);
        return cyan(text);
      },
      key: (text: string) => bold(text),
      disabled: (text: string) => dim(text),
      searchTerm: (text: string) => cyan(text),
      description: (text: string) => dim(text),
      keysHelpTip: () =>
        wrap(sign(tip), columns - 1)
          .map((line) => dim(line))
          .join('\n'),
    },
  };
}

interface Config {
  readonly message: string;
  /** A dim remark below the question. */
  readonly note: string | undefined;
  readonly deadline: Deadline | undefined;
  readonly theme: ReturnType<typeof promptTheme>;
}

/** A yes-or-no question, which lapses at its deadline. */
const yesOrNo = createPrompt<boolean | 'lapsed', Config>(
  ({ message, note, deadline, theme: look }, done) => {
    const theme = makeTheme(look);
    const [answer, setAnswer] = useState<boolean | 'lapsed' | undefined>(undefined);
    const [typed, setTyped] = useState('');
    const [error, setError] = useState<string | undefined>(undefined);
    const [remark, setRemark] = useState(deadline === undefined ? note : validFor(deadline));
    const prefix = usePrefix({
      status: answer === undefined || answer === 'lapsed' ? 'idle' : 'done',
      theme,
    });

    const end = (given: boolean | 'lapsed'): void => {
      setAnswer(given);
      done(given);
    };
    useEffect(() => {
      return deadline?.every(tickMs, () => {
        setRemark(validFor(deadline));
        if (isOver(deadline)) end('lapsed');
      });
    }, []);
    useKeypress((key, line) => {
      if (answer !== undefined) return;
      if (key.name === 'escape') return end(false);
      if (!isEnterKey(key)) {
        setTyped(line.line);
        return setError(undefined);
      }
      const given = readYesOrNo(typed);
      // A yes after the time limit does not count.
      if (given !== undefined) return end(isOver(deadline) ? 'lapsed' : given);
      line.write(typed);
      setError(notYesOrNo);
    });

    const { style } = theme;
    if (answer !== undefined) {
      const text = answer === 'lapsed' ? 'the quote expired' : answer ? 'Yes' : 'No';
      return `${prefix} ${style.message(message, 'done')} ${style.answer(text)}`;
    }
    const below = [
      ...(error === undefined ? [] : [style.error(error)]),
      ...(remark === undefined ? [] : [style.help(remark)]),
    ];
    const asked = style.message(message, 'idle');
    return [`${prefix} ${asked} ${style.defaultAnswer('y/N')} ${typed}`, below.join('\n')];
  },
);

/** The options for a prompt of the inquirer library. */
interface PromptContext {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
  clearPromptOnDone: boolean;
}

interface PromptBehaviour<T> {
  /** Whether Esc answers `back`, by default true. */
  readonly canGoBack?: boolean;
  /**
   * Returns whether svcpay has refused the answer that the person typed last. If svcpay has refused
   * the answer, a pasted text replaces the answer. Otherwise svcpay inserts the pasted text.
   */
  readonly isRefused?: () => boolean;
  /** Whether svcpay erases the question after the answer, because the answer is shown elsewhere. */
  readonly isWiped?: boolean;
  /** Whether svcpay discards keys that were typed before the question. */
  readonly isFresh?: boolean;
  /**
   * The lines above the question, which svcpay redraws together with the question after a change of
   * the window size. Before a redraw, the cursor is on the last line of the question.
   */
  readonly above?: () => readonly string[];
  /**
   * Called for Ctrl-Z, which the inquirer library would read as a letter that moves the cursor of a
   * list.
   */
  readonly onSuspend?: () => void;
  /** A key that answers the prompt. */
  readonly shortcut?: { readonly key: string; readonly value: T } | undefined;
}

/** The abort reason for a prompt that svcpay redraws after a change of the window size. */
const resized = Symbol('resized');

/**
 * Runs a prompt. Throws Failure `interrupted` for Ctrl-C, and `declined` for the end of input. With
 * `canGoBack`, Esc answers `back`.
 */
async function runPrompt<T>(
  terminal: Terminal,
  prompt: (context: PromptContext) => Promise<T>,
  behaviour: PromptBehaviour<T>,
  onAnyKey: () => void,
): Promise<T | Back> {
  terminal.stdin.echo?.(true);
  if (behaviour.isFresh === true) discardTyped(terminal.stdin);
  for (;;) {
    const answer = await runOnce(terminal, prompt, behaviour, onAnyKey);
    if (answer !== resized) return answer;
  }
}

async function runOnce<T>(
  { stdin, stderr }: Terminal,
  prompt: (context: PromptContext) => Promise<T>,
  {
    canGoBack = true,
    isRefused = () => false,
    isWiped = false,
    above,
    onSuspend,
    shortcut,
  }: PromptBehaviour<T>,
  onAnyKey: () => void,
): Promise<T | Back | typeof resized> {
  const aborter = new AbortController();
  const screen = openScreen(stderr);
  const keyboard = openKeyboard(stdin.open(), pastesIn(isRefused));
  const { input } = keyboard;
  const { output } = screen;
  const context = { input, output, signal: aborter.signal, clearPromptOnDone: isWiped };
  let lastKey: Key = {};
  const onKey = (_: unknown, key: Key): void => {
    lastKey = key;
    // A question that Ctrl-C interrupts stays visible.
    if (key.ctrl === true && key.name === 'c') context.clearPromptOnDone = false;
    if (key.ctrl === true && key.name === 'z') onSuspend?.();
    const isShortcut = shortcut !== undefined && key.sequence === shortcut.key;
    if (!isShortcut && (key.name !== 'escape' || !canGoBack)) return;
    // Erases a question that Esc or a shortcut ends without a choice from its list.
    context.clearPromptOnDone = true;
    aborter.abort(isShortcut ? shortcut : back);
  };
  // Readline pauses its input after Ctrl-D, and when the process continues after Ctrl-Z while a
  // question is open. Readline never resumes a paused input itself.
  const onPause = (): void => {
    if (lastKey.ctrl !== true) return;
    if (lastKey.name === 'd') aborter.abort();
    else if (lastKey.name === 'z') {
      input.resume();
      if (above === undefined) return;
      screen.abandon();
      drawAgain();
    }
  };
  const linesAbove = above?.() ?? [];
  const drawAgain = (): void => {
    aborter.abort(resized);
    stderr.write(
      above?.()
        .map((line) => `${line}\n`)
        .join('') ?? '',
    );
  };
  const onResize = (): void => {
    screen.erase(linesAbove);
    drawAgain();
  };
  input
    .on('keypress', onAnyKey)
    .on('keypress', onKey)
    .on('pause', onPause)
    .on('end', () => aborter.abort());
  if (above !== undefined) stderr.on('resize', onResize);
  stderr.write(markPastes);
  try {
    return await prompt(context);
  } catch (error) {
    const { reason } = aborter.signal;
    if (reason === back || reason === resized) return reason;
    if (shortcut !== undefined && reason === shortcut) return shortcut.value;
    throw failureOf(error, aborter.signal.aborted);
  } finally {
    stderr.off('resize', onResize);
    stderr.write(markNoPastes);
    keyboard.release();
  }
}

/**
 * Returns a function that converts a paste to one line. If svcpay has refused the current answer,
 * the pasted line replaces the answer.
 */
function pastesIn(isRefused: () => boolean): (piece: string) => string {
  const read = pasteReader();
  return (piece) => {
    const text = read(piece);
    return isRefused() && isPaste(piece) ? `${endOfLine}${killLine}${text}` : text;
  };
}

const endOfLine = '\u0005';
const killLine = '\u0015';

/**
 * Discards input that was typed before the question. Throws Failure `interrupted` if the discarded
 * input contains Ctrl-C.
 */
function discardTyped({ open, typed }: Input): void {
  const stdin = open();
  // svcpay can read an unfinished line only in raw mode.
  stdin.setRawMode?.(true);
  const read = stdin.readableLength > 0 ? String(stdin.read()) : '';
  const isInterrupted = `${read}${typed?.() ?? ''}`.includes('\u0003');
  stdin.setRawMode?.(false);
  if (isInterrupted) throw interrupted();
}

function failureOf(error: unknown, hasEnded: boolean): unknown {
  if (hasEnded) return inputEnded();
  const isExit = error instanceof Error && error.name === 'ExitPromptError';
  return isExit ? interrupted() : error;
}

const pasteStart = '\u001B[200~';
const pasteEnd = '\u001B[201~';
/** Escape sequences that switch the bracketed paste mode of the terminal on and off. */
const markPastes = '\u001B[?2004h';
const markNoPastes = '\u001B[?2004l';

/** The smallest number of characters in one piece of input that counts as a paste. */
const leastPasted = 8;

/**
 * Returns a function that reads keyboard input piece by piece, and replaces line breaks within a
 * paste with blanks. A piece of input is a paste if the terminal marks it, or if it is too long for
 * typed keys. A line break at the end of an unmarked piece counts as the Enter key.
 */
export function pasteReader(): (piece: string) => string {
  let isOpen = false;
  const read = (piece: string): string => {
    const at = piece.indexOf(isOpen ? pasteEnd : pasteStart);
    if (at < 0) return isOpen ? onOneLine(piece) : unmarked(piece);
    const before = piece.slice(0, at);
    const wasOpen = isOpen;
    isOpen = !isOpen;
    return (
      (wasOpen ? onOneLine(before).trimEnd() : before) + read(piece.slice(at + pasteStart.length))
    );
  };
  return read;
}

/** Matches arrows, deletions and other keys that do not occur in text. */
const controlKeys = /[^\P{Cc}\r\n\t]/u;

/** Whether a piece of input is a paste: marked by the terminal, or too long for typed keys. */
const isPaste = (piece: string): boolean =>
  piece.includes(pasteStart) || (piece.length >= leastPasted && !controlKeys.test(piece));

const onOneLine = (text: string): string => text.replace(/[\r\n\t]+ */g, ' ');

function unmarked(piece: string): string {
  let at = piece.length;
  while (at > 0 && /[\r\n]/.test(piece.charAt(at - 1))) at -= 1;
  const [text, enter] = [piece.slice(0, at), piece.slice(at)];
  return text.length < leastPasted || controlKeys.test(text) ? piece : onOneLine(text) + enter;
}

/**
 * The time after which an ESC byte counts as the Esc key instead of the start of an arrow key.
 * Readline's default timeout of half a second would noticeably delay the Esc key.
 */
const escapeMs = 60;

interface Keyboard {
  readonly input: PassThrough;
  /**
   * Stops reading the keyboard. svcpay keeps the keys that were typed after the answer for the next
   * question.
   */
  readonly release: () => void;
}

/**
 * Reads the keyboard for one prompt.
 * @param change converts each piece of input before readline splits it into keys
 */
function openKeyboard(stdin: InputStream, change: (piece: string) => string): Keyboard {
  const input = Object.assign(new PassThrough(), {
    // If `isTTY` is true, the prompt library discards the keys that arrive in the first event-loop
    // turn of a prompt, because the person may have typed these keys before the prompt appeared.
    isTTY: true,
    setRawMode: (isRaw: boolean) => stdin.setRawMode?.(isRaw),
  });
  // Opens and closes Readline first, because Readline applies the escape timeout only at the first
  // use of a stream.
  createInterface({ input, terminal: true, escapeCodeTimeout: escapeMs }).close();
  const decoder = new StringDecoder('utf8');
  let waiting = '';
  let next: NodeJS.Immediate | undefined;
  // Delivers Enter in a later event-loop turn than the text before Enter, because a search must
  // filter its list before Enter chooses from the list.
  const deliver = (): void => {
    const [piece = ''] = /^[^\r]+|^\r/.exec(waiting) ?? [];
    waiting = waiting.slice(piece.length);
    if (piece !== '') input.write(piece);
    next = waiting === '' ? undefined : setImmediate(deliver);
  };
  const onData = (data: Buffer | string): void => {
    waiting += change(typeof data === 'string' ? data : decoder.write(data));
    if (next === undefined) deliver();
  };
  const onEnd = (): void => void input.end();
  stdin.on('data', onData).on('end', onEnd).on('close', onEnd).resume();
  return {
    input,
    release: () => {
      stdin.off('data', onData).off('end', onEnd).off('close', onEnd).pause();
      clearImmediate(next);
      if (waiting !== '') stdin.unshift(Buffer.from(waiting));
    },
  };
}

/**
 * The escape sequence with which the prompt library ends its erasing, just before the library
 * redraws a prompt.
 */
const erased = '\u001B[2K\u001B[G';

export interface Screen {
  readonly output: Writable;
  /**
   * Erases the prompt and the lines above the prompt, including all rows into which the window
   * wraps these lines. The cursor must be on the last line of the prompt. After `erase`, the screen
   * ignores what the prompt writes.
   */
  readonly erase: (above: readonly string[]) => void;
  /** Keeps the current content on the screen, and ignores what the prompt writes later. */
  readonly abandon: () => void;
}

export function openScreen(stream: OutputStream): Screen {
  let shown = '';
  let isOpen = true;
  const output = new Writable({
    decodeStrings: false,
    write(text: string | Buffer, _encoding, done) {
      const drawn = String(text).split(erased).at(-1) ?? '';
      // A write without visible text only moves the cursor.
      if (widthOf(drawn) > 0) shown = drawn;
      if (isOpen) stream.write(text);
      done();
    },
  });
  const size = { isTTY: { value: true }, columns: { get: () => stream.columns } };
  return {
    output: Object.defineProperties(output, size),
    abandon: () => void (isOpen = false),
    erase: (above) => {
      isOpen = false;
      const rowsOf = (line: string): number =>
        Math.max(Math.ceil(widthOf(line) / (stream.columns ?? Infinity)), 1);
      const rows = [...above, ...shown.split('\n')].reduce((sum, line) => sum + rowsOf(line), -1);
      // Writes a blank before erasing the lines, because tmux keeps erased lines in its history if
      // the first cell of the window is erased too.
      stream.write(`${rows > 0 ? `\u001B[${rows}A` : ''}\r \u001B[J\r\u001B[K`);
    },
  };
}
