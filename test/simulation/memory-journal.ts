// The journal in memory: the same promises as the one in SQLite, each kept a moment later, as over a network.
import * as v from 'valibot';
import {
  leaseMs,
  LostClaim,
  type Claim,
  type Intent,
  type IntentChange,
  type IntentDraft,
  type Journal,
  type Spend,
} from '../../src/store/journal/journal.js';
import { isAccounted, mayHavePaid, neverCreated, wasEverLetGo, wasLetGo } from '../../src/store/journal/rules.js';
import { joined } from '../../src/store/journal/references.js';
import { changed, opened } from '../../src/store/journal/steps.js';
import type { Coverage, ReferenceIndex, SeenTransaction, Window } from '../../src/store/journal/journal.js';

interface Row {
  intent: Intent;
  owner: string | null;
  leaseUntil: number;
  fence: number;
}

/** What is kept; it outlives the wallets that write to it. */
export interface JournalStore {
  readonly rows: Map<string, Row>;
  /** By scope: what was seen of the service's list, and which part of it was read. */
  readonly seen: Map<string, { readonly transactions: Map<string, SeenTransaction>; span: Coverage | undefined }>;
}

export const emptyStore = (): JournalStore => ({ rows: new Map(), seen: new Map() });

/** @param isAlive whether the process that a claim's owner names still runs. */
export function memoryJournal(store: JournalStore, isAlive: (owner: string) => boolean, now: () => number): Journal {
  const { rows } = store;
  const all = (): Row[] => [...rows.values()];
  const isHeld = ({ owner, leaseUntil }: Row, now: number): boolean =>
    owner !== null && leaseUntil > now && leaseUntil <= now + leaseMs && isAlive(owner);
  const rivals = ({ onceKey }: IntentDraft, id: string | undefined): Intent[] =>
    onceKey === null ? [] : all().map(({ intent }) => intent).filter((each) => each.onceKey === onceKey && each.id !== id);
  const spentSince = (account: string, { earliest, lengthMs }: Window, but: string | undefined): Spend[] => [
    ...all()
      .map(({ intent }) => intent)
      .filter((each) => each.account === account && each.id !== but && each.spendCcy !== null && wasLetGo(each))
      .filter((each) => each.approvedAt !== null && each.approvedAt >= earliest - lengthMs)
      .flatMap((each) => [{ ccy: each.spendCcy ?? '', total: each.approvedTotal ?? '0' }, ...arrived(each)]),
    ...all()
      .flatMap(({ intent }) => (intent.account === account ? intent.doubts.map((doubt) => ({ ...intent, ...doubt })) : []))
      .filter(({ approvedAt, spendCcy }) => approvedAt !== null && approvedAt >= earliest - lengthMs && spendCcy !== null)
      .flatMap((each) => [{ ccy: each.spendCcy ?? '', total: each.approvedTotal ?? '0' }, ...arrived(each)]),
  ];
  const held = (claim: Claim): Row => {
    const row = rows.get(claim.intent.id);
    if (row?.fence !== claim.fence) throw new LostClaim('another process took the payment over');
    return row;
  };
  const update = (claim: Claim, change: IntentChange): Claim => {
    const row = held(claim);
    row.intent = { ...changed(row.intent, change), updatedAt: now() };
    row.leaseUntil = now() + leaseMs;
    return { intent: row.intent, fence: row.fence };
  };

  return {
    async begin(draft) {
      const same = all().find(({ intent }) => intent.scope === draft.scope && intent.ref === draft.ref);
      const rival = rivals(draft, same?.intent.id).find(mayHavePaid);
      if (rival !== undefined && (same === undefined || !mayHavePaid(same.intent))) return { intent: rival, found: 'once' };
      if (same === undefined) {
        const intent = opened(draft, now());
        rows.set(draft.id, { intent, owner: null, leaseUntil: 0, fence: 0 });
        return { intent, found: 'new' };
      }
      if (same.intent.fingerprint !== draft.fingerprint && neverCreated(same.intent) && !isHeld(same, now())) {
        const { kind, request, fingerprint, onceKey, terms, consent } = draft;
        same.intent = { ...same.intent, kind, request, fingerprint, onceKey, terms, consent };
        same.fence += 1;
      }
      return { intent: same.intent, found: 'ref' };
    },
    async claim(id, owner) {
      const row = rows.get(id);
      if (row === undefined || (row.owner !== owner && isHeld(row, now()))) return undefined;
      Object.assign(row, { owner, leaseUntil: now() + leaseMs, fence: row.fence + 1 });
      return { intent: row.intent, fence: row.fence };
    },
    async renew(claim) {
      held(claim).leaseUntil = now() + leaseMs;
    },
    write: async (claim, change) => update(claim, change),
    async spend(claim, change, window, allow) {
      const { id, account } = claim.intent;
      allow({ spent: spentSince(account, window, id), rival: rivals(claim.intent, id).find(wasEverLetGo) });
      return update(claim, { ...change, approvedAt: window.latest });
    },
    async release(claim) {
      const row = rows.get(claim.intent.id);
      if (row?.fence === claim.fence) Object.assign(row, { owner: null, leaseUntil: 0 });
    },
    async enter(draft, { ago, ...letGo }, window) {
      const same = all().find(({ intent }) => intent.scope === draft.scope && intent.ref === draft.ref);
      if (same !== undefined && isAccounted(same.intent)) return false;
      const row = same ?? { intent: opened(draft, now()), owner: null, leaseUntil: 0, fence: 0 };
      const intent = { ...row.intent, ...letGo, approvedAt: window.latest - ago, closed: false, updatedAt: now() };
      rows.set(intent.id, { ...row, intent, owner: null, fence: row.fence + 1 });
      return true;
    },
    spent: async (account, window) => spentSince(account, window, undefined),
    read: async (id) => rows.get(id)?.intent,
    find: async (scope, name) => {
      const intents = all().map(({ intent }) => intent).filter((each) => each.scope === scope);
      return (
        intents.find((each) => [each.id, each.txnId, each.ref].includes(name)) ??
        intents.find(({ doubts }) => doubts.some(({ txnId }) => txnId === name))
      );
    },
    beginning: async (scope, start) =>
      all()
        .map(({ intent }) => intent)
        .filter((each) => each.scope === scope && each.txnId?.startsWith(start) === true)
        .slice(0, 2),
    latest: async (account, atMost) =>
      all()
        .map(({ intent }) => intent)
        .filter((each) => each.account === account && each.approvedAt !== null)
        .toSorted((a, b) => (b.approvedAt ?? 0) - (a.approvedAt ?? 0))
        .slice(0, atMost),
    openSince: () => Promise.resolve([]),
    unfinished: () => Promise.resolve([]),
    open: async (scope) =>
      all()
        .map(({ intent }) => intent)
        .filter((each) => each.scope === scope && each.step !== 'final' && !each.closed)
        .toSorted((a, b) => a.openedAt - b.openedAt),
    references: referencesIn(store),
    close: async () => undefined,
  };
}

