// The trail of a payment: its story, step by step, as rows that never change. Each row is written
// in the database transaction of the change that it describes. Replays trails, and compares the
// stored payments with the ends of their trails.
import * as v from 'valibot';
import { clip, grouped, messageOf } from '../../formats/text.js';
import {
  placeholders,
  rowOf,
  TimeFromNow,
  type Statement,
  type SqlDatabase,
  jsonOf,
} from '../database/sql.js';
import {
  actorOfJson,
  nothingStored,
  changingSteps,
  detailSchema,
  encodeDetail,
  stored,
  tellingSteps,
  type Actor,
  type ChangingStep,
  type Detail,
  type StepName,
  type TrailStep,
  unnamedActor,
} from './steps.js';
import {
  latest,
  mayFollow,
  attemptStates,
  withAttempt,
  type Attempt,
  type AttemptState,
  type Payment,
  type PaymentChange,
  outcomeOf,
} from './payment.js';
import type { CheckedPayment } from './journal.js';
import { readRows, selectPayments } from './rows.js';

interface NewStep {
  readonly step: StepName;
  readonly attempt: number | null;
  readonly detail: Detail;
  readonly ago?: number | undefined;
}

/** The steps of a change, oldest first. */
export function stepsOf(
  before: Payment | undefined,
  after: Payment,
  { attempt, trail = {} }: PaymentChange,
  isImport = false,
): NewStep[] {
  const current = (before ?? after).attempts.at(-1)?.number ?? null;
  const told = (trail.steps ?? []).map(({ detail = {}, ...each }) => ({
    ...each,
    attempt: current,
    detail,
  }));
  const { detail = {} } = trail;
  const isReopened = before?.abandoned === true && !after.abandoned;
  const isAbandoned = before?.abandoned === false && after.abandoned;
  return [
    ...told,
    ...(isReopened ? [{ step: 'reopened' as const, attempt: current, detail: {} }] : []),
    ...(attempt === undefined ? [] : attemptSteps(before, attempt, detail, isImport, after.digest)),
    ...(isAbandoned ? [{ step: 'abandoned' as const, attempt: current, detail }] : []),
  ];
}

function attemptSteps(
  before: Payment | undefined,
  attempt: Attempt,
  detail: Detail,
  isImport: boolean,
  digest: string,
): NewStep[] {
  const earlier = before?.attempts.find(({ number }) => number === attempt.number);
  const news = stored.filter((name) => (earlier?.[name] ?? null) !== attempt[name]);
  const fields = Object.fromEntries(news.map((name) => [name, attempt[name]]));
  const step = (name: ChangingStep, more: Detail): NewStep[] => [
    { step: name, attempt: attempt.number, detail: { ...detail, ...fields, ...more } },
  ];
  const { resolution, state } = attempt;
  if (isImport) return step('imported', { state, digest: before === undefined ? digest : null });
  if (resolution !== null && resolution.at !== earlier?.resolution?.at)
    return step('resolved', { moved: resolution.moved, note: resolution.note });
  if (earlier?.state !== state) return step(stepTo(earlier?.state, state), {});
  return news.length === 0 ? [] : step('read', {});
}

function stepTo(from: AttemptState | undefined, to: AttemptState): ChangingStep {
  if (to === 'in-flight') return 'accepted';
  return to === 'quoted' && from === 'submitting' ? 'withdrawn' : to;
}

/**
 * The statements that append steps to the trail of the payment whose last change has the token
 * `token`.
 */
export const appendSteps = (
  id: string,
  token: string | null,
  steps: readonly NewStep[],
  by: Actor,
): Statement[] =>
  steps.map(({ step, attempt, detail, ago = 0 }) => [
    `INSERT INTO trail (payment_id, seq, attempt, at, step, actor, detail)
     SELECT id, (SELECT COALESCE(max(seq), 0) + 1 FROM trail WHERE payment_id = payments.id),
       ?, ?, ?, NULLIF(?, (SELECT actor FROM trail WHERE payment_id = payments.id
         AND actor IS NOT NULL ORDER BY seq DESC LIMIT 1)), ?
     FROM payments WHERE id = ? AND last_change IS NOT DISTINCT FROM ?`,
    attempt,
    new TimeFromNow(-Math.max(Math.round(ago), 0)),
    step,
    JSON.stringify(by),
    encodeDetail(detail),
    id,
    token,
  ]);

