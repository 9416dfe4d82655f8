// Double-entry books. Every movement sums to zero per currency, happens once, and leaves no wallet below zero.
import type Big from 'big.js';
import * as v from 'valibot';
import type { Context } from './context.js';
import type { Store } from '../storage/database.js';
import { fromUnits, toUnits } from '../wire/values.js';

/** `available` and `reserved` are a wallet; `fees` are earned, `desk` changes currencies, `outside` is the world. */
type Role = 'available' | 'reserved' | 'fees' | 'desk' | 'outside';

export interface Leg {
  /** Account id, or `house` for fees, desk and outside. */
  readonly owner: string;
  readonly role: Role;
  readonly ccy: string;
  /** Positive: the book gains. */
  readonly amount: Big;
}

/** One movement of money. A subject makes each step once. */
export interface Movement {
  /** The transaction, the deposit, or the id of a funding. */
  readonly subject: string;
  readonly step: 'fund' | 'reserve' | 'release' | 'settle';
  readonly legs: readonly Leg[];
}

export class InsufficientFunds extends Error {
  override readonly name = 'InsufficientFunds';
}

const house = 'house';
const idRow = v.object({ id: v.number() });
const balanceRow = v.object({ balance: v.number() });

export const wallet = (owner: string, ccy: string, amount: Big): Leg => ({ owner, role: 'available', ccy, amount });

export const reserved = (owner: string, ccy: string, amount: Big): Leg => ({ owner, role: 'reserved', ccy, amount });

export const houseLeg = (role: 'fees' | 'desk' | 'outside', ccy: string, amount: Big): Leg =>
  ({ owner: house, role, ccy, amount });

/** Writes a movement. Throws `InsufficientFunds`, and then nothing of it is kept. */
export function post(ctx: Context, movement: Movement): void {
  const { store, now } = ctx;
  const legs = netted(movement.legs);
  assertBalanced(legs);
  store.attempt(() => {
    const posting = store.insert('posting', { subject: movement.subject, step: movement.step, at: now });
    if (legs.length === 0) return;
    const entries = change(ctx, legs).flatMap(({ id, delta }) => [posting, id, delta]);
    const places = legs.map(() => '(?, ?, ?)').join(', ');
    store.run(`INSERT INTO entry (posting_id, book_id, amount) VALUES ${places}`, ...entries);
  });
}

export function balanceOf(store: Store, owner: string, ccy: string, role: 'available' | 'reserved'): Big {
  const id = bookOf(store, { owner, role, ccy });
  return fromUnits(ccy, id === undefined ? 0 : unitsIn(store, id));
}

/** Throws when the books do not sum to zero in some currency or a wallet owes money. Run before every commit. */
export function verifyBooks(store: Store): void {
  const wrong = store.one(
    v.object({ ccy: v.string(), total: v.number(), lowest: v.number() }),
    `SELECT ccy, sum(balance) AS total, min(CASE WHEN owner = '${house}' THEN 0 ELSE balance END) AS lowest
     FROM book GROUP BY ccy HAVING total <> 0 OR lowest < 0`,
  );
  if (wrong === undefined) return;
  const { ccy, total, lowest } = wrong;
  throw new Error(`The books are wrong: ${ccy} sums to ${total}, the lowest wallet is ${lowest}.`);
}

type BookName = Pick<Leg, 'owner' | 'role' | 'ccy'>;

/** The id of a book, which it keeps. */
function bookOf(store: Store, { owner, role, ccy }: BookName): number | undefined {
  return store.one(idRow, 'SELECT id FROM book WHERE owner = ? AND role = ? AND ccy = ?', owner, role, ccy)?.id;
}

const openBook = ({ store, now }: Context, { owner, role, ccy }: BookName): number =>
  store.insert('book', { owner, role, ccy, balance: 0, changedAt: now });

/** One book at a time: to read several rows by one statement costs more than five of these. */
function unitsIn(store: Store, id: number): number {
  return store.one(balanceRow, 'SELECT balance FROM book WHERE id = ?', id)?.balance ?? 0;
}

/** Changes the balances of books by one statement; those that are new are opened. */
function change(ctx: Context, legs: readonly Leg[]) {
  const changes = legs.map((leg) => {
    const { owner, role, ccy, amount } = leg;
    const id = bookOf(ctx.store, leg) ?? openBook(ctx, leg);
    const delta = toUnits(ccy, amount);
    const balance = unitsIn(ctx.store, id) + delta;
    if (balance < 0 && owner !== house) throw new InsufficientFunds(ccy);
    if (!Number.isSafeInteger(balance)) throw new RangeError(`The ${role} book in ${ccy} is full.`);
    return { id, delta, balance };
  });
  const cases = changes.map(() => 'WHEN ? THEN ?').join(' ');
  const places = changes.map(() => '?').join(', ');
  ctx.store.run(
    `UPDATE book SET balance = CASE id ${cases} END, changed_at = ? WHERE id IN (${places})`,
    ...changes.flatMap(({ id, balance }) => [id, balance]), ctx.now, ...changes.map(({ id }) => id),
  );
  return changes;
}

/** Joins the legs on the same book and drops those that come to nothing. */
function netted(legs: readonly Leg[]): Leg[] {
  const byBook = new Map<string, Leg>();
  for (const leg of legs) {
    const key = `${leg.owner} ${leg.role} ${leg.ccy}`;
    byBook.set(key, { ...leg, amount: leg.amount.plus(byBook.get(key)?.amount ?? 0) });
  }
  return [...byBook.values()].filter((leg) => !leg.amount.eq(0));
}

function assertBalanced(legs: readonly Leg[]): void {
  const sums = new Map<string, Big>();
  for (const leg of legs) sums.set(leg.ccy, leg.amount.plus(sums.get(leg.ccy) ?? 0));
  for (const [ccy, sum] of sums) {
    if (!sum.eq(0)) throw new Error(`A movement in ${ccy} does not balance: ${sum.toFixed()} left over.`);
  }
}