function referencesIn({ seen }: JournalStore): ReferenceIndex {
  const of = (scope: string): SeenTransaction[] => [...(seen.get(scope)?.transactions.values() ?? [])];
  return {
    covered: async (scope) => seen.get(scope)?.span,
    async note(scope, transactions, span) {
      const kept = seen.get(scope) ?? { transactions: new Map<string, SeenTransaction>(), span: undefined };
      for (const each of transactions) kept.transactions.set(each.txnId, each);
      if (span !== undefined) kept.span = joined(kept.span, span);
      seen.set(scope, kept);
    },
    attempts: async (scope, ref) =>
      of(scope).filter(({ extRefId }) => extRefId === ref || extRefId?.startsWith(`${ref}~`) === true),
    countSince: async (scope, createdAt) => of(scope).filter((each) => each.createdAt >= createdAt).length,
  };
}

const requestSchema = v.object({
  receives: v.optional(v.object({ ccy: v.string(), value: v.string() })),
  body: v.optional(v.object({ destReq: v.object({ ccy: v.string() }) })),
});

/** What arrived outside of the wallet in another currency. */
function arrived({ request, kind, spendCcy, approvedReceives }: Intent): Spend[] {
  const { receives, body } = v.parse(requestSchema, JSON.parse(request));
  const [ccy, total] = [receives?.ccy ?? body?.destReq.ccy, receives?.value ?? approvedReceives];
  return ccy === undefined || total === null || kind === 'swap' || ccy === spendCcy ? [] : [{ ccy, total }];
}
