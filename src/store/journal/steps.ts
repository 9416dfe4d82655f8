// The vocabulary of a trail: its steps, their details and their actors. Every field is listed here,
// so a trail contains no secret and no argument of a command line.
import * as v from 'valibot';
import { clip } from '../../formats/text.js';

/**
 * Who or what performs the steps: how svcpay was started (such as `send lightning`, `batch`, `mcp`
 * or `library`), the user of the operating system, and the process.
 */
const actorSchema = v.object({
  door: v.string(),
  user: v.string(),
  uid: v.nullable(v.number()),
  host: v.string(),
  pid: v.number(),
  version: v.string(),
  profile: v.nullable(v.string()),
  /** Whether the profile is of a sandbox, or null in a program, which has no profile. */
  sandbox: v.nullable(v.boolean()),
  /** The budget that the process charges. A process of the owner charges none. */
  budget: v.optional(v.string()),
});
export type Actor = Readonly<v.InferOutput<typeof actorSchema>>;
export const actorOfJson = v.pipe(v.string(), v.parseJson(), actorSchema);

/**
 * The steps that change a payment, each with the state that its attempt then has. The journal
 * derives these steps from each change, so the trail always leads to the stored payment.
 */
export const changingSteps = {
  asked: 'requested',
  replaced: 'requested',
  requested: 'requested',
  quoted: 'quoted',
  withdrawn: 'quoted',
  submitting: 'submitting',
  accepted: 'in-flight',
  paid: 'paid',
  failed: 'failed',
  lapsed: 'lapsed',
  error: 'error',
  unknown: 'unknown',
  /** The service reported another `txnState`, which does not change the state of the attempt. */
  read: undefined,
  imported: undefined,
  resolved: undefined,
  abandoned: undefined,
  reopened: undefined,
} as const;

/** The steps that change nothing by themselves, and say why the next change happened. */
export const tellingSteps = [
  'shown',
  'approved',
  'declined',
  'refused',
  'stopped',
  'unanswered',
  'explained',
  'interrupted',
  'taken over',
] as const;

export type ChangingStep = keyof typeof changingSteps;
export type TellingStep = (typeof tellingSteps)[number];
export type StepName = ChangingStep | TellingStep;

/** The fields of an attempt that a step stores if the step changes them. */
export const stored = [
  'txnId',
  'txnState',
  'approvedTotal',
  'approvedReceives',
  'spendCcy',
  'budget',
] as const;

const text = v.nullish(v.string());
const number = v.nullish(v.number());

/** The only fields that a step may store. */
export const detailSchema = v.object({
  ...v.entriesFromList(stored, text),
  state: text,
  /** The digest of the instruction, and of the instruction that it replaced. */
  digest: text,
  before: text,
  /** The batch and its row. */
  batch: text,
  line: number,
  /** A quote: what leaves the wallet, of it fees, and what arrives. */
  total: text,
  ccy: text,
  serviceFee: text,
  networkFee: text,
  receives: text,
  receivesCcy: text,
  rate: text,
  expiresAt: number,
  /** Who or what approved a quote, and up to which fee and loss. */
  consent: text,
  /** The id of the proposal that was approved. */
  proposal: text,
  maxFee: text,
  maxRateLoss: text,
  /** The request that was refused or not answered. */
  request: text,
  /** The kind of a failure, and its reason in words. */
  kind: text,
  reason: text,
  /** An answer of `tx resolve`. */
  moved: v.nullish(v.boolean()),
  note: text,
  /** The process that a run took over from. */
  host: text,
  pid: number,
  /** The time of the service in epoch ms, if it is known. */
  service: number,
});
export type Detail = v.InferOutput<typeof detailSchema>;

const longestText = 300;
const mostBytes = 2_048;

/**
 * Writes details as JSON of at most 2 KiB, with only the listed fields. Texts from outside svcpay
 * are clipped.
 */
export function encodeDetail(detail: Detail): string {
  const known = Object.entries(detail).flatMap(([name, value]) => {
    const isScalar = value === null || ['string', 'number', 'boolean'].includes(typeof value);
    if (!isScalar || !Object.hasOwn(detailSchema.entries, name)) return [];
    const isOutside = typeof value === 'string' && !isStored(name);
    return [[name, isOutside ? clip(value, longestText) : value] as const];
  });
  const whole = JSON.stringify(Object.fromEntries(known));
  if (Buffer.byteLength(whole) <= mostBytes) return whole;
  return JSON.stringify(Object.fromEntries(known.filter(([name]) => isStored(name))));
}

const isStored = (name: string): boolean => [...stored, 'state', 'digest', 'moved'].includes(name);

/** A step that tells why a change happened. */
export interface Telling {
  readonly step: TellingStep;
  readonly detail?: Detail | undefined;
  /** The time since the step, in ms. */
  readonly ago?: number;
}

/** What the caller of a change adds to its trail. */
export interface Told {
  /** The steps before the change, oldest first. */
  readonly steps?: readonly Telling[] | undefined;
  /** Details of the change itself. */
  readonly detail?: Detail | undefined;
}
