// An object with unknown fields: a fact per field on a screen, a column per field in a row.
import { cellText, fieldColumns } from '../rows/cell.js';
import { factLines, type Fact } from '../cards/card.js';
import { fieldAt } from '../rows/fields.js';
import type { RecordView } from '../rows/view.js';
import { oneLine } from '../text.js';

/** `quiet` is the one value that `-q` prints. */
export function objectView<T extends object>(object: T, quiet: string): RecordView<T> {
  return {
    columns: fieldColumns(Object.keys(object)),
    quiet: () => quiet,
    screen: (canvas) => factLines(objectFacts(object), canvas),
  };
}

const longestLabel = 24;

/** `accountDisplayName` is shown as `Account display name`; empty fields are omitted. */
function objectFacts(object: object): Fact[] {
  return fieldColumns<object>(Object.keys(object)).flatMap(({ title, value }) => {
    const text = cellText(value(object));
    if (text === '') return [];
    const whole = typeof fieldAt(object, title) === 'string' && !text.includes(' ');
    return [{ label: oneLine(inWords(title), longestLabel), value: text, whole }];
  });
}

function inWords(name: string): string {
  const words = name.replaceAll(/(?<=[a-z\d])[A-Z]/g, (start) => ` ${start.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
