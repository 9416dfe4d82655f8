// Reads the destination of a payment from what was given, and says what else it is where another kind was expected.
import { btcFromMsat, formatAmount, money, parseAmount, type Money } from '../../formats/amount.js';
import type { Invoice } from '../../formats/bolt11/decode.js';
import { detectDestination, type Destination } from '../../formats/destination.js';
import { Failure } from '../../formats/failure.js';
import type { Context } from '../context.js';
import { wordOrStdin } from '../stdin.js';

type Kind = Destination['kind'];

const names: Readonly<Record<Kind, string>> = {
  bolt11: 'a Lightning invoice',
  'bitcoin-address': 'a Bitcoin address',
  'tron-address': 'a TRON address',
  'evm-address': 'an Ethereum address',
  lnurl: 'an LNURL',
  'lightning-address': 'a Lightning Address',
  bip21: 'a bitcoin: URI',
};

/** From the command line, or for `-` from stdin. Throws Failure `usage` when it is broken or of none of these kinds. */
export async function readDestination<K extends Kind>(
  given: string,
  kinds: readonly K[],
  context: Pick<Context, 'stdin'>,
): Promise<Extract<Destination, { kind: K }>> {
  const found = detectDestination(await wordOrStdin(given, context));
  if (isOneOf(found, kinds)) return found;
  const wanted = kinds.map((kind) => names[kind]).join(' or ');
  throw new Failure('usage', `Not sent: this is ${names[found.kind]}, and ${wanted} is needed here.`, {
    hint: 'svcpay send DESTINATION [AMOUNT] finds out by itself what to do with it.',
  });
}

const isOneOf = <K extends Kind>(found: Destination, kinds: readonly K[]): found is Extract<Destination, { kind: K }> =>
  kinds.some((kind) => kind === found.kind);

/** The amount to send, where nothing else says it. */
export function neededAmount(given: string | undefined, ccy: string): Money {
  if (given !== undefined) return parseAmount(given, ccy);
  const example = ccy === 'BTC' ? '50000sat' : `25${ccy.toLowerCase()}`;
  throw new Failure('usage', `Not sent: the amount is missing. Add it after the destination, such as ${example}.`);
}

/** Throws Failure `usage` when an amount is given beside a destination that names another one. */
export function checkSameAmount(given: string | undefined, named: Money, where: string): void {
  if (given === undefined || parseAmount(given, named.ccy).value.eq(named.value)) return;
  throw new Failure('usage', `Not sent: ${where} is for ${formatAmount(named)}, not for ${given}.`, {
    hint: 'Leave the amount out, or ask for a new one.',
  });
}

/** The amount that an invoice names. */
export function invoiceAmount({ amountMsat }: Invoice): Money | undefined {
  return amountMsat === null ? undefined : money('BTC', btcFromMsat(amountMsat));
}

/** Specification: Payment methods, eth. */
export function notYetAvailable(): Failure {
  return new Failure('usage', 'Not sent: USDT on Ethereum is announced by the service, but not yet available.', {
    hint: 'Ask the recipient for a TRON address, which begins with T.',
  });
}
