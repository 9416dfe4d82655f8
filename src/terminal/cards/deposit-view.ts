// Shows a permanent deposit address with its QR code and its accepted currency.
import { usdtAddressFields } from '../../api/reading/objects.js';
import { invoiceCard } from './invoice-card.js';
import type { RecordView } from '../rows/view.js';

export interface Deposit {
  readonly ccy: string;
  /** The common name of the blockchain, such as `TRON`. */
  readonly chain: string;
  readonly address: string;
  readonly code: string;
  readonly qrFile?: string | undefined;
}

/** The fields of the account's deposit addresses. */
export const depositFields: readonly string[] = [
  'ccy',
  'chain',
  'address',
  ...Object.keys(usdtAddressFields),
  'lightningAddress',
];

/**
 * The time until a deposit arrives, by blockchain (specification: endpoints 4 and 5, and Confirm
 * transaction).
 */
const arrivals: Readonly<Record<string, string>> = {
  Lightning: 'in seconds',
  Bitcoin: 'after confirmations, 10 to 60 minutes',
  TRON: 'in seconds',
  Ethereum: 'in about 15 minutes',
};

export function depositView({ ccy, chain, address, code, qrFile }: Deposit): RecordView<object> {
  const details = [
    {
      label: 'Only',
      value:
        chain === 'Lightning'
          ? 'bitcoin over Lightning'
          : `${ccy === 'BTC' ? 'bitcoin' : `${ccy} on ${chain}`}: anything else sent here is lost`,
    },
    { label: 'Arrives', value: arrivals[chain] ?? 'after confirmations' },
    { label: 'Valid', value: 'permanent, for any amount' },
  ];
  return {
    columns: [
      { name: 'ccy', title: 'Currency', value: () => ccy },
      { name: 'chain', title: 'Chain', value: () => chain },
      { name: 'address', title: 'Address', value: () => address },
    ],
    quiet: () => address,
    screen: (canvas) => {
      const title =
        ccy === 'BTC'
          ? `Your ${chain === 'Lightning' ? 'Lightning Address' : 'Bitcoin address'}`
          : `Your ${ccy} address on ${chain}`;
      return ['', ...invoiceCard({ title, code, text: address, details, qrFile }, canvas)];
    },
  };
}
