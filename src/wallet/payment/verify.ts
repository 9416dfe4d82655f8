// Replays the trails of all payments: each must lead to the stored payment, whose instruction must
// be the one that was asked.
import { messageOf } from '../../formats/text.js';
import type { CheckedPayment, Journal } from '../../store/journal/journal.js';
import { digestOf, instructionOf } from '../instruction/instruction.js';

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
