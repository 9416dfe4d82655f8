// Applies the rules of this home before money moves: the spending limits and the budgets (the
// highest amounts per payment, per day and in all), the allowed payees, and the comparison with
// earlier payments. svcpay combines the limits of several sources, and each source can only make
// the result stricter. Pure.
import Big from 'big.js';
import {
  amountWithSats,
  fixed,
  isCurrency,
  money,
  type Money,
  parseAmount,
} from '../../formats/amount.js';
import { Failure, orFailure, type NextStep, invalid } from '../../formats/failure.js';
import type { Spend, Budget } from '../../store/journal/journal.js';
import type { Limits } from '../../store/profile/profiles.js';
import { type Order, decodeOrder } from '../order/orders.js';
import type { Quote } from '../quote/quote.js';
import { type Destination, detectDestination } from '../../formats/destination.js';
import {
  exact,
  keysOf,
  nodeKey as keyOfNode,
  instructionOf,
  type Instruction,
  isShared,
} from '../instruction/instruction.js';
import { latest, mayHavePaid, status, type Payment } from '../../store/journal/payment.js';

export const noLimits: Limits = { perPayment: {}, perDay: {}, destinations: [] };

/** The rules that limit amounts, with their names on screens. */
export const ruleNames = { perPayment: 'per payment', perDay: 'per day' } as const;
export type Rule = keyof typeof ruleNames;

export const rules = ['perPayment', 'perDay'] as const;

/** Returns a value for each rule that limits amounts. */
export const byRule = <T>(valueOf: (rule: Rule) => T): Readonly<Record<Rule, T>> => ({
  perPayment: valueOf('perPayment'),
  perDay: valueOf('perDay'),
});

/** Whether an order is an internal swap, which is exempt from the allow-list. */
const isInternalSwap = ({ body }: Order): boolean => body.destReq.method === 'servicepay';

/** Whether the names are empty or contain the payee. A swap has no payee. */
export const isPayable = (names: readonly string[], order: Order): boolean =>
  names.length === 0 || isInternalSwap(order) || isAllowed(order.key, names);

/**
 * Throws Failure `limit` for a destination that is not on the allow-list. An empty allow-list
 * allows all destinations.
 */
export function checkDestination({ destinations }: Limits, order: Order): void {
  if (isPayable(destinations, order)) return;
  throw overLimits(`${order.destination} is not on your allow-list of destinations`, {
    do: 'allow',
    destination: allowedName(order.destination),
  });
}

const overLimits = (reason: string, next: NextStep): Failure =>
  new Failure('limit', `${reason}.`, { money: 'Not sent', next });

/**
 * Returns the spending of an order before its quote: the amount without fees, in the currency of
 * the debit. If the recipient gets an amount in a different currency from the debit, this amount
 * also counts towards the limits of its currency.
 */
export function knownAmounts(order: Order): Money[] {
  const { sourceReq } = order.body;
  const { amtRequested } = sourceReq;
  const asked = amtRequested === undefined ? [] : [money(sourceReq.ccy, amtRequested)];
  return inEachCurrency([...asked, ...arriving(order)]);
}

/**
 * Returns the spending of a quote, including fees. If the recipient gets an amount in a different
 * currency from the debit, this amount also counts towards the limits of its currency.
 */
export const quotedAmounts = (
  order: Order,
  { total, receives }: Pick<Quote, 'total' | 'receives'>,
): Money[] => inEachCurrency([total, ...arriving(order, receives)]);

function arriving(order: Order, quoted?: Money): Money[] {
  const arrives = order.receives ?? quoted;
  return arrives === undefined || isInternalSwap(order) ? [] : [arrives];
}

const inEachCurrency = (amounts: readonly Money[]): Money[] =>
  amounts.filter(({ ccy }, index) => amounts.findIndex((each) => each.ccy === ccy) === index);

/**
 * Throws Failure `limit` if this payment exceeds a limit, alone or together with the last day's
 * payments.
 * @param spent the last day's spending, as {@link spentIfLimited} reads it
 */
export function checkSpend(
  limits: Limits,
  amounts: readonly Money[],
  spent: readonly Spend[],
): void {
  const reason = excess(
    [
      { rule: 'your per-payment limit', limit: limits.perPayment },
      { rule: 'your daily limit', limit: limits.perDay, spent },
    ],
    amounts,
  );
  if (reason !== undefined) throw overLimits(reason, { do: 'see-limits' });
}

