// The payment machine: for each step what is done there, what a failure there means for the money, and what a process
// does that finds a payment there after a crash, which is the same. Which moves there are is the journal's table.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import { hasLapsed, isQuoted } from '../../formats/states.js';
import { LostClaim, type Claim, type Intent, type Step } from '../../store/journal/journal.js';
import { agree } from './agreeing.js';
import type { PaymentDeps } from './contract.js';
import type { History } from './history.js';
import { createQuote } from './quoting.js';
import { beforeMoney, beginRun, checkMeant, isLetGo, openRun, stillInDoubt, type Run, type RunOptions } from './run.js';
import { confirm, lookAtLetGo, reportOrStartAgain, settle } from './settling.js';

interface Work {
  /** What is true of the payment here. */
  readonly means: string;
  /** Carries the payment on by one move, or resolves with the transaction when there is no more to do in this run. */
  readonly work: (run: Run) => Promise<Transaction | undefined>;
  /** Whether money can have moved when the work fails: before that, a failure gives the payment up. */
  readonly money: 'stays' | 'may-have-left';
  /** What happens to a payment that is found here after a crash. */
  readonly recovery: string;
}

export const machine: Readonly<Record<Step, Work>> = {
  intent: {
    means: 'Wanted; nothing is known of it at the service.',
    work: quoteAtMost,
    money: 'stays',
    recovery: 'The reference is looked for in the list of the service; only if it is not there the creation is sent again.',
  },
  created: {
    means: 'Quoted, and not agreed to yet.',
    work: agree,
    money: 'stays',
    recovery: 'The quote is read again, checked and shown; with a yes in the journal it is confirmed.',
  },
  confirming: {
    means: 'Agreed to; the confirmation may have been sent.',
    work: confirm,
    money: 'may-have-left',
    recovery: 'The transaction is read; still quoted, the same one is confirmed again.',
  },
  confirmed: {
    means: 'The service has it; only the service can say how it ends.',
    work: settle,
    money: 'may-have-left',
    recovery: 'The transaction is read until it is final.',
  },
  final: {
    means: 'Over at the service.',
    work: reportOrStartAgain,
    money: 'may-have-left',
    recovery: 'How it ended is reported again.',
  },
};

/** The transaction that a run came to, or what was known of the payment when another process took it over. */
type Advanced = { readonly txn: Transaction } | { readonly lost: Intent };

/** Carries the intent on from the step where it stands. */
export async function advance(claim: Claim, start: RunOptions, deps: PaymentDeps, history: History): Promise<Advanced> {
  const run = openRun(claim, start, deps, history);
  try {
    return { txn: await driven(run) };
  } catch (error) {
    if (error instanceof LostClaim) return { lost: asSeen(run) };
    throw run.doubt === undefined ? error : stillInDoubt(run.claim.intent, run.doubt, error);
  }
}

/** With what this run has seen of it at the service: that it is on its way is known, whoever goes on with it. */
function asSeen({ claim: { intent }, txn }: Run): Intent {
  if (txn === undefined || intent.txnId !== null || isQuoted(txn.txnState) || hasLapsed(txn.txnState)) return intent;
  return { ...intent, step: 'confirmed', txnId: txn.txnId, txnState: txn.txnState };
}

async function driven(run: Run): Promise<Transaction> {
  if (run.start.mode === 'look' && isLetGo(run.claim.intent)) return lookAtLetGo(run);
  checkMeant(run);
  await beginRun(run);
  for (;;) {
    checkMeant(run);
    const { work, money } = machine[run.claim.intent.step];
    const enough = money === 'stays' ? await beforeMoney(run, work) : await work(run);
    if (enough !== undefined) return enough;
  }
}

const mostRequotes = 4;

async function quoteAtMost(run: Run): Promise<undefined> {
  if (run.requotes > mostRequotes) {
    throw new Failure('temporary', 'Nothing moved: every quote lapsed before it was confirmed.', {
      hint: 'Run it again: a quote is confirmed at once when nobody has to be asked.',
    });
  }
  await createQuote(run);
}
