// Shows proposals: a list for the owner, and the card of one proposal. Text of the proposer is
// quoted, and never more than data.
import { formatAmounts, type Money } from '../../formats/amount.js';
import { describeDuration } from '../../formats/calendar.js';
import { relativeTime, shortTime } from '../time.js';
import { cardLines } from '../cards/card.js';
import { columnsApart, type ListView, type RecordView } from '../rows/view.js';
import { sanitize } from '../text.js';

export interface ProposalView {
  readonly id: string;
  readonly path: string;
  readonly state: 'open' | 'paying' | 'paid' | 'refused' | 'expired' | 'void';
  /** The user id of the owner of the file. */
  readonly uid: number;
  /** Whether the file was written by the user who reads it. */
  readonly isOwn: boolean;
  readonly writtenAt: number;
  /** Each payment in words. */
  readonly what: readonly string[];
  readonly maxTotal: readonly Money[];
  readonly expiresAt: number | null;
  readonly reason: string | null;
  readonly remarks: readonly string[];
  /** Why a void proposal cannot be paid. */
  readonly why: string | null;
}

const fields = [
  'id',
  'path',
  'state',
  'uid',
  'isOwn',
  'writtenAt',
  'what',
  'maxTotal',
  'expiresAt',
  'reason',
  'remarks',
  'why',
];

const whatText = ({ what, why }: ProposalView): string => {
  const [first = why ?? '', ...others] = what;
  return others.length === 0 ? first : `${first}, and ${others.length} more`;
};

export const proposalList = (now: number): ListView<ProposalView> => ({
  columns: columnsApart<ProposalView>(fields, [
    { name: 'writtenAt', title: 'Age', value: ({ writtenAt }) => shortTime(writtenAt, now) },
    { name: 'state', title: 'State' },
    { name: 'what', title: 'What', value: (view) => sanitize(whatText(view)), shrinks: true },
    {
      name: 'maxTotal',
      title: 'At most',
      value: ({ maxTotal }) => formatAmounts(maxTotal),
      priority: 1,
    },
    {
      name: 'remarks',
      title: 'Remarks',
      value: ({ remarks }) => remarks.join(', '),
      priority: 2,
    },
    { name: 'id', title: 'ID', value: ({ id }) => id.slice(0, 8) },
  ]),
  quiet: ({ id }) => id,
  empty: 'No proposals.',
});

/** The card of a proposal, from the bytes of its file. */
export const proposalCard = (now: number): RecordView<ProposalView> => ({
  ...proposalList(now),
  screen: (canvas, view) => {
    const { id, uid, isOwn, writtenAt, state, maxTotal, expiresAt, reason, what, remarks, why } =
      view;
    const who = isOwn ? 'you: this prevents accidents, not abuse' : `uid ${uid}`;
    const until =
      expiresAt === null || state !== 'open'
        ? state
        : `expires in ${describeDuration(Math.max(expiresAt - now, 0))}`;
    return cardLines(
      [
        { label: 'Proposal', value: id, whole: true },
        { label: 'Written', value: `by ${who}, ${relativeTime(writtenAt, now)}`, note: until },
        ...what.map((each) => ({ label: 'Pay', value: each })),
        { label: 'At most', value: why === null ? `${formatAmounts(maxTotal)} in total` : null },
        { label: 'Reason', value: reason && `“${reason}”` },
        ...remarks.map((each) => ({ label: 'Check', value: each })),
        { label: 'Void', value: why },
      ],
      canvas,
    );
  },
});
