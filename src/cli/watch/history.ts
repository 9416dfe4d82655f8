// Shows the history on one screen: a list, and the receipt of the chosen transaction until a key.
import type { Key } from 'node:readline';
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { messageOf } from '../../formats/text.js';
import type { Instruction } from '../../wallet/instruction/instruction.js';
import { inWords } from '../../wallet/instruction/words.js';
import { repeatable } from '../../wallet/history/earlier-payments.js';
import { back, type Back } from '../../terminal/ask/ask.js';
import { failureLines } from '../../terminal/failure-view.js';
import { openFullScreen, takeKeys } from '../../terminal/full-screen.js';
import { truncate, wrap } from '../../terminal/layout.js';
import type { Canvas } from '../../terminal/terminal.js';
import { lineKind } from '../../terminal/views/transaction-view.js';
import type { Context } from '../context.js';
import { createdText, pick, type Picked, type Place } from '../tx/pick.js';

/**
 * Shows the list, and the receipts that the person opens. Resolves with the exit code of the last
 * payment when the person leaves the list.
 * @param first the transaction whose story the screen shows instead of the list
 */
export async function showHistory(context: Context, first?: Picked): Promise<number> {
  const { signal, terminal } = context;
  const show = terminal.isDumb || !terminal.stdoutIsTty ? printReceipt : showReceipts;
  let code = 0;
  let opened = first;
  for (let place: Place = { page: 1 }; ;) {
    const picked = opened ?? (await pick('History', [], place, context));
    if (picked === back || signal.aborted) return code;
    const left = await show(picked, opened === undefined ? 'receipt' : 'story', context);
    place = left.searches === true ? await askSearch(left, context) : left;
    if (left.again !== undefined) code = await repeat(left.again, context);
    if (signal.aborted || (opened !== undefined && left.searches !== true)) return code;
    opened = undefined;
  }
}

async function askSearch(place: Place, { ask }: Context): Promise<Place> {
  const text = await ask.steps.text({ message: 'Search all transactions', flag: '--search TEXT' });
  return text === back ? place : { page: 1, search: text };
}

/** The place to which a receipt returns, after a payment again or a question for a text. */
type Left = Place & { readonly again?: Instruction | undefined; readonly searches?: boolean };

interface Opened {
  readonly lines: (canvas: Canvas) => readonly string[];
  readonly again: Instruction | undefined;
}

/** What the screen shows of a transaction. */
type Part = 'receipt' | 'details' | 'story';

async function open(txnId: string, part: Part, context: Context): Promise<Opened> {
  if (part === 'story') {
    const { drawnStory, txExplain } = await import('../tx/explain.js');
    return {
      lines: drawnStory(await txExplain.run({ id: txnId }, context), context),
      again: undefined,
    };
  }
  const { txGet } = await import('../tx/get.js');
  const found = await txGet.run(
    { id: txnId, qrFile: undefined, format: undefined, verbose: part === 'details' },
    context,
  );
  if (typeof found === 'string') throw new Error('A receipt without a format is not a text.');
  return { lines: found.screen, again: await askedFor(found.txn, context) };
}

/** The receipt on the screen: its row, and what svcpay has read of it. */
interface Shown {
  readonly index: number;
  readonly part: Part;
  /** The number of times that the person has asked for more lines of a long receipt. */
  readonly turns: number;
  readonly opened: Opened | undefined;
  readonly remark: string;
}

/** Shows receipts until a key returns to the list. Arrows show the receipts of the other rows. */
async function showReceipts(picked: Picked, first: Part, context: Context): Promise<Left> {
  const { terminal, signal } = context;
  const { rows } = picked;
  let shown: Shown = {
    index: rows.findIndex(({ txnId }) => txnId === picked.txnId),
    part: first,
    turns: 0,
    opened: undefined,
    remark: 'Reading …',
  };
  const idAt = (index: number): string => rows[index]?.txnId ?? picked.txnId;
  const screen = openFullScreen(terminal, () => linesOf(shown, picked, terminal));
  const change = (changes: Partial<Shown>): void => {
    shown = { ...shown, remark: '', ...changes };
    screen.draw();
  };
  const read = async (index: number, part: Part): Promise<void> => {
    change({ index, part, turns: 0, opened: undefined, remark: 'Reading …' });
    const opened = await open(idAt(index), part, context).catch(messageOf);
    if (index !== shown.index || part !== shown.part) return;
    change(typeof opened === 'string' ? { remark: opened } : { opened });
  };
  let release = (): void => undefined;
  try {
    return await new Promise<Left>((resolve) => {
      const leave = (to: Partial<Left>): void =>
        resolve({ page: picked.page, search: picked.search, txnId: idAt(shown.index), ...to });
      signal.addEventListener('abort', () => leave({}), { once: true });
      const onKey = (key: Key): void => {
        const { index, part, opened } = shown;
        const turn = (to: Part): void => void read(index, part === to ? 'receipt' : to);
        switch (key.sequence) {
          case 'a':
            return opened?.again && leave({ again: opened.again });
          case 'd':
            return turn('details');
          case 's':
            return turn('story');
          case 'c':
            terminal.stdout.write(copying(idAt(index)));
            return change({ remark: `Copied ${idAt(index)}` });
          case ' ':
            return change({ turns: shown.turns + 1 });
          case '/':
            return leave({ searches: true });
        }
        if (key.name === 'up' && index > 0) return void read(index - 1, part);
        if (key.name === 'down' && index < rows.length - 1) return void read(index + 1, part);
        if (key.ctrl === true || ['escape', 'q', 'return'].includes(key.name ?? '')) leave({});
      };
      release = takeKeys(terminal, {
        onKey,
        hide: () => {
          screen.close();
          return screen.open;
        },
      });
      void read(shown.index, first);
    });
  } finally {
    release();
    screen.close();
  }
}

