// Reads the books after a schedule: paid at most once, told truly, agreed to, and nothing left open.
import Big from 'big.js';
import type { Intent } from '../../src/store/journal/journal.js';
import { isFinal } from '../../src/formats/states.js';
import { inWords } from './process.js';
import type { Books, Ended } from './schedule.js';
import { baseRef, hasMoved, type ModelTransaction } from './service-model.js';

export function audit(books: Books): string[] {
  return [
    ...paidTwice(books),
    ...books.ended.flatMap((each) => untrue(each, books)),
    ...books.model.transactions.filter(hasMoved).flatMap((txn) => notAgreed(txn, books)),
    ...books.machines.flatMap(({ name, store }) =>
      [...store.rows.values()].flatMap(({ intent }) => astray(intent, books).map((why) => `journal of ${name}: ${why}`)),
    ),
  ];
}

/** The model itself watches the references; what can be paid once only is watched here, by machine. */
function paidTwice({ model, machineOf, wishes }: Books): string[] {
  const once = wishes.filter(({ order }) => order.onceKey !== null).map(({ order }) => order.destination);
  const paid = model.transactions.filter(hasMoved);
  return once.flatMap((destination) => {
    const machines = paid
      .filter((txn) => txn.destReq.reqDetails.address === destination)
      .map(({ confirmedBy }) => machineOf.get(confirmedBy ?? ''));
    return new Set(machines).size < machines.length ? [`${destination} was paid twice by one machine`] : [];
  });
}

/** Whether what a command reported was not so. */
function untrue({ process, wish, verdict, options, isCalm }: Ended, { model }: Books): string[] {
  const says = (why: string): string[] => [`${process} ended with "${inWords(verdict)}", but ${why}`];
  if (verdict.ended === 'broken') return says('that is a defect');
  if (verdict.ended === 'done') {
    const { txnId, txnState } = verdict.txn;
    const txn = model.transactions.find((each) => each.txnId === txnId);
    if (txnState === 'completed') return txn?.state === 'completed' ? [] : says(`it is ${txn?.state}`);
    if (options.quoteOnly) return txn === undefined || isFinal(txnState) ? says('that is no quote') : [];
    return options.wait === false && txn?.confirmedBy !== undefined ? [] : says('that is no end');
  }
  const { kind, txnId } = verdict.failure;
  if (isCalm && wish !== undefined && kind !== 'payment-failed') return says('whoever asks in good weather is told the end');
  if (kind === 'unexpected') return says('nothing unexpected may happen');
  if (kind === 'payment-failed') {
    const txn = model.transactions.find((each) => each.txnId === txnId);
    return txn === undefined || hasMoved(txn) || txn.state === 'quoted' ? says(`it is ${txn?.state}`) : [];
  }
  if (kind === 'pending') return [];
  const moved = model.transactions.find((each) => each.confirmedBy === process);
  return moved === undefined ? [] : says(`its confirmation of ${moved.txnId} took effect`);
}

function notAgreed(txn: ModelTransaction, { standing, agreed }: Books): string[] {
  const { address } = txn.destReq.reqDetails;
  const total = new Big(txn.sourceReq.amtRequested).plus(txn.fee);
  const covered = standing.has(address) || agreed.get(address)?.some((each) => total.lte(each.plus('1e-12')));
  return covered === true ? [] : [`nobody agreed to ${txn.txnId}, which took ${total.toFixed(8)}`];
}

/** Where the journal and the service disagree about an intent when all is over. */
function astray(intent: Intent, { model, machineOf }: Books): string[] {
  const { ref, step, closed, txnId, txnState } = intent;
  if (closed) {
    const own = model.transactions.filter((each) => baseRef(each.extRefId) === ref && hasMoved(each));
    const here = own.filter(({ confirmedBy }) => machineOf.get(confirmedBy ?? '')?.store.rows.has(intent.id) === true);
    return here.map((each) => `${ref} is closed, but ${each.txnId} is ${each.state}`);
  }
  if (step !== 'final') return [`${ref} is still at ${step}`];
  const txn = model.transactions.find((each) => each.txnId === txnId);
  return txn?.state === txnState ? [] : [`${ref} says ${txnId} is ${txnState}, the service says ${txn?.state}`];
}
