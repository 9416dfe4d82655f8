// After a no to the last card, or a refusal: which answers to give again, instead of all of them.
import type { Draft } from './payout-draft.js';

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
  methodOf: undefined,
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

const change = (name: string, forgotten: Partial<Draft>) => ({ name, forget: (draft: Draft): Draft => ({ ...draft, ...forgotten }) });

export const payoutChanges = [
  change('Change the amount', { amount: undefined }),
  change('Change the account', account),
  change('Change who the recipient is', recipient),
  change('Change your own details', sender),
  change('Change the code numbers', { purpose: undefined, source: undefined, relationship: undefined }),
];
