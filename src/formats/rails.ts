// The rails that money takes, as data: everything in which Lightning, LNURL, on-chain and USDT payments differ.
import type { Destination } from './destination.js';
import { entryOf } from './unknown.js';

/** How soon a rail settles: Lightning and swaps within seconds, payouts and TRON within minutes, Bitcoin with its blocks. */
export type Pace = 'quick' | 'steady' | 'blocks';

interface MethodFacts {
  /** Of its transactions: `Lightning receive`, `USDT send`. */
  readonly label: string;
  /** On a receipt. */
  readonly route: string;
  /** In a line that names the amount. */
  readonly by: string;
  readonly pace: Pace;
  /** svcpay can request a payment over it. */
  readonly isRequested: boolean;
}

/** Methods of the specification (Payment methods). Payout methods are open: services add countries. */
const methods = {
  servicepay: { label: 'Wallet', route: 'wallet', by: 'wallet', pace: 'quick', isRequested: false },
  lightning: {
    label: 'Lightning',
    route: 'over Lightning',
    by: 'over Lightning',
    pace: 'quick',
    isRequested: true,
  },
  lnurl: {
    label: 'Lightning',
    route: 'over Lightning',
    by: 'over Lightning',
    pace: 'quick',
    isRequested: false,
  },
  'on-chain': {
    label: 'On-chain',
    route: 'on-chain',
    by: 'on-chain',
    pace: 'blocks',
    isRequested: true,
  },
  tron: { label: 'USDT', route: 'on TRON', by: 'USDT', pace: 'steady', isRequested: false },
  eth: { label: 'USDT', route: 'on Ethereum', by: 'USDT', pace: 'steady', isRequested: false },
} as const satisfies Record<string, MethodFacts>;

type RailMethod = keyof typeof methods;

export const methodNames = Object.keys(methods);

/** Undefined for a payout and for a method that svcpay does not recognize. */
export const methodFacts = (method: string | null | undefined): MethodFacts | undefined =>
  entryOf<MethodFacts>(methods, method ?? '');

interface Rail {
  readonly method: RailMethod;
  readonly paysTo: readonly Destination['kind'][];
  /** Its destination in a sentence, and as an argument in help. */
  readonly destination: string;
  readonly argument: string;
  /** Specification, endpoint 6, rules 2, 3 and 5: the invoice has it, or it stands on the source, or on the destination. */
  readonly amount: 'in invoice' | 'on source' | 'on destination';
  readonly exampleAmount: string;
  /** Beside the destination, where its text does not show the rail. */
  readonly note?: string;
  /** It settles within minutes or hours, so svcpay waits only on request. */
  readonly isSlow: boolean;
}

/** Every kind of `svcpay send`. */
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
} as const satisfies Record<string, Rail>;

export type SendKind = keyof typeof rails;

export const railOf = (kind: SendKind): Rail => rails[kind];

/** The rail that pays to this kind of destination. */
export const railTo = (destination: Destination['kind']): Rail | undefined =>
  Object.values<Rail>(rails).find(({ paysTo }) => paysTo.includes(destination));

/** How a payment of the journal travels, from its kind in words: `send lightning` gives `over Lightning`. */
export const routeOfKind = (kind: string): string =>
  methodFacts(entryOf<Rail>(rails, kind.replace(/^send /, ''))?.method)?.by ?? kind;
