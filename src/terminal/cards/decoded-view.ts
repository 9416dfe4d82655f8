// Shows a destination decoded offline: a card for people, a column per field for scripts.
import { btcFromMsat, formatAmount, formatSats, money } from '../../formats/amount.js';
import type { BitcoinAddress } from '../../formats/address.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import type { describeDestination } from '../../formats/describe.js';
import type { Bip21Destination, Destination } from '../../formats/destination.js';
import { cardLines, heading, type CardLine } from './card.js';
import { fieldColumns, fieldsOf, type RecordView } from '../rows/view.js';
import { dateTime, relativeTime } from '../time.js';

type Described = ReturnType<typeof describeDestination>;
type FieldName<T> = T extends object ? keyof T : never;

/** The fields of decoded destinations of all kinds. */
const fields = fieldsOf<Record<FieldName<Described> | 'unpayable', unknown>>()([
  'kind',
  'network',
  'amountMsat',
  'paymentHash',
  'payee',
  'description',
  'descriptionHash',
  'timestamp',
  'expiry',
  'expiresAt',
  'expired',
  'minFinalCltvExpiry',
  'features',
  'routeHints',
  'fallbackAddress',
  'unpayable',
  'address',
  'type',
  'checksummed',
  'url',
  'user',
  'domain',
  'amount',
  'label',
  'message',
  'lightning',
]);

export const decodedFields: readonly string[] = fields;

/**
 * Returns the view of a decoded destination.
 * @param now epoch ms
 */
export function decodedView(
  destination: Destination,
  decoded: object,
  now: number,
): RecordView<object> {
  return {
    columns: fieldColumns(Object.keys(decoded)),
    quiet: () => destination.text,
    screen: (canvas) => [
      '',
      ...heading(titles[destination.kind], canvas),
      '',
      ...cardLines(factsOf(destination, now), canvas),
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

function factsOf(destination: Destination, now: number): CardLine[] {
  switch (destination.kind) {
    case 'bolt11':
      return invoiceDetails(destination.value, now);
    case 'bitcoin-address':
      return addressDetails(destination.value);
    case 'tron-address':
      return [{ label: 'Address', value: destination.value.address, whole: true }];
    case 'evm-address':
      return [
        { label: 'Address', value: destination.value.address, whole: true },
        {
          label: 'Checksum',
          value: destination.value.checksummed ? 'right' : 'none: all letters have the same case',
        },
      ];
    case 'lnurl':
      return [{ label: 'Leads to', value: destination.value.url, whole: true }];
    case 'lightning-address':
      return [
        { label: 'Address', value: destination.value.address, whole: true },
        { label: 'User', value: destination.value.user },
        { label: 'Domain', value: destination.value.domain },
      ];
    case 'bip21':
      return uriDetails(destination.value, now);
  }
}

function invoiceDetails(invoice: Invoice, now: number): CardLine[] {
  const { amountMsat, expiresAt, timestamp, routeHints } = invoice;
  return [
    amountMsat === null
      ? { label: 'Amount', value: 'the payer chooses the amount' }
      : amountDetail(btcFromMsat(amountMsat)),
    { label: 'For', value: invoice.description },
    { label: 'Text hash', value: invoice.descriptionHash, whole: true },
    { label: 'Payee', value: invoice.payee, whole: true },
    { label: 'Hash', value: invoice.paymentHash, whole: true },
    { label: 'Network', value: invoice.network },
    timeDetail('Made', timestamp * 1000, now),
    timeDetail(expiresAt > now ? 'Expires' : 'Expired', expiresAt, now),
    { label: 'Fallback', value: invoice.fallbackAddress, whole: true },
    { label: 'Route hints', value: routeHints.length === 0 ? '' : String(routeHints.length) },
  ];
}

/**
 * Returns a labelled time, with the relative time if the relative time is clearer than the date.
 */
function timeDetail(label: string, at: number, now: number): CardLine {
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
  witness: 'undefined witness version: do not pay this address',
};

const addressDetails = ({ address, network, type }: BitcoinAddress): CardLine[] => [
  { label: 'Address', value: address, whole: true },
  { label: 'Network', value: network },
  { label: 'Type', value: typeNames[type] },
];

function uriDetails(
  { bitcoin, invoice, amount, label, message }: Bip21Destination,
  now: number,
): CardLine[] {
  // The card omits what it already shows, the payment hash and the creation time.
  const omitted = new Set([
    'Made',
    'Hash',
    amount === undefined ? '' : 'Amount',
    bitcoin === null ? '' : 'Network',
  ]);
  return [
    ...(amount === undefined ? [] : [amountDetail(amount)]),
    { label: 'Label', value: label },
    { label: 'Message', value: message },
    ...(bitcoin === null ? [] : addressDetails(bitcoin)),
    { label: 'Invoice', value: invoice?.invoice, whole: true },
    ...(invoice === null
      ? []
      : invoiceDetails(invoice, now).filter((each) => !omitted.has(each.label))),
  ];
}

const amountDetail = (value: Parameters<typeof formatSats>[0]): CardLine => ({
  label: 'Amount',
  value: formatAmount(money('BTC', value)),
  note: formatSats(value),
});
