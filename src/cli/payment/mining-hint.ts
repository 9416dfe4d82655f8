// What lets time pass in the sandbox, said where one waits for a blockchain that nobody else moves.
import type { Transaction } from '../../api/types.js';
import { confirmationsText } from '../../terminal/views/state-words.js';
import type { Context } from '../context.js';

/** A line below the one that waits; nothing where blocks are found by others. */
export function miningHint(txn: Transaction, { settings, terminal }: Pick<Context, 'settings' | 'terminal'>): string {
  if (!settings.embedded || confirmationsText(txn) === undefined) return '';
  return terminal.canAnimate ? `\n${terminal.stderrCanvas.style.dim('the next block: svcpay --sandbox sandbox mine')}` : '';
}
