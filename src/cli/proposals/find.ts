// Reads the proposals of an outbox, and derives what became of each from the journal.
import { getuid } from 'node:process';
import { btcFromMsat, formatSats } from '../../formats/amount.js';
import { detectDestination } from '../../formats/destination.js';
import { Failure, invalid } from '../../formats/failure.js';
import { shortened } from '../../formats/text.js';
import { readOutbox, type OutboxFile } from '../../store/files/outbox.js';
import { decisive, status, type Payment } from '../../store/journal/payment.js';
import type { ProposalView } from '../../terminal/views/proposal-view.js';
import type { Instruction } from '../../wallet/instruction/instruction.js';
import { amountAsked, inWords } from '../../wallet/instruction/words.js';
import {
  largestFile,
  proposedRows,
  readProposal,
  referenceOf,
  remarksOn,
  type Known,
  type ReadProposal,
} from '../../wallet/proposals/proposal.js';
import { payeeOf } from '../../wallet/payout/methods.js';
import { inJournal } from '../../wallet/batch/check.js';
import { paymentsIn } from '../batch/batch-check.js';
import { latestPayments } from '../contacts/payees.js';
import type { Context } from '../context.js';
import { environmentOf, outboxOf } from './outbox.js';

export interface FoundProposal {
  readonly view: ProposalView;
  /** The content, or undefined for a void file. */
  readonly read: ReadProposal | undefined;
  /** The transaction of a proposal of one payment. */
  readonly txnId: string | null;
}

/** Reads all proposals of the folder, oldest first. */
export async function findProposals(
  folder: string,
  context: Context,
): Promise<readonly FoundProposal[]> {
  const files = readOutbox(folder, largestFile);
  if (files.length === 0) return [];
  const known = await knownHere(context);
  return Promise.all(files.map((file) => describe(file, known, context)));
}

/**
 * Finds a proposal by its id or by the beginning of the id, with at least 6 characters.
 * @param outbox the folder that the command line names
 */
export async function findProposal(
  name: string,
  outbox: string | undefined,
  context: Context,
): Promise<FoundProposal> {
  const folder = outboxOf(outbox, context);
  const [only, ...others] = (await findProposals(folder, context)).filter(
    ({ view: { id } }) => id === name || (name.length >= 6 && id.startsWith(name)),
  );
  if (only !== undefined && others.length === 0) return only;
  throw new Failure(
    only === undefined ? 'not-found' : 'usage',
    `${only === undefined ? 'No' : 'More than one'} proposal in ${folder} is named "${name}".`,
    { hint: 'List the proposals', next: { do: 'run', command: 'proposals' } },
  );
}

async function knownHere(context: Context): Promise<Known> {
  const { scope } = await context.account();
  const [records, payments] = await Promise.all([
    context.proposals().then((each) => each.all(scope)),
    latestPayments(context),
  ]);
  const refused = records.flatMap(({ id, digests, refusedAt }) =>
    refusedAt === null ? [] : [id, ...digests.split(' ')].map((key) => [key, refusedAt] as const),
  );
  return { payments, now: context.now(), refused: new Map(refused) };
}

async function describe(
  { id, path, uid, writtenAt, text }: OutboxFile,
  known: Known,
  context: Context,
): Promise<FoundProposal> {
  const origin = { id, path, uid, isOwn: getuid?.() === uid, writtenAt };
  try {
    if (text === undefined) throw invalid('it is not a plain file of at most 512 KiB in UTF-8');
    const read = readProposal(text, id, environmentOf(context));
    const { account, rows, maxTotal, expiresAt, reason } = read.proposal;
    const own = await context.account();
    if (account !== null && account !== own.id) throw invalid(`it is for the account ${account}`);
    const payments = await paymentsOf(read, context);
    const state = stateOf(read, payments, known);
    // After the beginning, the payment of the proposal would itself be the same again.
    const remarks = state === 'open' ? rows.flatMap((row) => remarksOn(row, known)) : [];
    const [payment, ...others] = payments;
    return {
      read,
      txnId: (payment && others.length === 0 && decisive(payment).txnId) || null,
      view: {
        ...origin,
        state,
        what: rows.map(whatIsPaid),
        maxTotal,
        expiresAt,
        reason,
        remarks: [...new Set(remarks)],
        why: null,
      },
    };
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'usage') throw error;
    return { read: undefined, txnId: null, view: { ...origin, ...nothing, why: error.why } };
  }
}

const nothing = {
  state: 'void',
  what: [],
  maxTotal: [],
  expiresAt: null,
  reason: null,
  remarks: [],
} as const;

/** A row in words that name the account or the destination, and not only a name. */
function whatIsPaid(row: Instruction): string {
  const { to, amount, payout, name } = row;
  if (payout !== undefined) {
    const { name: holder, account, institutionCode, institutionName } = payeeOf(payout);
    const bank =
      institutionName === undefined ? institutionCode : `${institutionName} (${institutionCode})`;
    return `${amountAsked(row)} to ${holder}, ${bank} ${account}`;
  }
  const found = amount === 'invoice' ? detectDestination(to) : undefined;
  const msat = found?.kind === 'bolt11' ? found.value.amountMsat : null;
  if (msat !== null) return `${formatSats(btcFromMsat(msat))}, invoice ${shortened(to)}`;
  return `${inWords(row)}${name === undefined ? '' : ` (${shortened(to)})`}`;
}

function stateOf(
  { id, proposal }: ReadProposal,
  payments: readonly (Payment | undefined)[],
  { refused, now }: Known,
): ProposalView['state'] {
  const states = payments.map((payment) => (payment ? status(payment) : 'open'));
  if (states.every((each) => each === 'paid')) return 'paid';
  const isBegun = states.some((each) => each !== 'abandoned' && each !== 'open');
  // Another run may have paid a row of a refused batch under the reference of the row.
  if (refused.has(id) && (proposal.batch !== null || !isBegun)) return 'refused';
  if (isBegun) return 'paying';
  return proposal.expiresAt <= now ? 'expired' : 'open';
}

/** The payment of each row, or undefined for a row that was never begun. */
async function paymentsOf(
  read: ReadProposal,
  context: Context,
): Promise<readonly (Payment | undefined)[]> {
  const { batch } = read.proposal;
  if (batch === null) {
    const { scope, journal } = await context.account();
    return [await (await journal()).find(scope, referenceOf(read.id))];
  }
  const lookup = { name: batch.name, paymentsUnder: paymentsIn(context) };
  const { found } = await inJournal(proposedRows(read, environmentOf(context)), lookup);
  return found.map(({ payment }) => payment);
}
