// The offline data of a destination: a card for people, a column per field for scripts.
import {
  count,
  fields as objects,
  flag,
  instant,
  text,
  type FieldsOf,
} from '../../api/reading/readers.js';
import { btcFromMsat, formatAmount, formatSats, money } from '../../formats/amount.js';
import type { BitcoinAddress } from '../../formats/address/bitcoin-address.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import type { describeDestination } from '../../formats/describe.js';
import type { Bip21Destination, Destination } from '../../formats/destination.js';
import { factLines, heading, optionalFact, type Fact } from './card.js';
import { fieldColumns } from '../rows/cell.js';
import type { RecordView } from '../rows/view.js';
import { dateTime, relativeTime } from '../time.js';

type Described = ReturnType<typeof describeDestination>;
type FieldName<T> = T extends object ? keyof T : never;

/** The fields of all kinds. */
const fields = {
  kind: text,
  network: text,
  amountMsat: text,
  paymentHash: text,
  payee: text,
  description: text,
  descriptionHash: text,
  timestamp: count,
  expiry: count,
  expiresAt: instant,
  expired: flag,
  minFinalCltvExpiry: count,
  features: objects,
  routeHints: objects,
  fallbackAddress: text,
  unpayable: text,
  address: text,
  type: text,
  checksummed: flag,
  url: text,
  user: text,
  domain: text,
  amount: text,
  label: text,
  message: text,
  lightning: text,
} satisfies FieldsOf<Record<FieldName<Described> | 'unpayable', unknown>>;

export const decodedFields: readonly string[] = Object.keys(fields);

/** @param now epoch ms */
export function decodedView<T extends object>(
  destination: Destination,
  decoded: T,
  now: number,
): RecordView<T> {
  return {
    columns: fieldColumns(Object.keys(decoded)),
    quiet: () => destination.text,
    screen: (canvas) => [
      '',
      ...heading(titles[destination.kind], canvas),
      '',
      ...factLines(factsOf(destination, now), canvas),
      '',
    ],
  };
}

const titles: Readonly<Record<Destination['kind'], string>> = {
  bolt11: 'Lightning invoice',
  'bitcoin-address': 'Bitcoin address',
  'tron-address': 'TRON address',
  'evm-address': 'Ethereum address',
  lnurl: 'LNURL',
  'lightning-address': 'Lightning Address',
  bip21: 'Bitcoin payment URI',
};

function factsOf(destination: Destination, now: number): Fact[] {
  switch (destination.kind) {
    case 'bolt11':
      return invoiceFacts(destination.value, now);
    case 'bitcoin-address':
      return addressFacts(destination.value);
    case 'tron-address':
      return optionalFact('Address', destination.value.address, true);
    case 'evm-address':
      return [
        ...optionalFact('Address', destination.value.address, true),
        ...optionalFact(
          'Checksum',
          destination.value.checksummed ? 'right' : 'none: the text has one letter case',
        ),
      ];
    case 'lnurl':
      return optionalFact('Leads to', destination.value.url, true);
    case 'lightning-address':
      return [
        ...optionalFact('Address', destination.value.address, true),
        ...optionalFact('User', destination.value.user),
        ...optionalFact('Domain', destination.value.domain),
      ];
    case 'bip21':
      return uriFacts(destination.value, now);
  }
}

function invoiceFacts(invoice: Invoice, now: number): Fact[] {
  const { amountMsat, expiresAt, timestamp, routeHints } = invoice;
  return [
    amountMsat === null
      ? { label: 'Amount', value: 'any; chosen by the payer' }
      : amountFact(btcFromMsat(amountMsat)),
    ...optionalFact('For', invoice.description),
    ...optionalFact('Text hash', invoice.descriptionHash, true),
    ...optionalFact('Payee', invoice.payee, true),
    ...optionalFact('Hash', invoice.paymentHash, true),
    ...optionalFact('Network', invoice.network),
    timeFact('Made', timestamp * 1000, now),
    timeFact(expiresAt > now ? 'Expires' : 'Expired', expiresAt, now),
    ...optionalFact('Fallback', invoice.fallbackAddress, true),
    ...(routeHints.length === 0 ? [] : optionalFact('Route hints', String(routeHints.length))),
  ];
}

/** The time ago, if that is clearer than the date. */
function timeFact(label: string, at: number, now: number): Fact {
  const value = dateTime(at);
  const relative = relativeTime(at, now);
  return { label, value, note: value.startsWith(relative) ? undefined : relative };
}

const typeNames: Readonly<Record<BitcoinAddress['type'], string>> = {
  p2pkh: 'P2PKH, legacy',
  p2sh: 'P2SH',
  p2wpkh: 'P2WPKH, segwit',
  p2wsh: 'P2WSH, segwit script',
  p2tr: 'P2TR, taproot',
  witness: 'an undefined witness version: do not pay it',
};

const addressFacts = ({ address, network, type }: BitcoinAddress): Fact[] => [
  ...optionalFact('Address', address, true),
  ...optionalFact('Network', network),
  ...optionalFact('Type', typeNames[type]),
];

function uriFacts(
  { bitcoin, invoice, amount, label, message }: Bip21Destination,
  now: number,
): Fact[] {
  return [
    ...(amount === undefined ? [] : [amountFact(amount)]),
    ...optionalFact('Label', label),
    ...optionalFact('Message', message),
    ...(bitcoin === null ? [] : addressFacts(bitcoin)),
    ...optionalFact('Invoice', invoice?.invoice, true),
    ...(invoice === null
      ? []
      : invoiceFacts(invoice, now).filter(({ label }) => !repeats(label, amount, bitcoin))),
  ];
}

/** Whether a field is shown for both the URI and its address, or the invoice itself. */
function repeats(
  label: string,
  amount: Bip21Destination['amount'],
  bitcoin: BitcoinAddress | null,
): boolean {
  if (label === 'Amount') return amount !== undefined;
  return label === 'Network' ? bitcoin !== null : ['Made', 'Hash'].includes(label);
}

const amountFact = (value: Parameters<typeof formatSats>[0]): Fact => ({
  label: 'Amount',
  value: formatAmount(money('BTC', value)),
  note: formatSats(value),
});
