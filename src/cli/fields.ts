// `--fields` before anything is done: wrong names are refused, and `--fields help` is answered.
import { checkNames } from '../terminal/rows/fields.js';
import type { Context } from './context.js';

/** False where the names were all that was asked for. Throws Failure `usage` for a name that is none of these. */
export function fieldsAreKnown(known: readonly string[], { globals, out }: Pick<Context, 'globals' | 'out'>): boolean {
  const asked = globals.fields?.split(',').map((name) => name.trim()) ?? [];
  if (asked.join() === 'help') {
    out.text(known.join('\n'));
    return false;
  }
  checkNames(asked, known);
  return true;
}