const rowsSchema = v.array(
  rowOf({
    paymentId: v.string(),
    seq: v.number(),
    attempt: v.nullable(v.number()),
    at: v.number(),
    step: v.string(),
    actor: v.nullable(actorOfJson),
    detail: jsonOf(detailSchema),
  }),
);

/** The query of the trails of `count` payments. */
export const selectTrails = (count: number): string =>
  `SELECT payment_id, seq, attempt, at, step, actor, detail FROM trail
   WHERE payment_id IN (${placeholders(count)}) ORDER BY payment_id, seq`;

/** Reads the trails of payments, in the order of {@link selectTrails}. */
export function readTrail(rows: readonly unknown[]): TrailStep[] {
  let by = unnamedActor;
  return v.parse(rowsSchema, rows).map(({ actor, ...step }) => {
    if (step.seq === 1) by = unnamedActor;
    by = actor ?? by;
    return { ...step, by };
  });
}

/** What a trail says about its payment. */
export interface Replayed {
  readonly digest: string | undefined;
  readonly abandoned: boolean;
  readonly attempts: readonly ReplayedAttempt[];
}
export type ReplayedAttempt = Pick<Attempt, 'number' | 'state' | (typeof stored)[number]> & {
  /** The recorded answer of `tx resolve`. */
  readonly moved: boolean | null;
};

const isChanging = (name: string): name is ChangingStep => Object.hasOwn(changingSteps, name);
const isTelling = (name: string): boolean => tellingSteps.some((each) => each === name);

/**
 * Replays a trail through the table of transitions. Throws an error that names the first step that
 * is missing, unknown or not permitted.
 */
export function replayed(trail: readonly Omit<TrailStep, 'by' | 'at' | 'paymentId'>[]): Replayed {
  let is: Replayed = { digest: undefined, abandoned: false, attempts: [] };
  for (const [index, step] of trail.entries()) {
    const { seq, step: name } = step;
    if (seq !== index + 1) throw new Error(`step ${index + 1} is missing`);
    if (isChanging(name)) is = afterStep(is, name, step);
    else if (!isTelling(name)) throw new Error(`step ${seq}, "${clip(name)}", is unknown`);
  }
  return is;
}

function afterStep(
  is: Replayed,
  name: ChangingStep,
  { seq, attempt: number, detail }: Pick<TrailStep, 'seq' | 'attempt' | 'detail'>,
): Replayed {
  if (name === 'abandoned' || name === 'reopened')
    return { ...is, abandoned: name === 'abandoned' };
  const isFirst = name === 'asked' || name === 'replaced';
  const earlier = isFirst ? undefined : is.attempts.find((each) => each.number === number);
  const imported = attemptStates.find((each) => each === detail.state);
  const state = changingSteps[name] ?? imported ?? earlier?.state;
  const isNew = earlier === undefined && (isFirst || number !== null) && state !== 'submitting';
  const isPermitted = name === 'imported' || isNew || mayFollow(earlier?.state, state);
  if (number === null || state === undefined || !isPermitted)
    throw new Error(`step ${seq}, "${name}", does not follow from ${earlier?.state ?? 'nothing'}`);
  const news = Object.fromEntries(
    stored.flatMap((each) => (detail[each] === undefined ? [] : [[each, detail[each]]])),
  );
  const attempt: ReplayedAttempt = {
    ...(earlier ?? nothingStored),
    ...news,
    number,
    state,
    moved: name === 'resolved' ? (detail.moved ?? null) : null,
  };
  const digest = isFirst || name === 'imported' ? (detail.digest ?? undefined) : undefined;
  return {
    digest: digest ?? is.digest,
    abandoned: isFirst ? false : is.abandoned,
    attempts: withAttempt(isFirst ? [] : is.attempts, attempt),
  };
}

