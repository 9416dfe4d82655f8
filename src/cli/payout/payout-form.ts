// Builds the form of a payout, which summarizes each answered part of the payout in one line above
// the questions.
import { formatAmount, shortAmount, type Money } from '../../formats/amount.js';
import { countryName } from '../../formats/country.js';
import type { Form } from '../../terminal/cards/form.js';
import { accountWords } from '../../wallet/payout/methods.js';
import type { WorthOf } from '../watch/worth.js';
import { partyOf, type Draft } from './payout-draft.js';

export type FormPart = 'Where to' | 'Amount' | 'Account' | 'Recipient' | 'Sender' | 'Codes';

/** A part of the form, and the function that summarizes the answers of the part. */
type PartText = readonly [part: FormPart, tell: (draft: Draft) => string];

/**
 * Returns the form that svcpay shows above the questions of `part`. Without `part`, returns the
 * completed form.
 */
export type FormOf = (draft: Draft, part?: FormPart) => Form;

const where: PartText = [
  'Where to',
  ({ country, method }) => listed(country?.name, method && accountWords(method), method?.arrives),
];

const payee: readonly PartText[] = [
  [
    'Account',
    ({ institution, institutionName, acctNum, acctName }) =>
      listed(
        institutionName === undefined ? institution : `${institutionName} (${institution})`,
        acctNum,
        acctName,
      ),
  ],
  ['Recipient', (draft) => partyText(draft, 'recipient')],
];

/**
 * Creates the form of a payout.
 * @param start the answers known before the first question
 */
export function payoutForm(start: Draft, worth: WorthOf): FormOf {
  const note = partyOf(start, 'sender') === undefined ? '' : ' (kept)';
  return form('Payout', [
    where,
    [
      'Amount',
      ({ amount, from }) =>
        listed(
          amount === undefined ? undefined : formatAmount(amount),
          amount === undefined ? undefined : costText(worth(amount, from ?? 'BTC')),
          from === undefined ? undefined : `from the ${from} wallet`,
        ),
    ],
    ...payee,
    ['Sender', (draft) => labelled('sender: ', partyText(draft, 'sender'), note)],
    [
      'Codes',
      ({ purpose, source, relationship }) =>
        listed(
          coded('purpose', purpose),
          coded('source', source),
          coded('relationship', relationship),
        ),
    ],
  ]);
}

export const recipientForm: FormOf = form('Recipient', [where, ...payee]);

function form(name: string, parts: readonly PartText[]): FormOf {
  return (draft, asked) => {
    const index = parts.findIndex(([part]) => part === asked);
    const lines = parts
      .map(([part, tell]) => ({ text: tell(draft), isDone: part !== asked }))
      .filter(({ text }) => text !== '');
    return {
      title:
        asked === undefined ? name : `${name} · step ${index + 1} of ${parts.length} · ${asked}`,
      known: lines,
    };
  };
}

const listed = (...words: readonly (string | undefined)[]): string =>
  words.filter((word) => word).join(' · ');
const labelled = (before: string, text: string, after: string): string =>
  text === '' ? '' : before + text + after;

function partyText(draft: Draft, who: 'recipient' | 'sender'): string {
  const [kind, country] = [draft[`${who}Type`], draft[`${who}Country`]];
  const named = country === undefined ? undefined : countryName(country);
  return listed(
    kind === 'business' ? kind : undefined,
    draft[`${who}Name`],
    named,
    draft[`${who}Phone`],
    draft[`${who}Address`],
  );
}

const costText = (cost: Money | undefined): string | undefined =>
  cost === undefined ? undefined : `≈ ${shortAmount(cost)}`;

const coded = (name: string, code: number | undefined): string | undefined =>
  code === undefined ? undefined : `${name} ${code}`;
