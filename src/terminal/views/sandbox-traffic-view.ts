// Shows the traffic of the sandbox as tables: requests, webhook deliveries and faults.
import {
  deliveryAnswer,
  faultAnswer,
  fieldNames,
  requestAnswer,
  type Delivery,
  type Fault,
  type LoggedRequest,
} from '../../formats/sandbox/answers.js';
import { counted } from '../../formats/text.js';
import { formatDuration } from '../../formats/calendar.js';
import { sanitize } from '../sanitize.js';
import { wrap } from '../layout.js';
import { clockTime } from '../time.js';
import type { Column, ListView, RecordView } from '../rows/view.js';

const timeColumn = <T>(name: string, title: string, at: (row: T) => number): Column<T> => ({
  name,
  title,
  value: at,
  text: (row) => clockTime(at(row)),
});

/** Matches a complete id in a path, which a narrow column would cut. */
const wholeIds = /([\da-f]{8})(?:-[\da-f]{4}){3}-[\da-f]{12}/g;

export const requestList: ListView<LoggedRequest> = {
  columns: [
    timeColumn('at', 'Time', ({ at }) => at),
    { name: 'method', title: 'Method' },
    {
      name: 'path',
      title: 'Path',
      text: ({ path }) => path.replaceAll(wholeIds, '$1…'),
      shrinks: true,
    },
    {
      name: 'status',
      title: 'Status',
      text: ({ status }) => (status === 0 ? '–' : String(status)),
      style: (cell, style, { status }) => (status >= 400 ? style.red(cell) : cell),
    },
    {
      name: 'fault',
      title: 'Fault',
      priority: 1,
      style: (cell, style) => style.yellow(cell),
    },
  ],
  fields: fieldNames(requestAnswer),
  quiet: ({ method, path, status }) => `${method} ${path} ${status}`,
  empty: 'No requests yet. Every command that uses the sandbox adds requests.',
};

const deliveryText = ({ status, nextAttemptAt }: Delivery): string =>
  status === 'scheduled' && nextAttemptAt !== null ? `next at ${clockTime(nextAttemptAt)}` : status;

export const deliveryList: ListView<Delivery> = {
  columns: [
    { name: 'id', title: 'ID', align: 'right' },
    timeColumn('createdAt', 'Time', ({ createdAt }) => createdAt),
    { name: 'txnState', title: 'Event' },
    {
      name: 'status',
      title: 'Delivery',
      text: deliveryText,
      style: (cell, style, { status }) =>
        status === 'delivered'
          ? style.green(cell)
          : status === 'failed'
            ? style.red(cell)
            : style.yellow(cell),
    },
    {
      name: 'attempts',
      title: 'Attempts',
      value: ({ attempts }) => attempts.length,
      align: 'right',
      priority: 1,
    },
    { name: 'lastAnswer', title: 'Last answer', value: lastAnswer, priority: 2 },
    { name: 'txnId', title: 'Transaction', priority: 9, below: true },
  ],
  fields: fieldNames(deliveryAnswer),
  quiet: ({ id }) => String(id),
  empty: 'No deliveries yet. To receive events, set a webhook',
  next: { command: 'webhook set URL' },
};

function lastAnswer({ attempts }: Delivery): string | number | null {
  const last = attempts.at(-1);
  return last === undefined ? null : (last.status ?? sanitize(last.error ?? ''));
}

const faultColumns: readonly Column<Fault>[] = [
  { name: 'id', title: 'ID', align: 'right' },
  { name: 'kind', title: 'Fault' },
  { name: 'how', title: 'How', value: howText, priority: 1 },
  { name: 'strikes', title: 'Applies to', value: whereText },
  {
    name: 'applied',
    title: 'Struck',
    text: ({ applied, times }) =>
      times === 'always' ? `${applied} times` : `${applied} of ${times}`,
    align: 'right',
    style: (cell, style, { spent }) => (spent ? style.dim(cell) : cell),
  },
];

export const faultList: ListView<Fault> = {
  columns: faultColumns,
  fields: fieldNames(faultAnswer),
  quiet: ({ id }) => String(id),
  empty: 'No faults. Add a fault',
  next: { command: 'sandbox fault add KIND' },
};

function faultSentence(fault: Fault): string {
  const what = [fault.kind, howText(fault)].filter((each) => each !== '').join(' ');
  return `Fault ${fault.id}: ${what} applies to ${whereText(fault)}, ${oftenText(fault)}.`;
}

export const faultView: RecordView<Fault> = {
  ...faultList,
  screen: ({ columns }, fault) =>
    wrap(faultSentence(fault), columns - 2).map((line) => `  ${line}`),
};

function howText({
  kind,
  status,
  outcome,
  side,
  factor,
  state,
  delay,
  retryAfter,
  commitAfter,
  ago = 0,
  steps = 0,
}: Fault): string {
  return [
    status,
    outcome,
    side,
    factor === undefined ? undefined : `times ${factor}`,
    kind === 'false-state' || kind === 'returned' ? state : undefined,
    ago === 0 ? undefined : `${delayText(ago)} ago`,
    steps === 0 ? undefined : `${counted(steps, 'state')} ago`,
    commitAfter === undefined ? undefined : `carried out ${delayText(commitAfter)} later`,
    delay === undefined ? undefined : delayText(delay),
    retryAfter === undefined ? undefined : `retry after ${retryAfter} s`,
  ]
    .filter((each) => each !== undefined)
    .join(', ');
}

const paymentKinds: ReadonlySet<string> = new Set([
  'payment',
  'double-payment',
  'settled-amount',
  'returned',
]);

/** Formats a duration, in ms for a duration below one second. */
const delayText = (ms: number): string => (ms < 1000 ? `${ms} ms` : formatDuration(ms));

function whereText({ kind, method, path, destination, state }: Fault): string {
  if (kind === 'reference-reuse') return 'create requests';
  if (paymentKinds.has(kind))
    return destination === '**' ? 'payments' : `payments to ${destination ?? ''}`;
  if (kind.startsWith('webhook-')) return state === undefined ? 'events' : `events of ${state}`;
  const request = [method, path].filter((each) => each !== undefined).join(' ');
  return request === '' ? 'requests' : request;
}

function oftenText({ nth, times }: Fault): string {
  const often = times === 'always' ? 'every time' : times === 1 ? 'once' : `${times} times`;
  return nth === 1 ? often : `${often}, from match ${nth} on`;
}