/** The spending of the last day, which svcpay reads only if there is a daily limit. */
export const spentIfLimited = async (
  { perDay }: Limits,
  read: () => Promise<readonly Spend[]>,
): Promise<readonly Spend[]> => (Object.keys(perDay).length > 0 ? read() : []);

/** The highest amounts by one rule, by currency. */
interface Figure {
  /** The rule in words, such as `your daily limit`. */
  readonly rule: string;
  readonly limit: Readonly<Record<string, string>>;
  /** What was spent before, if the rule limits a sum. */
  readonly spent?: readonly Spend[];
}

/** Returns why an amount exceeds a figure, or undefined if none does. */
export function excess(figures: readonly Figure[], amounts: readonly Money[]): string | undefined {
  for (const amount of amounts) {
    const { ccy, value } = amount;
    for (const { rule, limit, spent } of figures) {
      const most = limit[ccy];
      const used = most === undefined ? undefined : spent && sumOf(spent, ccy);
      if (most === undefined || value.plus(used?.value ?? 0).lte(most)) continue;
      const [given, limited] = [amount, money(ccy, most)].map(amountWithSats);
      const sum = used === undefined ? '' : `, of which ${amountWithSats(used)} is used`;
      return `${given} is over ${rule} of ${limited}${sum}`;
    }
  }
  return undefined;
}

/** The total spending in one currency. */
export function sumOf(spent: readonly Spend[], ccy: string): Money {
  const total = spent
    .filter((each) => each.ccy === ccy)
    .reduce((sum, each) => sum.plus(each.total), new Big(0));
  return { ccy, value: total };
}

/**
 * Returns the lower of two limits for each currency, and the destinations that both allow-lists
 * contain.
 */
export function narrower(a: Limits, b: Limits): Limits {
  return {
    ...byRule((rule) => lower(a[rule], b[rule])),
    destinations: common(a.destinations, b.destinations),
  };
}

function lower(
  a: Readonly<Record<string, string>>,
  b: Readonly<Record<string, string>>,
): Record<string, string> {
  const kept = Object.entries(b).filter(
    ([ccy, amount]) => a[ccy] === undefined || new Big(amount).lt(a[ccy]),
  );
  return { ...a, ...Object.fromEntries(kept) };
}

/**
 * An entry that matches no destination. svcpay uses this entry if two allow-lists have no common
 * destination, because an empty allow-list would allow all destinations.
 */
const nowhere = 'no destination';

function common(a: readonly string[], b: readonly string[]): string[] {
  if (a.length === 0 || b.length === 0) return [...a, ...b];
  const both = a.filter((each) => b.includes(each));
  return both.length === 0 ? [nowhere] : both;
}

const variables = {
  perPayment: 'SVCPAY_LIMIT_PER_PAYMENT',
  perDay: 'SVCPAY_LIMIT_PER_DAY',
} as const;

/**
 * Reads limits from the environment. Throws Failure `usage` for an invalid list of amounts instead
 * of ignoring the list.
 */
export function limitsFrom(env: Readonly<Record<string, string | undefined>>): Limits {
  return {
    ...noLimits,
    ...byRule((rule) => amountsIn(env, variables[rule])),
  };
}

const amountsIn = (
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): Record<string, string> =>
  (env[name] ?? '')
    .split(',')
    .filter((text) => text.trim() !== '')
    .map((text) => {
      const { ccy, value } = amountIn(text.trim(), name);
      return { [ccy]: fixed(value) };
    })
    .reduce(lower, {});

function amountIn(text: string, name: string) {
  try {
    const amount = parseAmount(text);
    if (isCurrency(amount.ccy)) return amount;
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
  }
  throw invalid(`${name} is not a list of amounts: "${text}".`, {
    hint: 'Write amounts with their units, e.g. 100000sat,25usdt.',
  });
}

const nodeKey = /^0[23][0-9a-f]{64}$/i;
const accountAtInstitution = /^([!-9;-~]+):([!-9;-~]+)$/;
const uriScheme = /^(lightning|bitcoin|lnurlp|https?):/i;

