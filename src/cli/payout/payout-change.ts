// After a no to the last card: which answers to give again, instead of all of them.
import { back } from '../../terminal/ask/ask.js';
import type { Draft } from './payout-draft.js';
import { askPayout, type WizardDeps } from './payout-wizard.js';

const recipient = {
  recipientType: undefined,
  recipientName: undefined,
  recipientCountry: undefined,
  recipientPhone: undefined,
  recipientAddress: undefined,
  chosen: '',
};

/** Another country pays out another currency, so the amount goes with the account. */
const account = {
  country: undefined,
  method: undefined,
  institution: undefined,
  institutionName: undefined,
  acctNum: undefined,
  acctName: undefined,
  amount: undefined,
  chosen: '',
};

const sender = {
  senderType: undefined,
  senderName: undefined,
  senderCountry: undefined,
  senderPhone: undefined,
  senderAddress: undefined,
  keepSender: undefined,
};

const changes: readonly { readonly name: string; readonly value: Partial<Draft> }[] = [
  { name: 'Change the amount', value: { amount: undefined } },
  { name: 'Change the account', value: account },
  { name: 'Change who the recipient is', value: recipient },
  { name: 'Change your own details', value: sender },
  { name: 'Change the code numbers', value: { purpose: undefined, source: undefined, relationship: undefined } },
];

/** The draft with some answers given again; undefined when the person leaves it. */
export async function askChange(draft: Draft, deps: WizardDeps): Promise<Draft | undefined> {
  for (;;) {
    const question = { message: 'Not sent. What now?', flag: '--yes', choices: changes, backName: 'Leave it' };
    const forgotten = await deps.ask.select(question);
    if (forgotten === back) return undefined;
    const changed = await askPayout({ ...draft, ...forgotten }, deps);
    if (changed !== back) return changed;
  }
}
