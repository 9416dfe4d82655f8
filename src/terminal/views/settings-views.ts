// Settings and profiles as tables and records.
import type { ListView, RecordView } from '../output.js';
import { sanitize } from '../sanitize.js';

interface Setting {
  readonly key: string;
  readonly value: string | null;
  /** What decides the value: flag, environment, profile or default. */
  readonly from: string | null;
}

export const settingList = (footer: string): ListView<Setting> => ({
  columns: [
    { name: 'key', title: 'Setting', value: ({ key }) => key },
    { name: 'value', title: 'Value', value: ({ value }) => value, text: ({ value }) => value ?? '–' },
    { name: 'from', title: 'From', value: ({ from }) => from, text: ({ from }) => from ?? '', priority: 1 },
  ],
  quiet: ({ key }) => key,
  empty: 'There are no settings.',
  footer,
});

export const settingView = ({ value }: Setting): RecordView<Setting> => onlyValue('Value', value ?? '');

export const pathView = (path: string): RecordView<object> => onlyValue('Path', path);

const onlyValue = (title: string, value: string): RecordView<object> => ({
  screen: () => [sanitize(value)],
  columns: [{ name: title.toLowerCase(), title, value: () => value }],
  quiet: () => value,
});

interface ListedProfile {
  readonly name: string;
  readonly current: boolean;
  readonly baseUrl: string | null;
  readonly sandbox: boolean;
  readonly account: string | null;
  readonly network: string | null;
}

const serviceText = ({ sandbox, baseUrl }: ListedProfile): string => (sandbox ? 'embedded sandbox' : (baseUrl ?? '–'));

export const profileList: ListView<ListedProfile> = {
  columns: [
    { name: 'name', title: 'Profile', value: ({ name }) => name },
    { name: 'current', title: 'In use', value: ({ current }) => current, text: ({ current }) => (current ? 'in use' : '') },
    { name: 'service', title: 'Service', value: (row) => (row.sandbox ? 'sandbox' : row.baseUrl), text: serviceText },
    { name: 'account', title: 'Account', value: ({ account }) => account, text: ({ account }) => account ?? 'of the key', priority: 2 },
    { name: 'network', title: 'Network', value: ({ network }) => network, text: ({ network }) => network ?? 'by address', priority: 3 },
  ],
  quiet: ({ name }) => name,
  empty: 'There are no profiles yet: svcpay login',
};