/**
 * Reads a destination: an invoice (which stands for its node), a node key, an address, an LNURL, a
 * Lightning Address, or `INSTITUTION:ACCOUNT` for payouts. Returns the names under which the
 * allow-list stores the destination (two for a `bitcoin:` URI with an address and an invoice).
 * Throws Failure `usage` for a text that is not a destination.
 */
export function readAllowed(text: string): string[] {
  const name = text.trim();
  if (nodeKey.test(name)) return [name.toLowerCase()];
  if (accountAtInstitution.test(name) && !uriScheme.test(name)) return [name];
  try {
    return namesOf(detectDestination(name));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw invalid(error.message, {
      hint:
        'Use an invoice, a node key, an address, an LNURL, a Lightning Address, ' +
        'or INSTITUTION:ACCOUNT for payouts.',
    });
  }
}

function namesOf(found: Destination): string[] {
  if (found.kind === 'bolt11') return [found.value.payee];
  if (found.kind !== 'bip21') return [found.text];
  const { bitcoin, invoice } = found.value;
  return [bitcoin?.address, invoice?.payee].filter((name) => name !== undefined);
}

/** Whether the payee with a destination key is on the list of stored names. */
export const isAllowed = (key: string, names: readonly string[]): boolean =>
  names.some((name) => isPayee(key, name));

function isPayee(key: string, name: string): boolean {
  if (nodeKey.test(name)) return key === keyOfNode(name.toLowerCase());
  const [, institution = '', account] = accountAtInstitution.exec(name) ?? [];
  if (account !== undefined && !uriScheme.test(name))
    return key.startsWith('bank:') && key.endsWith(`/${institution.toUpperCase()}:${account}`);
  // An entry that names no destination, such as `nowhere`, allows nothing.
  const found = orFailure(() => detectDestination(name));
  return !(found instanceof Failure) && keysOf(found).includes(key);
}

/**
 * Returns the name under which the allow-list stores a destination. The allow-list stores the
 * destination `method:institution:account` of a payout as `institution:account`.
 */
function allowedName(destination: string): string {
  const [, institution, account, ...more] = destination.split(':');
  return institution === undefined || account === undefined || more.length > 0
    ? destination
    : `${institution}:${account}`;
}

/** The refusal of a payment by the budget of its run. */
export class OverBudget extends Failure {
  constructor(
    readonly budget: string,
    reason: string,
    /** The total that the owner may approve instead, or undefined if the refusal is final. */
    readonly forOwner?: Money,
  ) {
    super('limit', `${reason}.`, {
      money: 'Not sent',
      next: { do: 'run', command: 'budget show', argument: budget },
    });
  }
}

/** The kind of an order as a budget names it: `swap`, `payout`, or the rail of a send. */
const kindOf = ({ kind }: Order): string => kind.replace('send ', '');

/**
 * Throws {@link OverBudget} for a payment that the budget does not allow.
 * @param amounts the debit with its fees, and the amount in another currency that arrives
 */
export function checkBudget(
  name: string,
  budget: Budget | undefined,
  order: Order,
  amounts: readonly Money[],
): void {
  const refuse = (reason: string, forOwner?: Money): OverBudget =>
    new OverBudget(name, reason, forOwner);
  if (budget === undefined) throw refuse(`there is no budget "${name}"`);
  const { rules, stopped, time, spentToday, spentEver } = budget;
  const { perPayment, perDay, total, askAbove, kinds, destinations, expiresAt } = rules;
  const theBudget = `the budget ${name}`;
  if (stopped === 'all') throw refuse('all budgets are stopped');
  if (stopped === 'this') throw refuse(`${theBudget} is stopped`);
  if (expiresAt !== null && time >= expiresAt) throw refuse(`${theBudget} has expired`);
  const kind = kindOf(order);
  if (kinds.length > 0 && !kinds.includes(kind))
    throw refuse(`${theBudget} does not allow a payment by ${kind}`);
  const [debit] = amounts;
  if (debit !== undefined && !(debit.ccy in { ...perDay, ...total }))
    throw refuse(`${theBudget} has no figure in ${debit.ccy}`);
  if (!isPayable(destinations, order))
    throw refuse(`${order.destination} is not a payee of ${theBudget}`, debit);
  const reason = excess([{ rule: `${theBudget}'s ask-above amount`, limit: askAbove }], amounts);
  if (reason !== undefined) throw refuse(reason, debit);
  const excessive = excess(
    [
      { rule: `${theBudget}'s per-payment limit`, limit: perPayment },
      { rule: `${theBudget}'s daily limit`, limit: perDay, spent: spentToday },
      { rule: `${theBudget}'s total`, limit: total, spent: spentEver },
    ],
    amounts,
  );
  if (excessive !== undefined) throw refuse(excessive);
}