/** Puts a text on the clipboard of a terminal that permits this (OSC 52). */
const copying = (text: string): string =>
  `\u001B]52;c;${Buffer.from(text).toString('base64')}\u0007`;

function linesOf(shown: Shown, { rows, newer, total }: Picked, canvas: Canvas): string[] {
  const { index, turns, opened } = shown;
  const { columns, style } = canvas;
  const txn = rows[index];
  const number = newer + rows.length - index;
  const head = ['History', `${number}${total === null ? '' : ` of ${total}`}`];
  const title = txn === undefined ? head : [...head, lineKind(txn), createdText(txn).slice(0, 16)];
  const lines = opened?.lines(canvas) ?? [];
  const roomAbove = (below: readonly string[]): number =>
    Math.max(canvas.rows - below.length - 2, 1);
  const whole = belowOf(shown, false, canvas);
  const isWhole = lines.length <= roomAbove(whole);
  const below = isWhole ? whole : belowOf(shown, true, canvas);
  const room = roomAbove(below);
  const start = (turns % Math.max(Math.ceil(lines.length / room), 1)) * room;
  return [
    `  ${style.dim(truncate(title.join(' · '), columns - 3))}`,
    '',
    ...lines.slice(start, start + room),
    ...below,
  ];
}

/** The lines below a receipt: a remark, and the keys. */
function belowOf(
  { part, opened, remark }: Shown,
  hasMore: boolean,
  { columns, style }: Canvas,
): string[] {
  const keys = [
    ...(hasMore ? ['space more'] : []),
    ...(opened?.again === undefined ? [] : ['a pay again']),
    part === 'details' ? 'd fewer details' : 'd details',
    part === 'story' ? 's receipt' : 's story',
    'c copy id',
    '↑↓ next',
    '/ search',
    'esc back',
  ].join(' · ');
  return [
    ...(remark === '' ? [] : ['', ...wrap(remark, columns - 3).map((line) => `  ${line}`)]),
    '',
    ...wrap(keys, columns - 3).map((line) => `  ${style.dim(line)}`),
  ];
}

/** Prints a receipt where the screen cannot be redrawn, and asks for the next step. */
async function printReceipt(picked: Picked, first: Part, context: Context): Promise<Left> {
  const { argv, ask, runLine } = context;
  await runLine([...argv, 'tx', first === 'story' ? 'explain' : 'get', picked.txnId]);
  const { again } = await open(picked.txnId, 'receipt', context);
  if (again === undefined) return picked;
  const chosen = await ask.steps.select<Instruction | Back>({
    message: 'What next?',
    flag: 'ID',
    choices: [{ value: again, name: `Pay again: ${inWords(again)}` }],
    default: back,
    backName: 'Back to the list',
  });
  return { ...picked, again: chosen === back ? undefined : chosen };
}

/** Pays again, and resolves with the exit code of the payment. */
async function repeat(instruction: Instruction, context: Context): Promise<number> {
  const { noFlags, payAgain } = await import('../again/again.js');
  try {
    await payAgain(instruction, noFlags(), context);
    return 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.out.card((canvas) => [
      '',
      ...failureLines(error, { money: true, canvas, run: context.globals }),
    ]);
    return error.exitCode;
  }
}

/**
 * Returns the instruction of a payment of this home, or undefined if this home does not know the
 * payment or cannot repeat the payment.
 */
async function askedFor(
  { txnId }: Pick<Transaction, 'txnId'>,
  context: Context,
): Promise<Instruction | undefined> {
  if (context.settings.accountId !== undefined) return undefined;
  const { scope, journal } = await context.account();
  const payment = await (await journal()).find(scope, txnId);
  return payment && repeatable(payment);
}
