// Defines as data how the payment methods and rails differ, such as Lightning, LNURL, on-chain and
// USDT payments.
import type { BitcoinNetwork } from './address.js';
import type { Destination } from './destination.js';
import { entryOf } from './text.js';

/** The network whose invoices and addresses svcpay accepts. */
export type Network = 'mainnet' | 'testnet' | 'any';
export const networks = ['mainnet', 'testnet', 'any'] as const satisfies readonly Network[];

export const isOnNetwork = (actual: BitcoinNetwork, wanted: Network): boolean =>
  wanted === 'any' || actual === wanted;

/**
 * How soon a payment method settles. Lightning and swaps settle within seconds, payouts and TRON
 * within minutes, and Bitcoin after several blocks.
 */
export type Pace = 'quick' | 'steady' | 'blocks';

interface MethodProperties {
  /** The label of transactions by this method, such as `Lightning receive` or `USDT send`. */
  readonly label: string;
  /** The name of the payment method as a receipt shows it. */
  readonly route: string;
  readonly pace: Pace;
  /** The usual duration of a payment by this method, in ms. */
  readonly usualMs: number;
  /** The name of payments by this method in a sentence, such as `on-chain usually takes 30 min`. */
  readonly named: string;
  /** Whether svcpay can request a payment by this method. */
  readonly isRequested: boolean;
  /**
   * The fees that are usual even for a small payment, by the currency of the paying wallet. The
   * default fee limit of an agent allows these fees.
   */
  readonly usualFees?: Readonly<Record<string, string>>;
}

const lightningFees = { BTC: '0.0000001', USDT: '0.01' };
const chainFees = { BTC: '0.00002', USDT: '2' };

/**
 * The methods from the specification (Payment methods), without payout methods, because services
 * add payout countries.
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
    usualFees: lightningFees,
  },
  lnurl: {
    label: 'Lightning',
    route: 'over Lightning',
    pace: 'quick',
    usualMs: 5_000,
    named: 'Lightning',
    isRequested: false,
    usualFees: lightningFees,
  },
  'on-chain': {
    label: 'On-chain',
    route: 'on-chain',
    pace: 'blocks',
    usualMs: 30 * 60_000,
    named: 'on-chain',
    isRequested: true,
    usualFees: chainFees,
  },
  tron: {
    label: 'USDT',
    route: 'on TRON',
    pace: 'steady',
    usualMs: 2 * 60_000,
    named: 'USDT on TRON',
    isRequested: false,
    usualFees: chainFees,
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

/** Returns the properties of a method, or undefined for a payout and for an unrecognized method. */
export const methodProperties = (method: string | null | undefined): MethodProperties | undefined =>
  entryOf<MethodProperties>(methods, method ?? '');

interface RailProperties {
  readonly method: RailMethod;
  /** The currency that the recipient gets. */
  readonly ccy: 'BTC' | 'USDT';
  /** The type of destination, in words, such as `a Bitcoin address`. */
  readonly destination: string;
  /** The type of destination as an argument of the command, such as `ADDRESS`. */
  readonly argument: string;
  /**
   * Where a create request states the amount: in the invoice, on the source side, or on the
   * destination side (specification, endpoint 6, rules 2, 3 and 5).
   */
  readonly amount: 'in invoice' | 'on source' | 'on destination';
  readonly exampleAmount: string;
  /** A note next to the destination, if the text of the destination does not show the rail. */
  readonly note?: string;
  /**
   * Whether the rail settles slowly, within minutes or hours instead of seconds. svcpay waits for
   * the settlement of a slow rail only on request.
   */
  readonly isSlow: boolean;
}

/** The rails that `svcpay send` uses. */
export const rails = {
  lightning: {
    method: 'lightning',
    ccy: 'BTC',
    destination: 'a Lightning invoice',
    argument: 'INVOICE',
    amount: 'in invoice',
    exampleAmount: '50000sat',
    isSlow: false,
  },
  lnurl: {
    method: 'lnurl',
    ccy: 'BTC',
    destination: 'a Lightning Address or an LNURL',
    argument: 'ADDRESS',
    amount: 'on source',
    exampleAmount: '50000sat',
    isSlow: false,
  },
  onchain: {
    method: 'on-chain',
    ccy: 'BTC',
    destination: 'a Bitcoin address',
    argument: 'ADDRESS',
    amount: 'on destination',
    exampleAmount: '50000sat',
    isSlow: true,
  },
  usdt: {
    method: 'tron',
    ccy: 'USDT',
    destination: 'a TRON address',
    argument: 'ADDRESS',
    amount: 'on destination',
    exampleAmount: '25usdt',
    note: 'USDT on TRON',
    isSlow: true,
  },
} as const satisfies Record<string, RailProperties>;

export type Rail = keyof typeof rails;

/** Returns the rail of a payment method, or undefined for swaps, payouts and other methods. */
export const railBy = (method: string): string | undefined =>
  Object.entries(rails).find(([, each]) => each.method === method)?.[0];

export const railProperties = (rail: Rail): RailProperties => rails[rail];

const railsTo: Readonly<Record<Exclude<Destination['kind'], 'bip21'>, Rail>> = {
  bolt11: 'lightning',
  lnurl: 'lnurl',
  'lightning-address': 'lnurl',
  'bitcoin-address': 'onchain',
  'tron-address': 'usdt',
  'evm-address': 'usdt',
};

/** Returns the rail that pays to a destination. */
export const railTo = (destination: keyof typeof railsTo): Rail => railsTo[destination];

/**
 * Returns the rail of a payment kind in the journal, such as `send lightning`, or undefined for
 * `swap` and `payout`.
 */
export const railOfKind = (kind: string): RailProperties | undefined =>
  entryOf<RailProperties>(rails, kind.replace(/^send /, ''));
