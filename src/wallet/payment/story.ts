// Tells what happened to a payment in sentences, from its trail, and where its money is now.
// Replays the trails of all payments for `db verify`.
import Big from 'big.js';
import { money, shortAmount } from '../../formats/amount.js';
import { describeDuration, formatDuration } from '../../formats/calendar.js';
import type { NextStep } from '../../formats/failure.js';
import { entryOf, ownReference, messageOf } from '../../formats/text.js';
import {
  decisive,
  latest,
  status,
  type Payment,
  type PaymentStatus,
} from '../../store/journal/payment.js';
import type { Actor, Detail, TrailStep } from '../../store/journal/steps.js';
import { instructionOf, digestOf } from '../instruction/instruction.js';
import { inWords } from '../instruction/words.js';
import type { CheckedPayment, Journal } from '../../store/journal/journal.js';

/** A line of a story. A line without a time is about a gap between two steps. */
export interface StoryLine {
  readonly at: number | undefined;
  readonly text: string;
}

export interface Story {
  readonly title: string;
  /** The id of the latest transaction and the reference of the person, each with its label. */
  readonly names: readonly string[];
  readonly lines: readonly StoryLine[];
  /** Where the money is now. */
  readonly end: string;
  readonly next: NextStep;
}

/** A pause after which a story says that no process worked on the payment. */
const gapMs = 60_000;

/** Returns the word of screens for a state of the service, such as `sent` for `destsent`. */
type WordOf = (txnState: string) => string;

export function storyOf(payment: Payment, trail: readonly TrailStep[], wordOf: WordOf): Story {
  const { txnId } = latest(payment);
  const verb = payment.kind.charAt(0).toUpperCase() + payment.kind.slice(1);
  const asked = inWords(instructionOf(payment));
  const reference = ownReference(payment.ref);
  return {
    title: `${verb} · ${asked}`,
    names: [
      ...(txnId === null ? [] : [`transaction ${txnId}`]),
      ...(reference === '' ? [] : [`reference ${reference}`]),
    ],
    lines: [...beforeTrail(trail), ...linesOf(trail, wordOf)],
    ...endOf(payment, txnId ?? payment.ref),
  };
}

/** Says that earlier steps are unknown, instead of guessing them. */
function beforeTrail([first]: readonly TrailStep[]): StoryLine[] {
  if (first === undefined) return [{ at: undefined, text: 'No step of this payment is recorded.' }];
  return first.step === 'imported'
    ? [{ at: undefined, text: 'What happened before the import is not known here.' }]
    : [];
}

function linesOf(trail: readonly TrailStep[], wordOf: WordOf): StoryLine[] {
  const lines: StoryLine[] = [];
  for (const [index, step] of trail.entries()) {
    const after = trail[index + 1];
    const before = trail.slice(0, index).findLast((each) => each.step !== 'note');
    const told = sentenceOf(step, wordOf, before, after);
    const isOther = before !== undefined && !isSameProcess(before.by, step.by);
    const gap = before === undefined ? 0 : step.at - before.at;
    if (isOther && gap >= gapMs && step.step !== 'note')
      lines.push({ at: undefined, text: `no process worked on it for ${inWordsOf(gap)}` });
    if (isOther && !namesActor.has(step.step))
      lines.push({ at: step.at, text: `continued by ${actorInWords(step.by)}` });
    if (told !== undefined) lines.push({ at: step.at, text: told });
  }
  return lines;
}

const inWordsOf = (ms: number): string =>
  ms < 3_600_000 ? describeDuration(ms) : formatDuration(ms);

const isSameProcess = (one: Actor, other: Actor): boolean =>
  one.host === other.host && one.pid === other.pid && one.door === other.door;

/** The steps whose sentence names who performed them. */
const namesActor: ReadonlySet<string> = new Set([
  'asked',
  'replaced',
  'taken over',
  'imported',
  'resolved',
  'note',
]);

/** The actor in words, such as ann (uid 1000) on desk-2, with `tx resume`. */
export function actorInWords({ user, uid, host, door }: Actor): string {
  const who = user === '' ? 'an unnamed user' : user;
  const where = host === '' ? '' : ` on ${host}`;
  const through = doors[door] ?? `with \`${door}\``;
  return `${who}${uid === null ? '' : ` (uid ${uid})`}${where}, ${through}`;
}

const doors: Readonly<Record<string, string>> = {
  mcp: 'through an agent',
  library: 'through a program',
  home: 'on the home screen',
  unknown: 'in an unknown way',
};

/**
 * The sentence of one step, or undefined if the step before or after it says the same.
 * @param before the step before, if there is one
 */
