// Who is logged in where, and where the secrets are.
import { factLines, type Fact } from '../cards/card.js';
import { fieldColumns } from '../rows/cell.js';
import { dateTime } from '../time.js';
import type { RecordView } from '../rows/view.js';

export interface Login {
  readonly profile: string;
  readonly baseUrl: string;
  readonly accountId: string;
  /** Epoch ms. */
  readonly tokenExpiresAt: number;
  /** In words: the system keyring, or a file. */
  readonly secretIn: string;
  readonly tokenIn: string;
}

export const loginFields: readonly string[] = [
  'profile', 'baseUrl', 'accountId', 'tokenExpires', 'tokenExpiresAt', 'secretIn', 'tokenIn',
];

function facts(login: Login): Fact[] {
  return [
    { label: 'Profile', value: login.profile },
    { label: 'Service', value: login.baseUrl, whole: true },
    { label: 'Account', value: login.accountId, whole: true },
    { label: 'Token', value: `until ${dateTime(login.tokenExpiresAt)}`, note: `in ${login.tokenIn}` },
    { label: 'Secret', value: `in ${login.secretIn}` },
  ];
}

export const loginView = (login: Login): RecordView<Login> => ({
  screen: (canvas) => factLines(facts(login), canvas),
  columns: fieldColumns(['profile', 'baseUrl', 'accountId', 'tokenExpires', 'secretIn', 'tokenIn'], [
    { name: 'tokenExpires', title: '', value: ({ tokenExpiresAt }) => new Date(tokenExpiresAt).toISOString() },
  ]),
  quiet: ({ accountId }) => accountId,
});
