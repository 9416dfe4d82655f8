// Shows an object with unknown fields, as a labelled line for each field on a screen or as a column
// for each field in a row.
import { cellIn, cellText, fieldAt, fieldColumns, type RecordView } from '../rows/view.js';
import { detailLines, type CardDetail } from '../cards/card.js';
import { oneLine } from '../layout.js';
import { sanitize } from '../sanitize.js';
import { dateTime } from '../time.js';
import { entryOf } from '../../formats/text.js';

/**
 * Returns the view of an object with the given fields. `quiet` is the single value that `-q`
 * prints.
 */
export const objectView = <T extends object>(
  fields: readonly string[],
  quiet = '',
): RecordView<T> => ({
  columns: fieldColumns(fields),
  quiet: () => quiet,
  screen: (canvas, object) => detailLines(objectDetails(object), canvas),
});

/** Returns the view of a result that people read as one sentence. */
export const sentenceView = <T extends object>(
  fields: readonly string[],
  sentence: (result: T) => string,
  quiet: (result: T) => string,
): RecordView<T> => ({
  columns: fieldColumns(fields),
  quiet,
  screen: (_canvas, result) => [`  ${sanitize(sentence(result))}`],
});

const longestLabel = 24;

/** The labels for the fields of a service's objects. */
const labels: Readonly<Record<string, string>> = {
  id: 'Account',
  accountId: 'Account',
  displayName: 'Name',
  accountDisplayName: 'Name',
  status: 'State',
  accountStatus: 'State',
  countryCode: 'Country',
  timezone: 'Time zone',
  extId: 'Your reference',
  parentAccountId: 'Parent account',
  createdAt: 'Created',
};

/**
 * Returns the labelled lines of an object, for example with the label `Name` for
 * `accountDisplayName`. A field without a label shows its name as words. Omits empty fields, and
 * lines that repeat the label and the value of an earlier line.
 */
function objectDetails(object: object): CardDetail[] {
  const details = fieldColumns<object>(Object.keys(object)).flatMap((column): CardDetail[] => {
    const { name } = column;
    const text = shownText(cellText(cellIn(column, object)));
    if (text === '') return [];
    const whole = typeof fieldAt(object, name) === 'string' && !text.includes(' ');
    const label = entryOf(labels, name) ?? oneLine(inWords(name), longestLabel);
    return [{ label, value: text, whole }];
  });
  return details.filter(
    ({ label, value }, i) =>
      details.findIndex((each) => each.label === label && each.value === value) === i,
  );
}

/** Returns a text with instants in the local time zone. */
const shownText = (text: string): string =>
  /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text) ? dateTime(Date.parse(text)) : text;

function inWords(name: string): string {
  const words = name.replaceAll(/(?<=[a-z\d])[A-Z]/g, (start) => ` ${start.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
