// Reads the first line of a batch file, which names the columns. svcpay accepts the column names
// that other programs write.
import leven from 'leven';
import { clip } from '../../formats/text.js';

export interface Columns {
  /** The column names that the header may contain, in any order and letter case. */
  readonly names: ReadonlySet<string>;
  /** The columns of a result file that describe the outcome of a row. */
  readonly ofResult: ReadonlySet<string>;
  /** Whether svcpay ignores columns with unknown names. */
  readonly ignoreOthers: boolean;
}

export interface Head {
  /** The column names by position, with undefined for an ignored column. */
  readonly names: readonly (string | undefined)[];
  /** Whether the file is a result file, whose cells were made safe for spreadsheets. */
  readonly isResult: boolean;
  /** Whether the file is a result file that svcpay reads as a batch file. */
  readonly isInput: boolean;
  /** The minimum number of cells in a row, excluding nameless columns at the end. */
  readonly size: number;
}

/** Reads the header, or returns its first problem in words. */
export function readHead(record: readonly string[], columns: Columns): Head | string {
  const head = record.map((name) => name.trim().toLowerCase());
  const size = head.findLastIndex((name) => name !== '') + 1;
  const isResult = head.includes('outcome') && head.includes('txnid');
  const isIgnored = (name: string): boolean =>
    name.startsWith('#') ||
    (isResult && columns.ofResult.has(name) && !columns.names.has(name)) ||
    (columns.ignoreOthers && !columns.names.has(name) && meant(name, columns) === undefined);
  const used = head.slice(0, size).filter((name) => !isIgnored(name));
  return (
    headerError(used, head, columns) ?? {
      names: head.map((name, i) => (i >= size || isIgnored(name) ? undefined : name)),
      isResult,
      isInput: isResult && !columns.names.has('outcome'),
      size,
    }
  );
}

function headerError(
  used: readonly string[],
  head: readonly string[],
  columns: Columns,
): string | undefined {
  const allNames = [...columns.names].join(', ');
  if (head.length === 1 && head[0]?.includes('|') === true)
    return 'The columns are separated by "|". Use commas, semicolons or tabs.';
  const twice = used.find((name, index) => used.indexOf(name) !== index);
  if (twice !== undefined) return `The column "${clip(twice)}" occurs twice.`;
  const unknown = used.find((name) => !columns.names.has(name));
  if (unknown === '') return 'A column has no name. Name the column, or begin its name with #.';
  if (unknown !== undefined) {
    const close = meant(unknown, columns);
    const advice =
      close === undefined
        ? 'To ignore the column, begin its name with #, or use --ignore-columns.'
        : `Did you mean "${close}"?`;
    return `There is no column "${clip(unknown)}". ${advice} The columns are: ${allNames}.`;
  }
  return ['to', 'recipient', 'acct_num'].some((name) => used.includes(name))
    ? undefined
    : `The column "to" is missing. There are: ${allNames}.`;
}

/** Maps the column names that other programs use in batch files to svcpay's own names. */
const otherNames: Readonly<Record<string, string>> = {
  reference: 'ref',
  id: 'ref',
  payment_id: 'ref',
  destination: 'to',
  address: 'to',
  sum: 'amount',
  ccy: 'currency',
  unit: 'currency',
  account: 'acct_num',
  account_number: 'acct_num',
  bank: 'institution',
};

/**
 * Returns svcpay's name for a misspelled column name, or for a column name from another program.
 * svcpay never ignores a column with a misspelled name.
 */
function meant(name: string, { names }: Columns): string | undefined {
  const plain = name.replaceAll(/[\s-]+/g, '_');
  if (names.has(plain)) return plain;
  const other = otherNames[plain];
  if (other !== undefined && Object.hasOwn(otherNames, plain)) return other;
  const edits = plain.length < 4 ? 0 : plain.length < 6 ? 1 : 2;
  return [...names].find((each) => leven(plain, each) <= edits);
}
