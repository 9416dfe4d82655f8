// The steps of a payment in their order. Whatever throws before `confirming` closes the intent: nothing has moved.
import type { Transaction } from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import type { Claim } from '../../store/journal/journal.js';
import { agree } from './agreeing.js';
import type { PaymentDeps } from './contract.js';
import { createQuote } from './quoting.js';
import { beforeMoney, isLetGo, openRun, type Run, type RunOptions } from './run.js';
import { confirm, readLetGo, reportFinal, settle, startAgain } from './settling.js';
import { isFinal } from '../../formats/states.js';

const mostRequotes = 4;

/** Carries the intent on from the step it stands at. Throws LostClaim when another process took it over. */
export async function advance(claim: Claim, start: RunOptions, deps: PaymentDeps): Promise<Transaction> {
  const run = await openRun(claim, start, deps);
  if (start.options.quoteOnly && isLetGo(claim.intent)) return lookOnly(run);
  for (;;) {
    const { step } = run.claim.intent;
    if (step === 'confirming') await confirm(run);
    else if (step === 'intent') await beforeMoney(run, quoteAtMost);
    else if (step === 'final') {
      if (!(await startAgain(run))) return reportFinal(run);
    } else {
      const enough = step === 'created' ? await beforeMoney(run, agree) : await settle(run);
      if (enough !== undefined) return enough;
    }
  }
}

/** Where only a quote is wanted of a payment that is on its way, it is read and otherwise left alone. */
async function lookOnly(run: Run): Promise<Transaction> {
  const txn = await readLetGo(run);
  return isFinal(txn.txnState) ? reportFinal(run) : txn;
}

async function quoteAtMost(run: Run): Promise<void> {
  if (run.requotes > mostRequotes) throw tooManyQuotes(run);
  await createQuote(run);
}

function tooManyQuotes(run: Run): Failure {
  return new Failure('temporary', 'Nothing moved: every quote lapsed before it was confirmed.', {
    hint: `svcpay tx resume ${run.claim.intent.ref}`,
  });
}
