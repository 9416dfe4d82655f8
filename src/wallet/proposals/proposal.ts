// A proposal: what somebody without a secret asks the owner of the wallet to pay. Pure. The id of a
// proposal is the SHA-256 of its file, so whatever a person is shown is bound by the id.
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import {
  canonicalJson,
  decimal,
  digestOf,
  exact,
  instructionOf,
  instructionSchema,
  storedInstruction,
  type Instruction,
  readSwap,
} from '../instruction/instruction.js';
import { fixed, formatAmounts, type Money } from '../../formats/amount.js';
import { describeDuration } from '../../formats/calendar.js';
import { type Failure, invalid } from '../../formats/failure.js';
import { jsonIn } from '../../formats/text.js';
import type { Payment } from '../../store/journal/payment.js';
import { plannedRow, type Row } from '../batch/row.js';
import { sameAgain } from '../limits/limits.js';
import { readSendNow, type SendEnvironment, type SendWords } from '../instruction/send.js';
import { readPayoutFile } from '../payout/from-file.js';
import { payeeOf } from '../payout/methods.js';

/** The largest file of a proposal in bytes: of the rows of a batch, and of one payment. */
export const largestFile = 524_288;
const largestPayment = 65_536;

const longestMs = 30 * 86_400_000;

const money = v.strictObject({ ccy: v.string(), value: decimal });

const proposalSchema = v.strictObject({
  version: v.literal(1),
  account: v.nullable(v.string()),
  rows: v.pipe(v.array(instructionSchema), v.minLength(1)),
  batch: v.nullable(v.strictObject({ name: v.string(), refs: v.array(v.nullable(v.string())) })),
  maxTotal: v.pipe(v.array(money), v.minLength(1)),
  expiresAt: v.number(),
  reason: v.nullable(v.string()),
  nonce: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
});

export interface Proposal {
  /** The account that must pay, or null for any account of the owner. */
  readonly account: string | null;
  readonly rows: readonly Instruction[];
  /**
   * For the rows of a batch file: the name of the run, or an empty text, and the reference of each
   * row, or null for a row without a reference.
   */
  readonly batch: { readonly name: string; readonly refs: readonly (string | null)[] } | null;
  /** The highest total of all rows with fees, for each paying wallet. */
  readonly maxTotal: readonly Money[];
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

/** The reference under which a proposal of one payment is paid, on every home. */
export const referenceOf = (id: string): string => `proposal:${id}`;

/**
 * Refuses what must not be proposed. Throws Failure `usage` for an amount that the file does not
 * fix, a total in another currency, and a proposal that is valid too long.
 */
export function checkProposal({ rows, maxTotal, expiresAt }: Proposal, now: number): void {
  for (const { amount, from } of rows) {
    if (amount === 'all') throw refused('a proposal must state its amount, not "all".');
    if (maxTotal.filter(({ ccy }) => ccy === from).length !== 1)
      throw refused(
        `the ${from} wallet pays, but the highest total is ${formatAmounts(maxTotal)}.`,
        `Write one --max-total in ${from}.`,
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
  const { batch } = proposal;
  const most = batch === null ? largestPayment : largestFile;
  if (Buffer.byteLength(text) > most) throw refused(`the file exceeds ${most / 1024} KiB.`);
  if (rows.length !== (batch?.refs ?? [null]).length)
    throw refused('the number of references is wrong.');
  for (const row of instructions) {
    if (digestOf(readAgain(row, environment).instruction) !== digestOf(row))
      throw refused('a destination or an amount is not what its text says.');
  }
  return { id, text, proposal };
}

/** Makes the text of a proposal, and reads it as the owner will. Throws Failure `usage`. */
export function writtenProposal(proposal: Proposal, environment: SendEnvironment): ReadProposal {
  checkProposal(proposal, environment.now);
  const text = proposalText(proposal);
  return readProposal(text, proposalId(text), environment);
}

/** The rows of a proposed batch. A row without a reference gets one from the id. */
export const proposedRows = (
  { id, proposal: { rows, batch } }: ReadProposal,
  environment: SendEnvironment,
): Row[] =>
  rows.map((instruction, index) => {
    const { to, isSlow } = readAgain(instruction, environment);
    const ref = batch?.refs[index];
    const read = {
      line: index + 1,
      ref: ref ?? `${referenceOf(id)}/${index + 1}`,
      isNamed: ref != null,
      instruction,
      to,
      written: exact(instruction)?.written,
      isSlow,
    };
    return plannedRow(read, environment.now);
  });

/** Reads an instruction again from its words, so that the file cannot name a false payee. */
function readAgain(
  given: Instruction,
  environment: SendEnvironment,
): Pick<Row, 'instruction' | 'to' | 'isSlow'> {
  const { verb, to, amount, from, payout } = given;
  const { written, side, value } = typeof amount === 'string' ? nothing : amount;
  switch (verb) {
    case 'swap': {
      const instruction = readSwap({ amount: written, from, to }, side === 'gets');
      return { instruction, to, isSlow: false };
    }
    case 'payout': {
      const { destReq, ...rest } = payout ?? {};
      const amtRequested = Number(value ? fixed(value) : NaN);
      const body = { ...rest, destReq: { ...destReq, amtRequested } };
      const { instruction } = readPayoutFile(JSON.stringify(body), 'service');
      return { instruction, to, isSlow: true };
    }
    case 'send': {
      const { instruction, pays, slow } = readSendNow(sendWords(given), environment);
      return { instruction, to: pays.text, isSlow: slow };
    }
  }
}

const nothing = { written: undefined, side: undefined, value: undefined };

/** The words of a send, from which the reader of sends makes the same instruction. */
export function sendWords({ to, amount, from, ways, deductFees, note }: Instruction): SendWords {
  const via = ways?.length === 1 ? ways[0] : undefined;
  const words = { to, from, via, deductFees, note };
  if (typeof amount === 'string') return words;
  return { ...words, [amount.side === 'debits' ? 'spend' : 'amount']: amount.written };
}

const refused = (why: string, hint?: string): Failure =>
  invalid(why, { money: 'Not proposed', hint });

/** Why an open proposal deserves a second look, in words. */
export type Remark = string;

export interface Known {
  /** The latest payments of the account. */
  readonly payments: readonly Payment[];
  /** When each refused proposal was refused, by its id and by the digests of its rows. */
  readonly refused: ReadonlyMap<string, number>;
  readonly now: number;
}

const sameWithinMs = 86_400_000;

/** Finds what is unusual about a row: who is paid, and whether it was paid or refused before. */
export function remarksOn(instruction: Instruction, { payments, refused, now }: Known): Remark[] {
  const { verb, keys, payout } = instruction;
  if (verb === 'swap') return [];
  const known = payments.map(instructionOf);
  const isKnown = known.some((each) => each.keys.some((key) => keys.includes(key)));
  const name = payout && payeeOf(payout).name;
  const sameName = known.find(({ payout: paid }) => paid && payeeOf(paid).name === name);
  const changed = sameName?.payout && payeeOf(sameName.payout).account;
  const refusedAt = refused.get(digestOf(instruction));
  const window = { now, paidWithinMs: sameWithinMs };
  const again = sameAgain({ instruction, order: undefined, ref: undefined }, payments, window);
  const ago = (at: number): string => `${describeDuration(Math.max(now - at, 0))} ago`;
  return [
    ...(isKnown ? [] : [changed === undefined ? 'new payee' : `account changed from ${changed}`]),
    ...(again === undefined ? [] : [`the same amount was sent ${ago(again.at)}`]),
    ...(refusedAt === undefined ? [] : [`refused ${ago(refusedAt)}`]),
  ];
}
