// Applies a budget: what those who pay for the owner may spend. svcpay checks a budget in the
// database transaction that records the submission. Pure.
import type { Money } from '../../formats/amount.js';
import { Failure } from '../../formats/failure.js';
import type { Budget, Spend } from '../../store/journal/journal.js';
import type { Order } from '../order/orders.js';
import { excess, isPayable } from './limits.js';

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
  if (stopped === 'all') throw refuse('all budgets are stopped');
  if (stopped === 'this') throw refuse(`the budget ${name} is stopped`);
  if (rules.expiresAt !== null && time >= rules.expiresAt)
    throw refuse(`the budget ${name} has expired`);
  if (rules.kinds.length > 0 && !rules.kinds.includes(kindOf(order)))
    throw refuse(`the budget ${name} does not allow a payment by ${kindOf(order)}`);
  const [debit] = amounts;
  const hasFigure = (ccy: string): boolean => ccy in rules.perDay || ccy in rules.total;
  const endless = amounts.slice(0, 1).find(({ ccy }) => !hasFigure(ccy));
  if (endless !== undefined) throw refuse(`the budget ${name} has no figure in ${endless.ccy}`);
  const whose = `the budget ${name}'s`;
  if (!isPayable(rules.destinations, order))
    throw refuse(`${order.destination} is not a payee of the budget ${name}`, debit);
  const unasked = { rule: `${whose} ask-above amount`, limit: rules.askAbove };
  const asked = excess([unasked], amounts);
  if (asked !== undefined) throw refuse(asked, debit);
  const over = excess(
    [
      { rule: `${whose} per-payment limit`, limit: rules.perPayment },
      { rule: `${whose} daily limit`, limit: rules.perDay, spent: () => spentToday },
      { rule: `${whose} total`, limit: rules.total, spent: () => spentEver },
    ],
    amounts,
  );
  if (over !== undefined) throw refuse(over);
}

/** Throws Failure `limit` if a row of a proposed batch would exceed its highest total. */
export function checkProposed(
  limit: Readonly<Record<string, string>>,
  charged: readonly Spend[],
  [debit]: readonly Money[],
): void {
  const rule = { rule: "the proposal's highest total", limit, spent: () => charged };
  const over = excess([rule], debit === undefined ? [] : [debit]);
  if (over !== undefined) throw new Failure('limit', `${over}.`, { money: 'Nothing moved' });
}
