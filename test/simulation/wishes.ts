// The payments of every kind that the simulated users of a schedule intend to make. Except for
// swaps, two payments have the same destination only if they share an invoice.
import Big from 'big.js';
import { money } from '../../src/formats/amount.js';
import { decodeInvoice, type Invoice } from '../../src/formats/bolt11/decode.js';
import { encodeInvoice } from '../../src/formats/bolt11/encode.js';
import type { Order } from '../../src/wallet/order/orders.js';
import {
  deducting,
  lightningOrder,
  lnurlOrder,
  onchainOrder,
  swapOrder,
  usdtOrder,
} from '../support/orders.js';
import { wireJson } from '../../src/api/wire.js';
import { instructionOfOrder, orderOf } from '../../src/wallet/instruction/order.js';
import type { Instruction } from '../../src/wallet/instruction/instruction.js';
import { instructionOf as payoutOf } from '../../src/wallet/payout/methods.js';
import { bitcoinAddress, tronAddress } from '../support/destinations.js';
import type { Chance } from './world.js';

/**
 * A payment that a person wants; a repeated command still means this payment, not a second payment.
 */
export interface Wish {
  readonly name: string;
  readonly instruction: Instruction;
  /** The order of the instruction, if it were paid at once. */
  readonly order: Order;
  readonly ref: string | undefined;
  readonly consent: 'yes' | 'asked';
}

const keys = new WeakMap<object, string>();

/** Returns a key of an order, which equals the `askedKey` of the order's create request. */
export function keyOf({ body }: Order): string {
  const known = keys.get(body);
  if (known !== undefined) return known;
  const key = canonical(JSON.parse(wireJson(body)));
  keys.set(body, key);
  return key;
}

export function askedKey({ asked }: { readonly asked: object }): string {
  const known = keys.get(asked);
  if (known !== undefined) return known;
  const key = canonical(asked);
  keys.set(asked, key);
  return key;
}

/** Returns a value as text with sorted keys, without its reference and note. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([name]) => name !== 'extRefId' && name !== 'note');
  return `{${entries
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, each]) => `${name}:${canonical(each)}`)
    .join(',')}}`;
}

export const satoshi = 1e-8;
export const kinds = ['lightning', 'lnurl', 'onchain', 'usdt', 'swap', 'payout'] as const;
type Kind = (typeof kinds)[number];

const asked = (instruction: Instruction): Pick<Wish, 'instruction' | 'order'> => ({
  instruction,
  order: orderOf(instruction, { now: 0 }),
});

/** @param number decides the destination and the amount, so that instructions of one kind differ */
export const instructionFor = (kind: Kind, number: number): Instruction =>
  kind === 'payout' ? payout(number) : instructionOfOrder(simpleOrder(kind, number), false);

function simpleOrder(kind: Exclude<Kind, 'payout'>, number: number): Order {
  const sats = new Big(1_000 + number).times(satoshi);
  if (kind === 'lightning') return lightningOrder(invoice(number), 'BTC');
  if (kind === 'lnurl') return lnurlOrder(`user${number}@pay.example`, money('BTC', sats));
  if (kind === 'onchain') {
    const order = onchainOrder(bitcoinAddress(number), money('BTC', sats), 'BTC');
    return number % 2 === 1 ? deducting(order) : order;
  }
  if (kind === 'usdt')
    return usdtOrder(
      tronAddress(number),
      money('USDT', new Big(number + 1)),
      number % 2 === 1 ? 'BTC' : 'USDT',
    );
  return swapOrder(
    'USDT',
    'BTC',
    money(...swapped(number, sats)),
    number % 2 === 1 ? 'dest' : 'source',
  );
}

const swapped = (number: number, sats: Big): [string, Big] =>
  number % 2 === 1 ? ['BTC', sats] : ['USDT', new Big(2 + number)];

function payout(number: number): Instruction {
  const amount = money('VND', new Big(50_000 + number * 1_000));
  const kyc = (legalFullName: string, countryCode: string) => ({
    type: 'individual' as const,
    details: { legalFullName, countryCode },
  });
  const reqDetails = { acctName: 'BINH', acctNum: `0123${number}`, institutionCode: 'VCB' };
  return payoutOf(
    {
      sourceReq: { ccy: 'BTC', method: 'servicepay', reqDetails: {}, kyc: kyc('Ann', 'US') },
      destReq: {
        ccy: 'VND',
        method: 'vnd-instant',
        reqDetails,
        kyc: kyc('Binh', 'VN'),
      },
      sourceOfFunds: { purpose: 1, source: 2, relationship: 3 },
    },
    amount,
  );
}

const invoices = new Map<number, Invoice>();

export function invoice(number: number): Invoice {
  const known = invoices.get(number);
  if (known !== undefined) return known;
  const hash = (number + 1).toString(16).padStart(64, '0');
  const fields = {
    amountMsat: BigInt(1_000 + number) * 1000n,
    description: 'tea',
    timestamp: 1_736_899_200,
    expiry: 86_400,
  };
  const text = encodeInvoice(
    { network: 'mainnet', paymentHash: hash, paymentSecret: hash, ...fields },
    new Uint8Array(32).fill(7),
  );
  const made = decodeInvoice(text);
  invoices.set(number, made);
  return made;
}

/**
 * Returns the amount of an invoice without decoding the invoice: decoding every invoice would take
 * half of the run time.
 */
export const invoiceSats = (paymentRequest: string): number =>
  1_000 + ([...invoices].find(([, { invoice: text }]) => text === paymentRequest)?.[0] ?? 0);

/**
 * The kinds of payments, repeated according to their frequency. Payments of invoices (which can be
 * paid only once) and to Lightning Addresses (which can be paid repeatedly) are the most frequent.
 */
const frequent: readonly [Kind, ...Kind[]] = ['lightning', 'lightning', 'lnurl', 'lnurl', ...kinds];

export type Some<T> = [T, ...T[]];

/**
 * Picks at random one intended payment or, less often, several. Some of these payments share an
 * invoice, and some have no reference.
 */
export function drawWishes(chance: Chance, most: number): Some<Wish> {
  const wish = (number: number): Wish => ({
    name: `wish-${number}`,
    ...asked(instructionFor(chance.pick(frequent), number)),
    ref: chance.hits(0.7) ? `ref-${number}` : undefined,
    consent: chance.hits(0.6) ? 'yes' : 'asked',
  });
  const wishes: Some<Wish> = [wish(0)];
  while (wishes.length < most && chance.hits(0.35)) {
    const [first] = wishes;
    const again = chance.hits(0.3) && first.order.idempotencyKey !== null;
    const next = wish(wishes.length);
    const { instruction, order } = first;
    wishes.push(again ? { ...next, instruction, order } : next);
  }
  return wishes;
}
