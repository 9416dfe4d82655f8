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
    { title: 'Setting', value: ({ key }) => key },
    { title: 'Value', value: ({ value }) => value, text: ({ value }) => value ?? '–' },
    { title: 'From', value: ({ from }) => from, text: ({ from }) => from ?? '', priority: 1 },
  ],
  quiet: ({ key }) => key,
  empty: 'There are no settings.',
  footer,
});

export const settingView = ({ value }: Setting): RecordView<Setting> => onlyValue('Value', value ?? '');

export const pathView = (path: string): RecordView<object> => onlyValue('Path', path);

const onlyValue = (title: string, value: string): RecordView<object> => ({
  screen: () => [sanitize(value)],
  columns: [{ title, value: () => value }],
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
    { title: 'Profile', value: ({ name }) => name },
    { title: 'In use', value: ({ current }) => current, text: ({ current }) => (current ? 'in use' : '') },
    { title: 'Service', value: (row) => (row.sandbox ? 'sandbox' : row.baseUrl), text: serviceText },
    { title: 'Account', value: ({ account }) => account, text: ({ account }) => account ?? 'of the key', priority: 2 },
    { title: 'Network', value: ({ network }) => network, text: ({ network }) => network ?? 'by address', priority: 3 },
  ],
  quiet: ({ name }) => name,
  empty: 'There are no profiles yet: svcpay login',
};
