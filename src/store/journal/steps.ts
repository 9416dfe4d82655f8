// The vocabulary of a trail: its steps, their details, and their actors, who include this process.
// Every field is listed here, so a trail contains no secret and no argument of a command line.
import * as v from 'valibot';
import { jsonOf } from '../database/sql.js';
import { clip, codeOf } from '../../formats/text.js';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';

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
export const actorOfJson = jsonOf(actorSchema);

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

/** The values of these fields before a step stores one. */
export const nothingStored: Readonly<Record<(typeof stored)[number], string | null>> = {
  txnId: null,
  txnState: null,
  approvedTotal: null,
  approvedReceives: null,
  spendCcy: null,
  budget: null,
};

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

/** A step of a trail, as stored. */
export interface TrailStep {
  readonly paymentId: string;
  readonly seq: number;
  readonly attempt: number | null;
  /** The time of the step in epoch ms, by the clock of the journal. */
  readonly at: number;
  /** The name of the step, which a newer version of svcpay may have added. */
  readonly step: string;
  readonly by: Actor;
  readonly detail: Detail;
}

/**
 * The name of a process as the owner of claims.
 * @param nonce distinguishes processes with the same process id, for example in a restarted
 * container
 */
export const ownerOf = (pid: number, nonce: string): string => `${place()} ${pid} ${nonce}`;

/** The actor of a journal whose opener gives none. */
export const unnamedActor: Actor = {
  door: 'unknown',
  user: '',
  uid: null,
  host: '',
  pid: 0,
  version: '',
  profile: null,
  sandbox: null,
};

/** The actor of this process in the trails of payments. */
export function actorOf(
  given: Pick<Actor, 'door' | 'version' | 'profile' | 'sandbox' | 'budget'>,
  pid: number,
): Actor {
  const { username, uid } = user();
  return { ...given, user: username, uid: uid < 0 ? null : uid, host: hostname(), pid };
}

/** The user of the operating system. A container may run under a number without a name. */
const user = (): { readonly username: string; readonly uid: number } => {
  const uid = process.getuid?.() ?? -1;
  return orElse<ReturnType<typeof user>>(() => userInfo(), { username: String(uid), uid });
};

/**
 * The scope within which process ids are unique. A host name does not identify the scope of a
 * process id, because host names are not unique and each container numbers its processes from one.
 */
const place = (): string =>
  [
    hostname(),
    orElse(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'), ''),
    orElse(() => readlinkSync('/proc/self/ns/pid'), ''),
  ]
    .map((part) => part.replaceAll(/\s/g, ''))
    .join('/');

/** The result of a read of the system, or another value if the system does not offer it. */
function orElse<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** The host and the process id of a claim's owner, or nulls if there is no claim. */
export function processOf(owner: string | null): {
  readonly host: string | null;
  readonly pid: number | null;
} {
  const [where = '', pid] = owner?.split(' ') ?? [];
  return owner === null
    ? { host: null, pid: null }
    : { host: where.replace(/\/.*/, ''), pid: Number(pid) };
}

/**
 * Whether a process is running. A process on a different machine counts as running until its lease
 * expires.
 */
export function isAlive(owner: string, self: string): boolean {
  const [host = '', pid = '', nonce = ''] = owner.split(' ');
  const [ownHost, ownPid, ownNonce = ''] = self.split(' ');
  if (host !== ownHost) return true;
  if (pid === ownPid) return nonce === ownNonce;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
