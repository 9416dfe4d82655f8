// Shows a destination decoded offline: a card for people, a column per field for scripts.
import { btcFromMsat, formatAmount, formatSats, money } from '../../formats/amount.js';
import type { BitcoinAddress } from '../../formats/address.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import type { describeDestination } from '../../formats/describe.js';
import type { Destination } from '../../formats/destination.js';
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

/** Returns the lines of the card. A destination has only some of them. */
function factsOf({ kind, value }: Destination, now: number): CardLine[] {
  const uri = kind === 'bip21' ? value : undefined;
  const invoice = kind === 'bolt11' ? value : (uri?.invoice ?? undefined);
  const bitcoin = kind === 'bitcoin-address' ? value : uri?.bitcoin;
  const holder = kind === 'lightning-address' ? value : undefined;
  const msat = invoice?.amountMsat;
  const amount = uri?.amount ?? (msat == null ? undefined : btcFromMsat(msat));
  const hasCase = kind === 'evm-address' && value.checksummed;
  return [
    {
      label: 'Amount',
      value: amount
        ? formatAmount(money('BTC', amount))
        : invoice && 'the payer chooses the amount',
      note: amount && formatSats(amount),
    },
    { label: 'Label', value: uri?.label },
    { label: 'Message', value: uri?.message },
    { label: 'Leads to', value: kind === 'lnurl' ? value.url : '', whole: true },
    {
      label: 'Address',
      value: bitcoin?.address ?? ('address' in value ? value.address : ''),
      whole: true,
    },
    { label: 'User', value: holder?.user },
    { label: 'Domain', value: holder?.domain },
    {
      label: 'Checksum',
      value:
        kind !== 'evm-address' ? '' : hasCase ? 'right' : 'none: all letters have the same case',
    },
    { label: 'Invoice', value: uri?.invoice?.invoice, whole: true },
    { label: 'For', value: invoice?.description },
    { label: 'Text hash', value: invoice?.descriptionHash, whole: true },
    { label: 'Payee', value: invoice?.payee, whole: true },
    { label: 'Hash', value: invoice?.paymentHash, whole: true },
    { label: 'Network', value: (bitcoin ?? invoice)?.network },
    { label: 'Type', value: bitcoin && typeNames[bitcoin.type] },
    ...(invoice === undefined ? [] : timeLines(invoice, now)),
    { label: 'Fallback', value: invoice?.fallbackAddress, whole: true },
    {
      label: 'Route hints',
      value: invoice?.routeHints.length ? String(invoice.routeHints.length) : '',
    },
  ];
}

const typeNames: Readonly<Record<BitcoinAddress['type'], string>> = {
  p2pkh: 'P2PKH, legacy',
  p2sh: 'P2SH',
  p2wpkh: 'P2WPKH, segwit',
  p2wsh: 'P2WSH, segwit script',
  p2tr: 'P2TR, taproot',
  witness: 'undefined witness version: do not pay this address',
};

/** Returns the times of an invoice, with the relative time if it is clearer than the date. */
const timeLines = ({ timestamp, expiresAt }: Invoice, now: number): CardLine[] =>
  [
    { label: 'Made', at: timestamp * 1000 },
    { label: expiresAt > now ? 'Expires' : 'Expired', at: expiresAt },
  ].map(({ label, at }) => {
    const value = dateTime(at);
    const relative = relativeTime(at, now);
    return { label, value, note: value.startsWith(relative) ? '' : relative };
  });