/** Throws Failure `limit` if a row of a proposed batch would exceed its highest total. */
export function checkProposed(
  limit: Readonly<Record<string, string>>,
  charged: readonly Spend[],
  [debit]: readonly Money[],
): void {
  const rule = { rule: "the proposal's highest total", limit, spent: charged };
  const reason = excess([rule], debit === undefined ? [] : [debit]);
  if (reason !== undefined) throw new Failure('limit', `${reason}.`, { money: 'Nothing moved' });
}

/** An earlier payment of the same amount to the same payee. */
export interface EarlierPayment {
  readonly payment: Payment;
  /**
   * The status of the earlier payment. An `unfinished` payment was submitted, and its outcome is
   * unknown.
   */
  readonly is: 'unfinished' | 'paid';
  /** The time when svcpay submitted the earlier payment, in epoch ms. */
  readonly at: number;
}

/** The number of earlier payments that svcpay compares with a new payment. */
export const mostCompared = 1_000;

/** What is compared with earlier payments. */
export interface Asked {
  readonly instruction: Instruction;
  /** The order, if it is already derived. Its converted amount is compared too. */
  readonly order: Order | undefined;
  /** A payment with this reference is the payment itself, and never counts as an earlier one. */
  readonly ref: string | undefined;
}

export interface Window {
  readonly now: number;
  /** How long a paid payment counts, in ms. An unfinished payment always counts. */
  readonly paidWithinMs: number;
}

/**
 * Finds the latest payment of the same amount, as asked or as converted, to the same payee. An
 * invoice is never the same again, because it can be paid only once, and a swap has no payee. The
 * address of a `bitcoin:` URI counts, whether the URI or the address was paid.
 * @param payments payments of the journal, in any order
 */
export function sameAgain(
  asked: Asked,
  payments: readonly Payment[],
  { now, paidWithinMs }: Window,
): EarlierPayment | undefined {
  const keys = payees(asked.instruction);
  const amounts = amountsOf(asked.instruction, asked.order);
  if (keys.length === 0) return undefined;
  const isSame = (payment: Payment): boolean => {
    const other = instructionOf(payment);
    return (
      payment.ref !== asked.ref &&
      payees(other).some((key) => keys.includes(key)) &&
      amountsOf(other, decodeOrder(latest(payment).request)).some((each) => amounts.includes(each))
    );
  };
  return payments
    .flatMap((payment): EarlierPayment[] => {
      const is = stageOf(payment, now - paidWithinMs);
      const at = latest(payment).submittedAt ?? payment.openedAt;
      return is !== undefined && isSame(payment) ? [{ payment, is, at }] : [];
    })
    .toSorted((a, b) => b.at - a.at)[0];
}

/** The keys by which a repetition is recognized. */
export const payees = ({ verb, keys }: Instruction): readonly string[] =>
  verb === 'swap' ? [] : keys.filter((key) => !isShared(key));

/** The amount as asked and the amount as converted, as texts. */
function amountsOf(instruction: Instruction, order: Order | undefined): readonly string[] {
  const asked = exact(instruction);
  const { sourceReq, destReq } = order?.body ?? {};
  const side = destReq?.amtRequested === undefined ? sourceReq : destReq;
  return [
    ...(asked === undefined ? [] : [text(asked.ccy, asked.value)]),
    ...(side?.amtRequested === undefined ? [] : [text(side.ccy, side.amtRequested)]),
    ...(order?.receives === undefined ? [] : [text(order.receives.ccy, order.receives.value)]),
  ];
}

const text = (ccy: string, value: Big | number): string => `${fixed(new Big(value))} ${ccy}`;

function stageOf(payment: Payment, since: number): EarlierPayment['is'] | undefined {
  if (status(payment) === 'paid') return payment.updatedAt > since ? 'paid' : undefined;
  return mayHavePaid(payment) ? 'unfinished' : undefined;
}
