// Audits a schedule in which people typed command lines: compares the executed payments with the
// instructions that were given, and each exit code with what its command did.
import { askedBy, type Asked } from './asked.js';
import { baseRef, byItself, hasMoved, type Model } from './service-model.js';
import type { Home, Typed } from './shell.js';

/** A command with the instructions that it gives, or undefined if it can concern each. */
export interface Given extends Typed {
  readonly gives: readonly Asked[] | undefined;
  readonly isCalm: boolean;
}

export interface Audited {
  readonly model: Model;
  readonly asked: readonly Asked[];
  readonly given: readonly Given[];
  /** The instructions that a person repeated with `--retry`. */
  readonly retried: ReadonlySet<Asked>;
  /** The reference under which svcpay pays an instruction, or undefined if svcpay chooses it. */
  readonly refOf: (one: Asked) => string | undefined;
  /** Whether all homes share one journal. */
  readonly isShared: boolean;
}

/** The exit codes that promise that this command moved no money. */
const nothingMoved: ReadonlySet<number> = new Set([2, 9, 75, 130]);
const ofOnePayment: ReadonlySet<number> = new Set([3, 4, 5, 6, 7]);
/** The exit codes that a run may not end with if an earlier run may have moved money. */
const onlyIfNew: ReadonlySet<number> = new Set([4, 75, 130]);
const misunderstood =
  /unknown (?:option|command)|too many|takes no|is not a command|no command|missing/i;
const paying: ReadonlySet<string> = new Set(['send', 'swap', 'payout', 'proposals']);

export function auditTyped(audited: Audited): string[] {
  const { model, given } = audited;
  const judge = judging(audited);
  const untrue = given.flatMap((each) => judge(each).map((why) => `${each.process} ${why}`));
  return [...model.violations, ...payments(audited), ...untrue];
}

/** Finds payments that were made twice, that nobody asked for, or under another reference. */
function payments({ model, asked, retried, refOf }: Audited): string[] {
  const moved = model.transactions.filter(hasMoved);
  const { saysExpiredTooEarly, waitingOutlivesExpiry } = model.parameters;
  const mayRepeat = saysExpiredTooEarly || waitingOutlivesExpiry;
  const twice = asked.flatMap((one) => {
    const made = moved.filter((txn) => askedBy(asked, txn) === one);
    return made.length < 2 || (mayRepeat && retried.has(one))
      ? []
      : [`${one.name} was asked for once, and paid ${made.length} times`];
  });
  const others = moved.flatMap((txn) => {
    const one = askedBy(asked, txn);
    if (one === undefined) return [`nobody asked for ${txn.txnId}`];
    const ref = refOf(one);
    const isNamed = ref === undefined || baseRef(txn.extRefId) === ref;
    return isNamed ? [] : [`${txn.txnId} has the reference ${txn.extRefId}, not ${ref}`];
  });
  const shared = moved.flatMap((txn, index) =>
    moved
      .slice(0, index)
      .filter((other) => baseRef(other.extRefId) === baseRef(txn.extRefId))
      .filter((other) => askedBy(asked, other) !== askedBy(asked, txn))
      .map((other) => `${other.txnId} and ${txn.txnId} were paid under one reference`),
  );
  return [...twice, ...others, ...shared];
}

/** Returns a function that compares the exit code of a command with what the command did. */
function judging({ model, asked, given, isShared }: Audited): (one: Given) => string[] {
  const moved = model.transactions.filter(hasMoved);
  const homeOf = new Map<string, Home>(given.map(({ process, home }) => [process, home]));
  const isKind = isWellBehaved(model);
  /** Whether a repetition of the instruction after the faults must find or make the payment. */
  const mustEnd = (one: Asked): boolean =>
    isKind &&
    !isElsewhere(one) &&
    asked.every((each) => each === one || each.ref === undefined || each.ref !== one.ref);
  /** Another home may have paid the invoice, and this home refuses to pay the invoice again. */
  const isElsewhere = ({ ref, verb }: Asked): boolean =>
    ref === undefined && verb === 'send' && !isShared && new Set(homeOf.values()).size > 1;
  return ({ exitCode, process, gives, words, printed, startedAt, home, isCalm }) => {
    if (exitCode === undefined) return [];
    const [only, ...more] = gives ?? [];
    const isOne = only !== undefined && more.length === 0 && paying.has(words[0] ?? '');
    const own = moved.filter(({ movedBy }) => movedBy === process);
    const earlier = moved.filter(
      (txn) =>
        askedBy(asked, txn) === only &&
        (txn.submittedAt ?? Infinity) < startedAt &&
        txn.movedBy !== byItself &&
        (isShared || homeOf.get(txn.movedBy ?? '') === home),
    );
    const found: string[] = [];
    if (exitCode === 1) found.push(`ended unexpectedly: ${printed}`);
    if (exitCode === 2 && misunderstood.test(printed)) found.push(`was not understood: ${printed}`);
    if (own[0] && (nothingMoved.has(exitCode) || (isOne && ofOnePayment.has(exitCode))))
      found.push(`ended with ${exitCode}, but moved ${own[0].txnId}`);
    if (isOne && onlyIfNew.has(exitCode) && earlier[0])
      found.push(`ended with ${exitCode}, but ${earlier[0].txnId} had moved`);
    const isPaid = model.transactions.some(
      (txn) =>
        askedBy(asked, txn) === only && (txn.state === 'completed' || txn.confirmedBy.size > 0),
    );
    if (isOne && exitCode === 0 && !isPaid) found.push('ended with 0, but nothing was paid');
    if (isOne && exitCode !== 0 && isCalm && mustEnd(only))
      found.push(`ended with ${exitCode} after the faults had stopped: ${printed}`);
    return found;
  };
}

function isWellBehaved({ parameters }: Model): boolean {
  const { refusing, making, failing, erring, beginning, readLagMs, listLagMs } = parameters;
  const { quoteLifeMs, confirmationWaitsMs, lapsesByItself, showsRates } = parameters;
  const { saysExpiredTooEarly, waitingOutlivesExpiry } = parameters;
  return (
    refusing + making + failing + erring + beginning === 0 &&
    readLagMs + listLagMs + confirmationWaitsMs === 0 &&
    quoteLifeMs >= 10_000 &&
    lapsesByItself &&
    showsRates &&
    !saysExpiredTooEarly &&
    !waitingOutlivesExpiry
  );
}