export function sentenceOf(
  { step, by, at, detail }: TrailStep,
  wordOf: WordOf,
  before?: TrailStep,
  after?: TrailStep,
): string | undefined {
  const constant = entryOf(sentences, step);
  if (constant !== undefined) return constant;
  switch (step) {
    case 'asked':
      return `asked by ${actorInWords(by)}${rowInWords(detail)}${termsInWords(detail)}`;
    case 'replaced':
      return `another instruction took the reference, asked by ${actorInWords(by)}`;
    case 'quoted':
      return detail.total == null ? 'quoted' : `quoted: ${costInWords(detail)}`;
    case 'shown':
      return after?.step === 'approved' || after?.step === 'declined' ? undefined : 'shown';
    case 'approved':
      return approvalInWords(detail, by, before?.step === 'shown');
    case 'declined':
      return before?.step === 'shown' ? 'shown, declined' : 'declined';
    case 'refused':
      return `${entryOf(requests, detail.request ?? '') ?? 'svcpay refused'}${becauseOf(detail)}`;
    case 'stopped':
      return `stopped: ${detail.reason}`;
    case 'submitting':
      return after?.step === 'unanswered' ? undefined : submissionInWords(detail, after);
    case 'unanswered':
      return unansweredInWords(detail, at, before);
    case 'paid':
      return `the service reports ${detail.txnState ?? step}`;
    case 'read':
    case 'error':
    case 'unknown':
    case 'failed': {
      const more = step === 'failed' ? becauseOf(detail) : (entryOf(afterReport, step) ?? '');
      return `the service reports ${wordOf(detail.txnState ?? step)}${more}`;
    }
    case 'explained':
      return `the service's reason: ${detail.reason ?? ''}`;
    case 'lapsed':
      if (before?.step === 'refused') return 'the refusal is final';
      return detail.txnState === 'usercanceled' ? 'the quote was cancelled' : 'the quote expired';
    case 'abandoned':
      return before !== undefined && endsRun.has(before.step)
        ? undefined
        : `ended before the submission${becauseOf(detail)}`;
    case 'taken over':
      return `taken over by ${actorInWords(by)}${fromInWords(detail)}`;
    case 'resolved':
      return (
        `recorded by ${actorInWords(by)}: the money ` +
        `${detail.moved === true ? 'moved' : 'did not move'} (${detail.note ?? ''})`
      );
    case 'note':
      return `noted by ${actorInWords(by)}: ${detail.note ?? ''}`;
    case 'imported':
      return (
        `imported by ${actorInWords(by)}: ` +
        `the service reports ${wordOf(detail.txnState ?? 'nothing')}`
      );
    default:
      return `"${step}", a step of a newer version of svcpay`;
  }
}

/** The steps whose sentence is always the same. */
const sentences: Readonly<Record<string, string>> = {
  requested: 'a new attempt began',
  accepted: 'the service accepted the payment',
  withdrawn: 'the confirmation did not leave this machine; svcpay withdrew the submission',
  interrupted: 'interrupted',
  reopened: 'requested again',
};

const requests: Readonly<Record<string, string>> = {
  create: 'the service refused the quote',
  confirm: 'the service refused the confirmation',
};

const afterReport: Readonly<Record<string, string>> = {
  error: ', which does not show whether money moved',
  unknown: ' after the submission, which proves nothing',
};

/** The steps after which the end of a run needs no explanation. */
const endsRun: ReadonlySet<string> = new Set(['declined', 'refused', 'stopped', 'interrupted']);

const becauseOf = ({ reason }: Detail): string => (reason == null ? '' : `: ${reason}`);

const rowInWords = ({ batch, line }: Detail): string =>
  batch == null ? '' : ` (${line == null ? '' : `line ${line} of `}${batch.replace(/^\S+ /, '')})`;

const termsInWords = ({ maxFee, maxRateLoss }: Detail): string =>
  (maxFee == null ? '' : `, at most ${maxFee.replace('%', ' %')} fee`) +
  (maxRateLoss == null ? '' : `, at most ${maxRateLoss} % rate loss`);

function costInWords({ total, ccy, serviceFee, networkFee, expiresAt, service, ...rest }: Detail) {
  const paid = ccy ?? '';
  const fee = amountOf(new Big(serviceFee ?? 0).plus(networkFee ?? 0), paid);
  const { receives, receivesCcy, rate } = rest;
  const arrives = receives == null ? '' : `${amountOf(receives, receivesCcy ?? paid)}, `;
  const at = rate == null ? '' : `, rate ${rate}`;
  const left = expiresAt == null || service == null ? 0 : expiresAt - service;
  const seconds = Math.round(left / 1000);
  const valid = left > 0 ? `, valid ${seconds <= 120 ? `${seconds} s` : inWordsOf(left)}` : '';
  return `${arrives}fee ${fee}, total ${amountOf(total ?? 0, paid)}${at}${valid}`;
}

const amountOf = (value: Big | string | number, ccy: string): string =>
  shortAmount(money(ccy, value));

const consents: Readonly<Record<string, string>> = {
  person: 'approved at the terminal',
  program: 'approved by the program',
  batch: 'approved with the batch',
  yes: 'approved in advance with --yes',
  call: 'approved in advance by the call of the program',
};

