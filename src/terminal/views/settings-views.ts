// Shows settings, profiles, logins, limits and the findings of `doctor` as tables and records.
import type { Big } from 'big.js';
import { amountWithSats, money, shortAmount } from '../../formats/amount.js';
import { counted } from '../../formats/text.js';
import { cardView } from '../cards/card.js';
import { type ListView, type RecordView } from '../rows/view.js';
import { sanitize, padRight, wrap } from '../text.js';
import { dateTime } from '../time.js';
import type { Canvas } from '../terminal.js';

interface Setting {
  readonly key: string;
  readonly value: string | null;
  /** The source of the value: flag, environment, profile or default. */
  readonly from: string | null;
}

export const settingList: ListView<Setting> = {
  columns: [
    { name: 'key', title: 'Setting' },
    { name: 'value', title: 'Value', text: ({ value }) => value ?? '–' },
    { name: 'from', title: 'From', text: ({ from }) => from ?? '', priority: 1 },
  ],
  quiet: ({ key }) => key,
  empty: 'There are no settings.',
};

export const settingView: RecordView<Setting> = {
  screen: (_canvas, { value }) => [sanitize(value ?? '')],
  columns: [{ name: 'value', title: 'Value' }],
  fields: ['key', 'from'],
  quiet: ({ value }) => value ?? '',
};

export const pathView: RecordView<{ readonly path: string }> = {
  screen: (_canvas, { path }) => [sanitize(path)],
  columns: [{ name: 'path', title: 'Path' }],
  quiet: ({ path }) => path,
};

interface ListedProfile {
  readonly name: string;
  readonly current: boolean;
  readonly baseUrl: string | null;
  readonly sandbox: boolean;
  readonly account: string | null;
  readonly network: string | null;
}

const serviceText = ({ sandbox, baseUrl }: ListedProfile): string =>
  sandbox ? 'embedded sandbox' : (baseUrl ?? '–');

export const profileList: ListView<ListedProfile> = {
  columns: [
    { name: 'name', title: 'Profile' },
    {
      name: 'current',
      title: 'In use',
      text: ({ current }) => (current ? 'in use' : ''),
    },
    {
      name: 'service',
      title: 'Service',
      value: (row) => (row.sandbox ? 'sandbox' : row.baseUrl),
      text: serviceText,
    },
    {
      name: 'account',
      title: 'Account',
      text: ({ account }) => account ?? "API key's account",
      priority: 2,
    },
    {
      name: 'network',
      title: 'Network',
      text: ({ network }) => network ?? 'by address',
      priority: 3,
    },
  ],
  fields: ['baseUrl', 'sandbox'],
  quiet: ({ name }) => name,
  empty: 'There are no profiles yet. Create a profile',
  next: { command: 'login' },
};

export interface Login {
  readonly profile: string;
  readonly baseUrl: string;
  readonly accountId: string;
  /** The expiry of the token in epoch ms. */
  readonly tokenExpiresAt: number;
  /** Where the secret is stored, in words: the system keyring, or a file. */
  readonly secretIn: string;
  readonly tokenIn: string;
}

export const loginView: RecordView<Login> = cardView({
  columns: [
    { name: 'profile', title: 'Profile' },
    { name: 'baseUrl', title: 'Service' },
    { name: 'accountId', title: 'Account' },
    {
      name: 'tokenExpires',
      title: 'Token',
      value: ({ tokenExpiresAt }) => new Date(tokenExpiresAt).toISOString(),
      text: ({ tokenExpiresAt }) => `until ${dateTime(tokenExpiresAt)}`,
      note: ({ tokenIn }) => `in ${tokenIn}`,
    },
    { name: 'secretIn', title: 'Secret', text: ({ secretIn }) => `in ${secretIn}` },
    { name: 'tokenIn', only: 'rows' },
  ],
  fields: ['tokenExpiresAt'],
  quiet: ({ accountId }) => accountId,
});

/** A limit with its used amount, or a destination on the allow-list. */
export interface LimitRow {
  readonly rule: 'per payment' | 'per day' | 'destination';
  /** The currency of the limit, or null if the row is an allowed destination. */
  readonly ccy: string | null;
  readonly amount: Big | null;
  /** The amount spent in the last 24 hours for a daily limit, or null if the amount is unknown. */
  readonly used: Big | null;
  readonly left: Big | null;
  readonly destination: string | null;
}

const shown = (ccy: string | null, value: Big | null): string =>
  ccy === null || value === null ? '' : shortAmount(money(ccy, value));

export const limitList: ListView<LimitRow> = {
  columns: [
    {
      name: 'rule',
      title: 'Rule',
      text: ({ rule }) => (rule === 'destination' ? 'may be paid' : rule),
    },
    { name: 'ccy', only: 'rows' },
    {
      name: 'limit',
      title: 'Limit',
      value: ({ amount, destination }) => amount ?? destination,
      text: ({ ccy, amount, destination }) =>
        destination ?? (ccy && amount ? amountWithSats(money(ccy, amount)) : ''),
    },
    {
      name: 'used',
      title: 'Used in 24 h',
      text: ({ ccy, used }) => shown(ccy, used),
      align: 'right',
      priority: 2,
    },
    {
      name: 'left',
      title: 'Left',
      text: ({ ccy, left }) => shown(ccy, left),
      align: 'right',
      priority: 1,
    },
  ],
  quiet: ({ destination, amount, ccy }) =>
    destination ?? `${amount?.toFixed() ?? ''}${ccy?.toLowerCase() ?? ''}`,
  fields: ['rule', 'ccy', 'amount', 'used', 'left', 'destination'],
  empty: 'No limits. Set a limit',
  next: { command: 'limits set --per-day 100000sat' },
};

/** The result of one check of `svcpay doctor`. A screen shows the advice below the problem. */
export interface Check {
  readonly check: string;
  readonly state: 'ok' | 'problem';
  readonly detail: string;
  /** The advice for a problem, or null if the check found no problem. */
  readonly advice: string | null;
}

const labelWidth = 9;

export function checkupLines(checks: readonly Check[], canvas: Canvas): string[] {
  const problems = checks.filter(({ state }) => state === 'problem').length;
  const verdict = problems === 0 ? 'Everything is fine.' : `${counted(problems, 'problem')}.`;
  return ['', ...checks.flatMap((check) => checkLines(check, canvas)), '', `  ${verdict}`];
}

function checkLines({ check, state, detail, advice }: Check, { style, columns }: Canvas): string[] {
  const sign = state === 'ok' ? style.green('✓') : style.red('✗');
  const indent = ' '.repeat(labelWidth + 5);
  const [first = '', ...more] = wrap(sanitize(detail), columns - indent.length);
  return [
    `  ${sign} ${padRight(check, labelWidth)} ${first}`,
    ...more.map((line) => indent + line),
    // svcpay does not wrap a command, so that people can copy the command.
    ...(advice === null ? [] : [indent + style.bold(sanitize(advice))]),
  ];
}

export const checkupList: ListView<Check> = {
  columns: [
    { name: 'check', title: 'Check' },
    { name: 'state', title: 'State' },
    { name: 'detail', title: 'Detail' },
    { name: 'advice', title: 'Advice' },
  ],
  quiet: ({ check, state }) => `${check} ${state}`,
  empty: 'Nothing was checked.',
};
