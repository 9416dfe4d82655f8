// Shows payout destinations as tables: methods, institutions and the address book, and the
// remittance advices of a batch.
import type { Institution } from '../../api/types.js';
import type { Recipient } from '../../store/profile/profiles.js';
import { countryName } from '../../formats/country.js';
import { shortened } from '../../formats/text.js';
import { cardLines } from '../cards/card.js';
import type { ListView, RecordView } from '../rows/view.js';
import { formatAmount, type Money } from '../../formats/amount.js';

interface ListedMethod {
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
    { name: 'country', title: 'Country' },
    { name: 'countryName', title: 'Name' },
    { name: 'ccy', title: 'Currency', priority: 1 },
    { name: 'method', title: 'Method' },
    {
      name: 'institutionType',
      title: 'To',
      priority: 3,
    },
    {
      name: 'arrives',
      title: 'Arrives',
      text: ({ arrives }) => arrives ?? 'not stated',
      priority: 2,
    },
  ],
  quiet: ({ method }) => method,
  empty: 'No payout methods.',
};

export const institutionList: ListView<Institution> = {
  columns: [
    { name: 'institutionCode', title: 'Code' },
    { name: 'institutionName', title: 'Name' },
    {
      name: 'institutionType',
      title: 'Type',
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

/** A contact with its name. */
export interface ListedContact extends Partial<Recipient> {
  readonly name: string;
  /** The destination for `send`, or undefined for a recipient of payouts. */
  readonly destination?: string;
}

const names =
  'name destination method country institutionCode institutionName acctNum acctName party ' +
  'party.type party.legalFullName party.countryCode party.contactNumber party.address1 ' +
  'codes codes.purpose codes.source codes.relationship';

/** The view of the contacts. */
export const contactList: ListView<ListedContact> = {
  columns: [
    { name: 'name', title: 'Name' },
    { name: 'acctName', title: 'On the account', priority: 2 },
    {
      name: 'institutionCode',
      title: 'Institution',
      text: ({ institutionName, institutionCode }) => institutionName ?? institutionCode ?? '',
      priority: 1,
    },
    {
      name: 'acctNum',
      title: 'To',
      value: ({ acctNum, destination }) => acctNum ?? destination,
      text: ({ acctNum, destination }) => shortened(acctNum ?? destination ?? ''),
    },
    { name: 'method', title: 'Method', priority: 3 },
  ],
  fields: names.split(' '),
  quiet: ({ name }) => name,
  empty: 'You have no contacts. Add a contact',
  next: { command: 'contacts add ada ada@example.com' },
};

/** The view of one contact, with every detail. */
export const contactRecord: RecordView<ListedContact> = {
  ...contactList,
  screen: (canvas, { name, destination, institutionName, institutionCode, codes, ...contact }) => {
    const { acctNum, acctName, method, country, party } = contact;
    const listed = (...parts: readonly (string | undefined)[]): string =>
      parts.filter(Boolean).join(' · ');
    return cardLines(
      [
        { label: 'Contact', value: name },
        { label: 'To', value: destination ?? acctNum, whole: true },
        { label: 'On account', value: acctName },
        { label: 'At', value: listed(institutionName, institutionCode) },
        { label: 'Method', value: listed(method, country && countryName(country)) },
        {
          label: 'Identity',
          value: listed(
            party?.type,
            party?.legalFullName,
            party && countryName(party.countryCode),
            party?.contactNumber,
            party?.address1,
          ),
        },
        {
          label: 'Codes',
          value: listed(...Object.entries(codes ?? {}).map(([what, code]) => `${what} ${code}`)),
        },
      ],
      canvas,
    );
  },
};

/** A remittance advice, which is one page with all payments to a payee. */
export interface Remittance {
  readonly payee: string;
  readonly payments: number;
  readonly amounts: readonly Money[];
  readonly file: string;
}

export const remittanceList: ListView<Remittance> = {
  columns: [
    { name: 'payee', title: 'Payee', shrinks: true },
    {
      name: 'amounts',
      title: 'Amount',
      value: ({ amounts }) => amounts.map(formatAmount).join(' + '),
      align: 'right',
    },
    {
      name: 'payments',
      title: 'Payments',
      align: 'right',
      priority: 1,
    },
    { name: 'file', title: 'Page', below: true, priority: 2 },
  ],
  quiet: ({ file }) => file,
  empty: 'No row of this batch is paid yet.',
};
