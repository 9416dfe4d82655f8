// The methods and rails as data: everything in which Lightning, LNURL, on-chain and USDT payments
// differ.
import type { Destination } from './destination.js';
import { entryOf } from './unknown.js';

/**
 * How soon a method settles: Lightning and swaps within seconds, payouts and TRON within minutes,
 * Bitcoin with its blocks.
 */
export type Pace = 'quick' | 'steady' | 'blocks';

interface MethodProperties {
  /** The label of its transactions: `Lightning receive`, `USDT send`. */
  readonly label: string;
  /** The name of the method on a receipt. */
  readonly route: string;
  readonly pace: Pace;
  /** How long a payment by this method usually takes. */
  readonly usualMs: number;
  /** The name of its payments in a sentence: `on-chain usually takes 30 min`. */
  readonly named: string;
  /** svcpay can request a payment by this method. */
  readonly isRequested: boolean;
}

/**
 * Methods of the specification (Payment methods). The list of payout methods is open, because
 * services add countries.
 */
const methods = {
  servicepay: {
    label: 'Wallet',
    route: 'wallet',
    pace: 'quick',
    usualMs: 2_000,
    named: 'a swap',
    isRequested: false,
  },
  lightning: {
    label: 'Lightning',
    route: 'over Lightning',
    pace: 'quick',
    usualMs: 3_000,
    named: 'Lightning',
    isRequested: true,
  },
  lnurl: {
    label: 'Lightning',
    route: 'over Lightning',
    pace: 'quick',
    usualMs: 5_000,
    named: 'Lightning',
    isRequested: false,
  },
  'on-chain': {
    label: 'On-chain',
    route: 'on-chain',
    pace: 'blocks',
    usualMs: 30 * 60_000,
    named: 'on-chain',
    isRequested: true,
  },
  tron: {
    label: 'USDT',
    route: 'on TRON',
    pace: 'steady',
    usualMs: 2 * 60_000,
    named: 'USDT on TRON',
    isRequested: false,
  },
  eth: {
    label: 'USDT',
    route: 'on Ethereum',
    pace: 'steady',
    usualMs: 5 * 60_000,
    named: 'USDT on Ethereum',
    isRequested: false,
  },
} as const satisfies Record<string, MethodProperties>;

type RailMethod = keyof typeof methods;

export const methodNames = Object.keys(methods);

/** The data of a method. Undefined for a payout and for a method that svcpay does not recognize. */
export const methodProperties = (method: string | null | undefined): MethodProperties | undefined =>
  entryOf<MethodProperties>(methods, method ?? '');

interface RailProperties {
  readonly method: RailMethod;
  readonly paysTo: readonly Destination['kind'][];
  /** The destination in a sentence, and as an argument in help. */
  readonly destination: string;
  readonly argument: string;
  /**
   * Where a create request has the amount: in the invoice, on the source or on the destination
   * (specification, endpoint 6, rules 2, 3 and 5).
   */
  readonly amount: 'in invoice' | 'on source' | 'on destination';
  readonly exampleAmount: string;
  /** A note next to the destination, if its text does not show the rail. */
  readonly note?: string;
  /** The rail settles within minutes or hours, so svcpay waits only on request. */
  readonly isSlow: boolean;
}

/** The rails of `svcpay send`. */
export const rails = {
  lightning: {
    method: 'lightning',
    paysTo: ['bolt11'],
    destination: 'a Lightning invoice',
    argument: 'INVOICE',
    amount: 'in invoice',
    exampleAmount: '50000sat',
    isSlow: false,
  },
  lnurl: {
    method: 'lnurl',
    paysTo: ['lightning-address', 'lnurl'],
    destination: 'a Lightning Address or an LNURL',
    argument: 'ADDRESS',
    amount: 'on source',
    exampleAmount: '50000sat',
    isSlow: false,
  },
  onchain: {
    method: 'on-chain',
    paysTo: ['bitcoin-address'],
    destination: 'a Bitcoin address',
    argument: 'ADDRESS',
    amount: 'on destination',
    exampleAmount: '50000sat',
    isSlow: true,
  },
  usdt: {
    method: 'tron',
    paysTo: ['tron-address', 'evm-address'],
    destination: 'a TRON address',
    argument: 'ADDRESS',
    amount: 'on destination',
    exampleAmount: '25usdt',
    note: 'USDT on TRON',
    isSlow: true,
  },
} as const satisfies Record<string, RailProperties>;

export type Rail = keyof typeof rails;

export const railProperties = (rail: Rail): RailProperties => rails[rail];

/** The rail that pays to this kind of destination. */
export const railTo = (destination: Destination['kind']): RailProperties | undefined =>
  Object.values<RailProperties>(rails).find(({ paysTo }) => paysTo.includes(destination));

/**
 * The rail of a payment's kind in the journal, such as `send lightning`. Undefined for `swap` and
 * `payout`.
 */
export const railOfKind = (kind: string): RailProperties | undefined =>
  entryOf<RailProperties>(rails, kind.replace(/^send /, ''));
