// A receipt as a page to print or send: one file without scripts, which loads nothing.
import type { Transaction } from '../../api/types.js';
import { formatAmount } from '../../formats/amount.js';
import { ownZone } from '../../formats/calendar.js';
import { escapeMarkup } from '../../formats/text.js';
import { isRetriable } from '../../formats/states.js';
import { sanitize } from '../sanitize.js';
import { dateTime } from '../time.js';
import type { MoneyLine } from './card.js';
import { receiptParts, type ReceiptOptions } from './receipt.js';
import { stepsOf } from './steps.js';

const css = `
  body { font: 11pt/1.5 system-ui, sans-serif; max-width: 42em; margin: 2em auto; padding: 0 1em; color: #111; background: #fff; }
  h1 { font-size: 1.5em; margin: 0; }
  table { border-collapse: collapse; width: 100%; margin: 1.5em 0; }
  th, td { text-align: left; vertical-align: top; padding: .2em .8em .2em 0; border-bottom: 1px solid #ddd; overflow-wrap: anywhere; }
  th { font-weight: normal; color: #555; width: 9em; }
  .total { font-weight: bold; }
  footer { color: #555; font-size: .9em; }
  @media print { body { margin: 0; } }`;

export function receiptPage(transaction: Transaction, options: ReceiptOptions): string {
  const { title, state, times, money, facts } = receiptParts(transaction, options);
  const words = new Map(
    stepsOf(
      transaction,
      times.map((each) => each.state),
    ).map((step) => [step.state, step.word]),
  );
  const states = times.map((each): Row => [words.get(each.state) ?? each.state, dateTime(each.at)]);
  const heading = `${title}: ${state}`;
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(heading)}</title><style>${css}\n</style></head><body>`,
    `<h1>${escaped(heading)}</h1>`,
    table(money.map(moneyRow)),
    table(facts.map(({ label, value }): Row => [label, value])),
    table(states),
    `<footer>${isRetriable(transaction.txnState) ? 'Nothing was deducted. ' : ''}Times are in ${escaped(ownZone())}. As the service reported on ${escaped(dateTime(options.now))}.</footer>`,
    '</body></html>',
  ].join('\n');
}

type Row = readonly [label: string, value: string, className?: string];

const moneyRow = ({ label, amount, note, total }: MoneyLine): Row => [
  label,
  [typeof amount === 'string' ? amount : formatAmount(amount), note ?? ''].join(' ').trim(),
  total === true ? 'total' : '',
];

const table = (rows: readonly Row[]): string =>
  rows.length === 0
    ? ''
    : `<table>${rows.map(([label, value, className = '']) => `<tr${className === '' ? '' : ` class="${className}"`}><th>${escaped(label)}</th><td>${escaped(value)}</td></tr>`).join('\n')}</table>`;

const escaped = (text: string): string => escapeMarkup(sanitize(text));
