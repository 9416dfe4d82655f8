// A proposal: what somebody without a secret asks the owner of the wallet to pay. Pure. The id of a
// proposal is the SHA-256 of its file, so whatever a person is shown is bound by the id.
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { canonicalJson, decimal } from '../../formats/canonical.js';
import { formatAmount, fixed, type Money } from '../../formats/amount.js';
import { describeDuration } from '../../formats/duration.js';
import { Failure } from '../../formats/failure.js';
import { jsonIn } from '../../formats/unknown.js';
import type { Payment } from '../../store/journal/payment.js';
import {
  digestOf,
  instructionOf,
  instructionSchema,
  storedInstruction,
  type Instruction,
} from '../instruction/instruction.js';
import { sameAgain } from '../instruction/same-again.js';
import { readSendNow, type SendEnvironment, type SendWords } from '../instruction/send.js';
import { readSwap } from '../instruction/swap.js';
import { readPayoutFile } from '../payout/from-file.js';
import { payeeOf } from '../payout/payee.js';

/** The largest proposal file in bytes. */
export const largestFile = 65_536;

const longestMs = 30 * 86_400_000;

const money = v.strictObject({ ccy: v.string(), value: decimal });

const proposalSchema = v.strictObject({
  version: v.literal(1),
  account: v.nullable(v.string()),
  rows: v.pipe(v.array(instructionSchema), v.minLength(1)),
  maxTotal: money,
  expiresAt: v.number(),
  reason: v.nullable(v.string()),
  nonce: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
});

export interface Proposal {
  /** The account that must pay, or null for any account of the owner. */
  readonly account: string | null;
  readonly rows: readonly Instruction[];
  /** The highest total of all rows with fees, in the currency of the paying wallet. */
  readonly maxTotal: Money;
  /** Epoch ms, by the clock of the machine that pays. */
  readonly expiresAt: number;
  readonly reason: string | null;
  /** A random number, so that the same payment can be proposed again on purpose. */
  readonly nonce: string;
}

/** A proposal as it was read, with its text. */
export interface ReadProposal {
  readonly id: string;
  readonly text: string;
  readonly proposal: Proposal;
}

export const proposalText = ({ rows, ...rest }: Proposal): string =>
  canonicalJson({ version: 1, ...rest, rows: rows.map(storedInstruction) });

export const proposalId = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The reference under which a row of a proposal is paid, on every home. */
export const rowReference = (id: string, { rows }: Proposal, index: number): string =>
  rows.length === 1 ? `proposal:${id}` : `proposal:${id}/${index + 1}`;

/**
 * Refuses what must not be proposed. Throws Failure `usage` for an amount that the file does not
 * fix, a total in another currency, and a proposal that is valid too long.
 */
export function checkProposal({ rows, maxTotal, expiresAt }: Proposal, now: number): void {
  for (const { amount, from } of rows) {
    if (amount === 'all') throw refused('a proposal must state its amount, not "all".');
    if (from !== maxTotal.ccy)
      throw refused(
        `the ${from} wallet pays, but the highest total is ${formatAmount(maxTotal)}.`,
        `Write --max-total in ${from}.`,
      );
  }
  if (expiresAt <= now) throw refused('the proposal has expired.', 'Propose it again.');
  if (expiresAt - now > longestMs)
    throw refused(`a proposal may be valid for ${describeDuration(longestMs)} at most.`);
}

/**
 * Reads a proposal like typed input: its form must be exact, and each row must be what the reader
 * of its command reads. Throws Failure `usage`.
 * @param name the id in the name of the file
 */
export function readProposal(
  text: string,
  name: string,
  environment: SendEnvironment,
): ReadProposal {
  const id = proposalId(text);
  if (name !== id) throw refused('the file differs from the id in its name.');
  const read = v.safeParse(proposalSchema, jsonIn(text));
  // The text must be the canonical text, so that no key is doubled and nothing is hidden.
  if (!read.success) throw refused(`${v.getDotPath(read.issues[0]) ?? 'the file'} is not valid.`);
  const { version: _version, rows, ...rest } = read.output;
  const instructions = rows.map(({ version: _each, ...row }) => row);
  const proposal = { ...rest, rows: instructions };
  if (proposalText(proposal) !== text) throw refused('the file is not in the exact form.');
  for (const row of instructions) {
    if (digestOf(readAgain(row, environment)) !== digestOf(row))
      throw refused('a destination or an amount is not what its text says.');
  }
  return { id, text, proposal };
}

/** Reads an instruction again from its words, so that the file cannot name a false payee. */
function readAgain(instruction: Instruction, environment: SendEnvironment): Instruction {
  const { verb, to, amount, from, payout } = instruction;
  const written = typeof amount === 'string' ? undefined : amount;
  switch (verb) {
    case 'swap':
      return readSwap({ amount: written?.written, from, to }, written?.side === 'gets');
    case 'payout': {
      const { destReq, ...rest } = payout ?? {};
      const amtRequested = Number(written === undefined ? NaN : fixed(written.value));
      const body = { ...rest, destReq: { ...destReq, amtRequested } };
      return readPayoutFile(JSON.stringify(body), 'service').instruction;
    }
    case 'send':
      return readSendNow(sendWords(instruction), environment).instruction;
  }
}

/** The words of a send, from which the reader of sends makes the same instruction. */
export function sendWords({ to, amount, from, ways, deductFees, note }: Instruction): SendWords {
  const via = ways?.length === 1 ? ways[0] : undefined;
  if (typeof amount === 'string') return { to, from, via, deductFees, note };
  const { written, side } = amount;
  return {
    to,
    from,
    via,
    deductFees,
    note,
    ...(side === 'debits' ? { spend: written } : { amount: written }),
  };
}

const refused = (why: string, hint?: string): Failure =>
  new Failure('usage', `Not proposed: ${why}`, { hint });

/** Why an open proposal deserves a second look, in words. */
export type Remark = string;

export interface Known {
  /** The latest payments of the account. */
  readonly payments: readonly Payment[];
  /** The refused proposals: when each was refused, by the digest of what it asked for. */
  readonly refused: ReadonlyMap<string, number>;
  readonly now: number;
}

const sameWithinMs = 86_400_000;

/** Finds what is unusual about a row: who is paid, and whether it was paid or refused before. */
export function remarksOn(instruction: Instruction, { payments, refused, now }: Known): Remark[] {
  const { verb, keys, payout } = instruction;
  if (verb === 'swap') return [];
  const known = payments.map((payment) => instructionOf(payment));
  const isKnown = known.some((each) => each.keys.some((key) => keys.includes(key)));
  const name = payout && payeeOf(payout).name;
  const sameName = known.find(({ payout: paid }) => paid && payeeOf(paid).name === name);
  const changed = sameName?.payout && payeeOf(sameName.payout).account;
  const refusedAt = refused.get(digestOf(instruction));
  const window = { now, paidWithinMs: sameWithinMs };
  const again = sameAgain({ instruction, order: undefined, ref: undefined }, payments, window);
  return [
    ...(isKnown ? [] : changed === undefined ? ['new payee'] : [`account changed from ${changed}`]),
    ...(again === undefined ? [] : [`the same amount was sent ${ago(now - again.at)} ago`]),
    ...(refusedAt === undefined ? [] : [`refused ${ago(now - refusedAt)} ago`]),
  ];
}

const ago = (ms: number): string => describeDuration(Math.max(ms, 0));
