// Refuses a run that charges a budget what only the owner of the wallet may do.
import { Failure } from '../../formats/failure.js';
import type { Deps } from '../define.js';

export function demandOwner({ settings: { budget } }: Deps<'settings'>): void {
  if (budget === undefined) return;
  throw new Failure(
    'usage',
    `Only the owner may do this, and this run belongs to the budget ${budget}.`,
    { hint: 'The owner runs svcpay without --budget and without SVCPAY_BUDGET.' },
  );
}