function approvalInWords({ consent, proposal }: Detail, { door }: Actor, isShown: boolean): string {
  const isAgent = consent === 'yes' && door === 'mcp';
  const how = isAgent ? 'approved by the agent' : (consents[consent ?? ''] ?? 'approved');
  const what = proposal == null ? '' : `, by the proposal ${proposal.slice(0, 8)}…`;
  return `${isShown ? 'shown, ' : ''}${how}${what}`;
}

function submissionInWords({ budget }: Detail, after: TrailStep | undefined): string {
  const submitted = budget == null ? 'submitted' : `submitted, within the budget ${budget}`;
  return after === undefined || after.step === 'taken over'
    ? `${submitted}; svcpay sent the confirmation, or was about to`
    : submitted;
}

function unansweredInWords({ request }: Detail, at: number, before?: TrailStep): string {
  if (request !== 'confirm') return 'no answer to the request for a quote';
  const waited = before?.step === 'submitting' ? at - before.at : 0;
  const how = waited < 1_000 ? '' : ` for ${describeDuration(waited)}`;
  return `confirmation sent; no answer${how}`;
}

const fromInWords = ({ host, pid }: Detail): string =>
  pid == null ? '' : `, from process ${pid}${host == null ? '' : ` on ${host}`}`;

/**
 * Where the money is, and the next command, about the transaction that decides what happened.
 * @param id the latest transaction id, otherwise the reference
 */
function endOf(payment: Payment, id: string): Pick<Story, 'end' | 'next'> {
  const { approvedTotal, spendCcy, state, resolution, txnId } = decisive(payment);
  const amount =
    approvedTotal === null || spendCcy === null
      ? 'the amount is not known here'
      : `${amountOf(approvedTotal, spendCcy)} left your ${spendCcy} wallet`;
  const { from } = instructionOf(payment);
  const ask = 'Outcome unknown: ask the service whether the money moved, then record its answer.';
  const ends: Readonly<Record<PaymentStatus, readonly [end: string, does?: StepFor]>> = {
    paid: [`${resolution === null ? 'Paid once' : 'Recorded as paid'}: ${amount}.`],
    'in-flight':
      state === 'submitting'
        ? ['Outcome unknown: the service has not confirmed whether it made the payment.', 'resume']
        : [`On its way: ${amount}.`, 'watch'],
    unknown: [ask, 'resolve'],
    error: [ask, 'resolve'],
    failed: [`Nothing was taken from your ${from} wallet.`],
    abandoned: [`Nothing was sent. Your ${from} wallet is unchanged.`],
    open: ['Nothing was sent yet.', 'resume'],
  };
  const found = status(payment);
  const [end, does = 'show'] = ends[found];
  const isUnknownThere = found === 'abandoned' && txnId === null;
  return { end, next: isUnknownThere ? { do: 'see-history' } : { do: does, id: txnId ?? id } };
}

type StepFor = 'show' | 'resume' | 'watch' | 'resolve';

export interface Verified {
  readonly payments: number;
  readonly steps: number;
  readonly differing: number;
  /** The first differences. */
  readonly differences: readonly Difference[];
}

/** A payment whose trail does not lead to its stored state, or an account with wrong totals. */
export interface Difference {
  readonly ref: string;
  readonly txnId: string | null;
  readonly differs: string;
}

const atOnce = 100;
const mostShown = 1_000;

/**
 * @param onPage called after each page with the number of replayed payments, and with the part of
 * all payments that they are: the ids are random, so the position of an id tells how far it is
 */
export async function verify(
  journal: Pick<Journal, 'checked' | 'wrongTotals'>,
  since: number,
  onPage: (payments: number, part: number) => void,
): Promise<Verified> {
  let found: Verified = { payments: 0, steps: 0, differing: 0, differences: [] };
  for (let after = ''; ;) {
    const page = await journal.checked(after, since, atOnce);
    const last = page.at(-1);
    if (last === undefined) break;
    const differences = page.flatMap((each) => {
      const differs = each.differs ?? instructionDifference(each);
      return differs === undefined ? [] : [{ ref: each.ref, txnId: each.txnId, differs }];
    });
    found = {
      payments: found.payments + page.length,
      steps: page.reduce((sum, { steps }) => sum + steps, found.steps),
      differing: found.differing + differences.length,
      differences: [...found.differences, ...differences].slice(0, mostShown),
    };
    onPage(found.payments, Number.parseInt(last.id.slice(0, 6), 16) / 0x100_0000);
    after = last.id;
  }
  const totals = (await journal.wrongTotals()).map(({ account, differs }) => ({
    ref: `account ${account}`,
    txnId: null,
    differs,
  }));
  const differences = [...totals, ...found.differences];
  return { ...found, differing: found.differing + totals.length, differences };
}

function instructionDifference({ payment }: CheckedPayment): string | undefined {
  if (payment === undefined) return undefined;
  try {
    return digestOf(instructionOf(payment)) === payment.digest
      ? undefined
      : 'the stored instruction differs from the one that was asked';
  } catch (error) {
    return messageOf(error);
  }
}