/** What differs between a stored payment and the end of its trail, or undefined if nothing does. */
export function differenceFrom(payment: Payment, trail: Replayed): string | undefined {
  if (payment.digest !== trail.digest) return 'the instruction differs from the one that was asked';
  if (payment.abandoned !== trail.abandoned)
    return `the payment is ${payment.abandoned ? '' : 'not '}abandoned`;
  const last = latest(payment).number;
  const numbers = new Set([...payment.attempts, ...trail.attempts].map(({ number }) => number));
  for (const number of [...numbers].toSorted((a, b) => a - b)) {
    const is = payment.attempts.find((each) => each.number === number);
    const told = trail.attempts.find((each) => each.number === number);
    if (is === undefined) return `attempt ${number} is missing`;
    if (told === undefined) return `attempt ${number} has no steps`;
    const moved = is.resolution?.moved ?? null;
    const field = (['state', ...stored] as const).find((each) => is[each] !== told[each]);
    if (field !== undefined)
      return (
        `attempt ${number} of ${last} has the ${field} ${is[field] ?? 'none'}, ` +
        `and its steps lead to ${told[field] ?? 'none'}`
      );
    if (moved !== told.moved) return `attempt ${number} has another answer of tx resolve`;
  }
  return undefined;
}

/** How often svcpay compares again, because another process may have changed what it read. */
const most = 3;

/** Repeats a check that finds differences, because another process may change what it reads. */
export async function againIf<T>(
  differs: (found: readonly T[]) => boolean,
  check: () => Promise<readonly T[]>,
): Promise<readonly T[]> {
  let found = await check();
  for (let turn = 1; turn < most && differs(found); turn += 1) found = await check();
  return found;
}

const rawSchema = v.array(v.record(v.string(), v.unknown()));
type RawRow = v.InferOutput<typeof rawSchema>[number];

const pageOfPayments = selectPayments(
  'p.id IN (SELECT id FROM payments WHERE id > ? AND updated_at >= ? ORDER BY id LIMIT ?)',
);

/** Checks payments of all accounts in the order of their ids, beginning after `after`. */
export const checkedPage = (
  database: SqlDatabase,
  ...page: readonly [after: string, since: number, atMost: number]
): Promise<readonly CheckedPayment[]> =>
  againIf(
    (found) => found.some(({ differs }) => differs !== undefined),
    () =>
      database.read(async (sql) => {
        const rows = v.parse(rawSchema, await sql.all(pageOfPayments, ...page));
        const payments = grouped(rows, ({ id }) => String(id));
        const ids = [...payments.keys()].toSorted();
        if (ids.length === 0) return [];
        const steps = grouped(
          v.parse(rawSchema, await sql.all(selectTrails(ids.length), ...ids)),
          (row) => String(row['payment_id']),
        );
        return ids.map((id) => checked(id, payments.get(id) ?? [], steps.get(id) ?? []));
      }),
  );

const namesSchema = v.object({ ref: v.string(), txn_id: v.nullable(v.string()) });

function checked(id: string, rows: readonly RawRow[], steps: readonly RawRow[]): CheckedPayment {
  const { ref, txn_id: txnId } = v.parse(namesSchema, rows.at(-1));
  const each = { id, ref, txnId, steps: steps.length };
  try {
    const [row] = readRows(rows);
    if (row === undefined) return each;
    const { payment } = row;
    const differs =
      differenceFrom(payment, replayed(readTrail(steps))) ?? outcomeDifference(payment, rows);
    return { ...each, payment, differs };
  } catch (error) {
    return { ...each, differs: messageOf(error) };
  }
}

const outcomesSchema = v.array(rowOf({ number: v.number(), outcome: v.string() }));

/** Checks the column by which SQL finds the attempts that may have moved money. */
function outcomeDifference(
  { attempts }: Payment,
  rows: readonly unknown[] = [],
): string | undefined {
  const derived = v.parse(outcomesSchema, rows);
  const outcomes = new Map(derived.map(({ number, outcome }) => [number, outcome]));
  const wrong = attempts.find((each) => outcomes.get(each.number) !== outcomeOf(each));
  return wrong && `attempt ${wrong.number} has another outcome`;
}
