// Shows payout destinations as tables: methods, institutions and the address book.
import { fields, text, type FieldsOf, type Readers } from '../../api/reading/readers.js';
import type { Institution } from '../../api/types.js';
import type { Party, Recipient } from '../../store/profile/profiles.js';
import type { ListView } from '../rows/view.js';
import { codeFields, kycFields, within } from './transaction-view.js';

export interface ListedMethod {
  readonly country: string;
  readonly countryName: string;
  readonly ccy: string;
  readonly method: string;
  readonly institutionType: string;
  /** The time until the money arrives, in words, or null if the specification gives no duration. */
  readonly arrives: string | null;
}

export const methodList: ListView<ListedMethod> = {
  columns: [
    { name: 'country', title: 'Country', value: ({ country }) => country },
    { name: 'countryName', title: 'Name', value: ({ countryName }) => countryName },
    { name: 'ccy', title: 'Currency', value: ({ ccy }) => ccy, priority: 1 },
    { name: 'method', title: 'Method', value: ({ method }) => method },
    {
      name: 'institutionType',
      title: 'To',
      value: ({ institutionType }) => institutionType,
      priority: 3,
    },
    {
      name: 'arrives',
      title: 'Arrives',
      value: ({ arrives }) => arrives,
      text: ({ arrives }) => arrives ?? 'not stated',
      priority: 2,
    },
  ],
  quiet: ({ method }) => method,
  empty: 'No payout methods.',
};

export const institutionList: ListView<Institution> = {
  columns: [
    { name: 'institutionCode', title: 'Code', value: ({ institutionCode }) => institutionCode },
    { name: 'institutionName', title: 'Name', value: ({ institutionName }) => institutionName },
    {
      name: 'institutionType',
      title: 'Type',
      value: ({ institutionType }) => institutionType,
      priority: 1,
    },
  ],
  quiet: ({ institutionCode }) => institutionCode,
  empty: 'The service lists no institutions.',
};

/** @param paysOut whether the service pays out to the country */
export const noInstitutionsText = (country: string, paysOut: boolean): string =>
  `The service lists no institutions for ${country}: ` +
  (paysOut
    ? 'its lookup does not cover this country. Ask the service for the code.'
    : 'payouts there are not available.');

/** A recipient with its name in the address book. */
export interface ListedRecipient extends Partial<Recipient> {
  readonly name: string;
  /** The destination for `send`, or undefined for a recipient of payouts. */
  readonly destination?: string;
}

const listedFields = {
  name: text,
  destination: text,
  method: text,
  country: text,
  institutionCode: text,
  institutionName: text,
  acctNum: text,
  acctName: text,
  party: fields,
  codes: fields,
} satisfies FieldsOf<ListedRecipient>;

const inner: Readonly<Record<string, Readers>> = {
  party: { type: text, ...kycFields } satisfies FieldsOf<Party>,
  codes: codeFields,
};

const recipientFields: readonly string[] = Object.keys(listedFields).flatMap((name) =>
  within(name, Object.keys(inner[name] ?? {})),
);

/** The view of a list of recipients, with the name as the only personal data. */
export const recipientList: ListView<ListedRecipient> = {
  columns: [
    { name: 'name', title: 'Name', value: ({ name }) => name },
    { name: 'acctName', title: 'On the account', value: ({ acctName }) => acctName, priority: 2 },
    {
      name: 'institutionCode',
      title: 'Institution',
      value: ({ institutionCode }) => institutionCode,
      text: ({ institutionName, institutionCode }) => institutionName ?? institutionCode ?? '',
      priority: 1,
    },
    {
      name: 'acctNum',
      title: 'Account',
      value: ({ acctNum, destination }) => acctNum ?? destination,
    },
    { name: 'method', title: 'Method', value: ({ method }) => method, priority: 3 },
  ],
  fields: recipientFields,
  quiet: ({ name }) => name,
  empty: 'Your address book is empty. Add a recipient: svcpay recipients add ada ada@example.com',
};
