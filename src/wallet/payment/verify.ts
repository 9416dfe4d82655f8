// Replays the trails of all payments: each must lead to the stored payment, whose instruction must
// be the one that was asked.
import { messageOf } from '../../formats/unknown.js';
import type { CheckedPayment, Journal } from '../../store/journal/journal.js';
import { digestOf, instructionOf } from '../instruction/instruction.js';

export interface Verified {
  readonly payments: number;
  readonly steps: number;
  readonly differing: number;
  /** The first differences. */
  readonly differences: readonly Difference[];
}

/** A payment whose trail does not lead to its stored state. */
export interface Difference {
  readonly ref: string;
  readonly txnId: string | null;
  readonly differs: string;
}

const atOnce = 100;
const mostShown = 1_000;

/** @param onPage called with the number of replayed payments after each page */
export async function verify(
  journal: Pick<Journal, 'checked'>,
  since: number,
  onPage: (payments: number) => void,
): Promise<Verified> {
  let found: Verified = { payments: 0, steps: 0, differing: 0, differences: [] };
  for (let after = ''; ;) {
    const page = await journal.checked(after, since, atOnce);
    const last = page.at(-1);
    if (last === undefined) return found;
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
    onPage(found.payments);
    after = last.id;
  }
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
