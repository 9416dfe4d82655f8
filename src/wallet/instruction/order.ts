// Derives an order, the body of a create request, from an instruction, with the rates and balances
// of the moment when an attempt begins.
import type { Rates, Wallet } from '../../api/types.js';
import { money, type Money } from '../../formats/amount.js';
import { detectDestination, type Bip21Destination } from '../../formats/destination.js';
import {
  deducting,
  lightningOrder,
  lnurlOrder,
  onchainOrder,
  swapOrder,
  usdtOrder,
  usdtSpendOrder,
  type Order,
  type Worth,
} from '../order/orders.js';
import { payoutOrder } from '../payout/order.js';
import { inBtc } from '../receive/request.js';
import { checkOnchainAmount } from './destinations.js';
import { type Instruction, wholeOf } from './instruction.js';

/** What the service reports at the moment when an attempt begins. */
export interface Moment {
  /** The current time in epoch ms. */
  readonly now: number;
  readonly rates?: Rates | undefined;
  readonly wallets?: readonly Wallet[] | undefined;
}

/** What svcpay must read from the service before it can derive the order. */
export function needOf(instruction: Instruction): 'rates' | 'wallets' | undefined {
  if (instruction.amount === 'all') return 'wallets';
  return isConverted(instruction) ? 'rates' : undefined;
}

/**
 * Whether each attempt converts the amount to bitcoin. Only a send from the BTC wallet has an
 * amount in another currency that the service does not convert itself.
 */
function isConverted({ verb, amount, from, keys }: Instruction): boolean {
  const [key = ''] = keys;
  const isInBitcoin = key.startsWith('lnurl:') || key.startsWith('onchain:');
  const isForeign = typeof amount !== 'string' && amount.ccy !== 'BTC';
  return verb === 'send' && from === 'BTC' && isInBitcoin && isForeign;
}

/** Derives the order of a new attempt. Reads rates or wallets only if the amount needs them. */
export async function orderFor(
  instruction: Instruction,
  service: { rates(): Promise<Rates>; wallets(): Promise<Wallet[]>; serviceNow(): number },
): Promise<Order> {
  const need = needOf(instruction);
  return orderOf(instruction, {
    now: service.serviceNow(),
    ...(need === 'rates' && { rates: await service.rates() }),
    ...(need === 'wallets' && { wallets: await service.wallets() }),
  });
}

/** Throws Failure if the amount of this moment cannot be paid, such as an empty wallet. */
export function orderOf(instruction: Instruction, moment: Moment): Order {
  const { note, deductFees, isImported } = instruction;
  const order = bare(instruction, moment);
  const less = deductFees ? deducting(order) : order;
  return {
    ...less,
    body: note === undefined ? less.body : { ...less.body, note },
    idempotencyKey: instruction.once,
    ...(isImported === true && { isImported }),
  };
}

function bare(instruction: Instruction, moment: Moment): Order {
  const { verb, from, to, amount } = instruction;
  switch (verb) {
    case 'swap': {
      const side = typeof amount !== 'string' && amount.side === 'gets' ? 'dest' : 'source';
      return swapOrder(from, to, spent(instruction, moment).amount, side);
    }
    case 'payout':
      return payoutOrder(instruction, spent(instruction, moment).amount);
    case 'send':
      return send(instruction, moment);
  }
}

function send(instruction: Instruction, moment: Moment): Order {
  const { to, from, amount } = instruction;
  const found = detectDestination(to);
  switch (found.kind) {
    case 'bolt11':
      return lightningOrder(found.value, from);
    case 'bip21':
      return uriOrder(found.value, instruction, moment);
    case 'lnurl':
    case 'lightning-address': {
      const { amount: debit, worth } = spent(instruction, moment);
      return { ...lnurlOrder(found.text, debit), worth };
    }
    case 'bitcoin-address':
      return addressOrder(found.value.address, instruction, moment);
    case 'tron-address':
    case 'evm-address': {
      const { address } = found.value;
      const { amount: asked } = spent(instruction, moment);
      const isDebit = amount === 'all' || (typeof amount !== 'string' && amount.side === 'debits');
      return isDebit ? usdtSpendOrder(address, asked) : usdtOrder(address, asked, from);
    }
  }
}

/** Pays the invoice of a URI while it is valid, otherwise the address. */
function uriOrder(
  { bitcoin, invoice }: Bip21Destination,
  instruction: Instruction,
  moment: Moment,
): Order {
  const { ways = [], from } = instruction;
  const isValid = invoice !== null && invoice.expiresAt > moment.now;
  const isOverLightning = ways[0] === 'lightning' && (ways.length === 1 || isValid);
  if (invoice !== null && (isOverLightning || bitcoin === null))
    return lightningOrder(invoice, from);
  return addressOrder(bitcoin?.address ?? '', instruction, moment);
}

function addressOrder(address: string, instruction: Instruction, moment: Moment): Order {
  const { amount, worth } = spent(instruction, moment);
  checkOnchainAmount(amount);
  return { ...onchainOrder(address, amount, instruction.from), worth };
}

interface Spent {
  readonly amount: Money;
  readonly worth?: Worth | undefined;
}

/** The exact amount of this moment, with the amount before its conversion to bitcoin. */
function spent(instruction: Instruction, { rates = {}, wallets = [] }: Moment): Spent {
  const { amount, from } = instruction;
  if (amount === 'all') return { amount: wholeOf(from, wallets) };
  if (amount === 'invoice') throw new Error('An order for an invoice states no amount.');
  const { ccy, value } = amount;
  if (!isConverted(instruction)) return { amount: money(ccy, value) };
  const { amount: bitcoin, worth } = inBtc({ ccy, value }, rates);
  return { amount: bitcoin, worth: worth && { ...worth.given, rate: worth.rate } };
}
