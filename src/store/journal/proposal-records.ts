// The records about proposals of an account: the text of each proposal that the owner decided on or
// that a run of a budget made, and the refusals.
import * as v from 'valibot';
import { inserted, rowOf, type SqlDatabase } from '../database/sql.js';

export interface ProposalRecord {
  readonly id: string;
  /** The digests of the proposed instructions, joined by spaces. */
  readonly digests: string;
  /** The file of the proposal, byte for byte. */
  readonly text: string;
  /** The time of the refusal in epoch ms, or null for a proposal that was not refused. */
  readonly refusedAt: number | null;
  readonly note: string | null;
}

export interface ProposalRecords {
  all(scope: string): Promise<readonly ProposalRecord[]>;
  /** Records a proposal, and its refusal. A refused proposal stays refused. */
  keep(scope: string, record: ProposalRecord): Promise<void>;
}

const rows = v.array(
  rowOf({
    id: v.string(),
    digests: v.string(),
    text: v.string(),
    refusedAt: v.nullable(v.number()),
    note: v.nullable(v.string()),
  }),
);

const select = 'SELECT * FROM proposals WHERE scope = ?';
const orRefuse = `ON CONFLICT (scope, id) DO UPDATE
  SET refused_at = excluded.refused_at, note = excluded.note
  WHERE proposals.refused_at IS NULL`;

export const proposalRecords = (database: SqlDatabase): ProposalRecords => ({
  all: async (scope) => v.parse(rows, await database.read((sql) => sql.all(select, scope))),
  async keep(scope, record) {
    const statement = inserted('proposals', [{ scope, ...record }], orRefuse);
    await database.transaction((sql) => sql.run(...statement), { lasts: true });
  },
});
