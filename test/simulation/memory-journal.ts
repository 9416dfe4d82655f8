// The journal in memory: the same promises as the one in SQLite, each kept a moment later, as over a network.
import * as v from 'valibot';
import {
  leaseMs,
  LostClaim,
  type Claim,
  type Intent,
  type IntentDraft,
  type Journal,
  type Spend,
} from '../../src/store/journal/journal.js';
import { mayHavePaid, neverCreated, wasLetGo } from '../../src/store/journal/rules.js';

interface Row {
  intent: Intent;
  owner: string | null;
  leaseUntil: number;
  fence: number;
}

/** What is kept; it outlives the wallets that write to it. */
export interface JournalStore {
  readonly rows: Map<string, Row>;
}

export const emptyStore = (): JournalStore => ({ rows: new Map() });

/** @param isAlive whether the process that a claim's owner names still runs. */
export function memoryJournal({ rows }: JournalStore, isAlive: (owner: string) => boolean): Journal {
  const all = (): Row[] => [...rows.values()];
  const isHeld = ({ owner, leaseUntil }: Row, now: number): boolean =>
    owner !== null && leaseUntil > now && leaseUntil <= now + leaseMs && isAlive(owner);
  const rivals = ({ scope, onceKey }: IntentDraft, id: string | undefined): Intent[] =>
    onceKey === null
      ? []
      : all().map(({ intent }) => intent).filter((each) => each.scope === scope && each.onceKey === onceKey && each.id !== id);
  const spentSince = (scope: string, since: number, but: string | undefined): Spend[] =>
    all()
      .map(({ intent }) => intent)
      .filter((each) => each.scope === scope && each.id !== but && each.spendCcy !== null && wasLetGo(each))
      .filter((each) => (each.approvedAt ?? 0) >= since)
      .flatMap((each) => [{ ccy: each.spendCcy ?? '', total: each.approvedTotal ?? '0' }, ...arrived(each)]);
  const held = (claim: Claim): Row => {
    const row = rows.get(claim.intent.id);
    if (row?.fence !== claim.fence) throw new LostClaim('another process took the payment over');
    return row;
  };
  const update = (claim: Claim, change: object, now: number): Claim => {
    const row = held(claim);
    const changes = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    row.intent = { ...row.intent, ...changes, updatedAt: now };
    row.leaseUntil = now + leaseMs;
    return { intent: row.intent, fence: row.fence };
  };

  return {
    async begin(draft) {
      const same = all().find(({ intent }) => intent.scope === draft.scope && intent.ref === draft.ref);
      const rival = rivals(draft, same?.intent.id).find(mayHavePaid);
      if (rival !== undefined && (same === undefined || !mayHavePaid(same.intent))) return { intent: rival, found: 'once' };
      if (same === undefined) {
        const intent = opened(draft);
        rows.set(draft.id, { intent, owner: null, leaseUntil: 0, fence: 0 });
        return { intent, found: 'new' };
      }
      if (same.intent.fingerprint !== draft.fingerprint && neverCreated(same.intent) && !isHeld(same, draft.openedAt)) {
        const { kind, request, fingerprint, onceKey, terms, consent } = draft;
        same.intent = { ...same.intent, kind, request, fingerprint, onceKey, terms, consent };
        same.fence += 1;
      }
      return { intent: same.intent, found: 'ref' };
    },
    async claim(id, owner, now) {
      const row = rows.get(id);
      if (row === undefined || (row.owner !== owner && isHeld(row, now))) return undefined;
      Object.assign(row, { owner, leaseUntil: now + leaseMs, fence: row.fence + 1 });
      return { intent: row.intent, fence: row.fence };
    },
    write: async (claim, change, now) => update(claim, change, now),
    async spend(claim, change, { since, now }, allow) {
      const { id, scope } = claim.intent;
      allow({ spent: spentSince(scope, since, id), rival: rivals(claim.intent, id).find(wasLetGo) });
      return update(claim, change, now);
    },
    async release(claim) {
      const row = rows.get(claim.intent.id);
      if (row?.fence === claim.fence) Object.assign(row, { owner: null, leaseUntil: 0 });
    },
    spent: async (scope, since) => spentSince(scope, since, undefined),
    read: async (id) => rows.get(id)?.intent,
    find: async (scope, name) =>
      all()
        .map(({ intent }) => intent)
        .find((each) => each.scope === scope && [each.id, each.txnId, each.ref].includes(name)),
    open: async (scope) =>
      all()
        .map(({ intent }) => intent)
        .filter((each) => each.scope === scope && each.step !== 'final' && !each.closed)
        .toSorted((a, b) => a.openedAt - b.openedAt),
    close: async () => undefined,
  };
}

const requestSchema = v.object({ receives: v.optional(v.object({ ccy: v.string(), value: v.string() })) });

/** What arrived outside of the wallet in another currency. */
function arrived({ request, kind, spendCcy }: Intent): Spend[] {
  const { receives } = v.parse(requestSchema, JSON.parse(request));
  const isElsewhere = receives !== undefined && kind !== 'swap' && receives.ccy !== spendCcy;
  return isElsewhere ? [{ ccy: receives.ccy, total: receives.value }] : [];
}

const opened = (draft: IntentDraft): Intent => ({
  ...draft,
  attempt: 1,
  step: 'intent',
  txnId: null,
  txnState: null,
  approvedTotal: null,
  approvedReceives: null,
  spendCcy: null,
  approvedAt: null,
  closed: false,
  updatedAt: draft.openedAt,
});
