// Payments for an integrator: the same machine as the command line's, with a journal of their choice.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { WalletClient } from './client.js';
import type { Transaction } from '../api/types.js';
import { parseBaseUrl } from '../api/base-url.js';
import { timerMs } from '../formats/duration.js';
import { parseReference } from '../formats/reference.js';
import { isAlive, ownerOf } from '../store/journal/owner.js';
import type { Journal } from '../store/journal/journal.js';
import { readLimits, type Limits, type Network } from '../store/profile/profiles.js';
import { noLimits } from '../wallet/limits/limits.js';
import type { Answer, Approval, PaymentDeps, PaymentEvent } from '../wallet/payment/contract.js';
import { pay } from '../wallet/payment/payment.js';
import { resumeAll, type Resumed } from '../wallet/payment/resume-all.js';
import { ownAddressGuard } from '../wallet/plan/destinations.js';
import { planSendNow } from '../wallet/plan/send.js';

/** Names this process in journals, the same in all its threads: they are alive together. */
const ownName = (): string => ownerOf(process.pid, String(performance.timeOrigin));
const isOwnerAlive = (other: string): boolean => isAlive(other, ownName());

/** A journal that is gone with the process, for tests: after that the service alone knows what was paid. */
export const openMemoryJournal = (): Promise<Journal> => openSqliteJournal(':memory:');

/** A journal in a SQLite file, which processes of one machine may share; the file of the command line can be one of them. */
export async function openSqliteJournal(path: string): Promise<Journal> {
  const { openJournal } = await import('../store/journal/sqlite-journal.js');
  return openJournal({ path, isAlive: isOwnerAlive, now: () => Date.now() });
}

/** A journal in PostgreSQL, `postgres://…`, which many machines may share, with the command line too. */
export async function openPostgresJournal(url: string): Promise<Journal> {
  const [database, schema, journals] = await Promise.all([
    import('../store/database/postgres.js'),
    import('../store/database/postgres-schema.js'),
    import('../store/journal/postgres-journal.js'),
  ]);
  const source = 'The address of the journal';
  const postgres = database.postgresDatabase({ url, source, clock: () => performance.now() });
  await schema.prepareTables(postgres, source, journals.journalPart);
  return journals.openPostgresJournal(postgres, isOwnerAlive);
}

/** What payments are made with. */
export interface PaymentsOptions {
  /** Acts in the account of its key. */
  client: WalletClient;
  /** Of the client: within it references are unique. */
  baseUrl: string;
  /** Keeps each step before its request goes out; what is lost of it can be paid twice. */
  journal: Journal;
  /** What may be spent; whatever is asked for unless told. */
  limits?: Limits | undefined;
  /** Whose invoices and addresses are taken; `mainnet` for a service elsewhere, `any` for one on this machine unless told. */
  network?: Network | undefined;
  /** Ends waiting at once: what was let go by then is reported as `pending`. */
  signal?: AbortSignal | undefined;
  /** Told of each step as it happens. */
  on?: ((event: PaymentEvent) => void) | undefined;
}

/** A payment as it is asked for. */
export interface Payment {
  /** An invoice, an address, an LNURL, a Lightning Address or a `bitcoin:` URI. */
  to: string;
  /** With its unit, as in `50000sat` or `25usdt`; an invoice says it itself. */
  amount?: string | undefined;
  /** The wallet that pays, such as `USDT`, where it is not the usual one of the destination. */
  from?: string | undefined;
  /** Run again with the same one, it goes on with the same payment. */
  ref?: string | undefined;
  /** The highest total fee: a share, or an amount in the currency of the wallet that pays. */
  maxFee?: { percent: string } | { amount: string; ccy: string } | undefined;
  /** Sees the full cost before money moves, and says yes or no; without it, to ask for the payment is the yes. */
  approve?: ((approval: Approval) => Promise<Answer>) | undefined;
  /** How long to wait for the end, in ms; 30 000 unless told, `false` ends once the service has taken the confirmation. */
  wait?: number | 'forever' | false | undefined;
  /** Another attempt after one that failed, or of which it is in doubt whether it paid. */
  retry?: boolean | undefined;
}

/** Payments that are made once, whatever fails on the way. */
export interface Payments {
  /**
   * Resolves with the transaction in its last known state. Rejects with a `Failure`: `payment-failed` when it ended without
   * paying, `pending` when its outcome is not known yet; `resume` or the same payment again goes on with it then.
   */
  pay(payment: Payment): Promise<Transaction>;
  /** Finishes or reports what was begun and is not over, such as after a crash, and waits so long, in ms, for all together. */
  resume(wait?: number | 'forever' | false): Promise<Resumed[]>;
}

const usualWaitMs = 30_000;

/**
 * The payments of one account at one service.
 *
 * ```ts
 * const journal = await openSqliteJournal('/var/lib/shop/payments.db');
 * const payments = openPayments({ client, baseUrl, journal, limits: { perPayment: {}, perDay: { BTC: '0.01' }, destinations: [] } });
 * await payments.resume();
 * const { txnState } = await payments.pay({ to: invoice, ref: 'order-118', maxFee: { percent: '1' } });
 * ```
 */
export function openPayments(options: PaymentsOptions): Payments {
  const { client, journal, on = () => undefined } = options;
  const limits = readLimits(options.limits ?? noLimits);
  const baseUrl = parseBaseUrl(options.baseUrl);
  const network = options.network ?? (baseUrl.startsWith('https:') ? 'mainnet' : 'any');
  const signal = options.signal ?? new AbortController().signal;
  const guard = ownAddressGuard(async () => ({ client }), () => undefined);

  const depsOf = async (approve: PaymentDeps['approve']): Promise<PaymentDeps> => {
    const account = await client.ownAccountId();
    return {
      service: client,
      journal,
      scope: `${baseUrl} ${account}`,
      account,
      owner: ownName(),
      limits,
      now: () => Date.now(),
      sleep: (ms, stop) => delay(timerMs(ms), undefined, stop === undefined ? {} : { signal: stop }),
      every: (ms, action) => {
        const timer = setInterval(action, ms);
        return () => clearInterval(timer);
      },
      newId: () => randomUUID(),
      signal,
      approve,
      on,
    };
  };

  return {
    async pay({ to, amount, from, ref, maxFee, approve, wait = usualWaitMs, retry = false }) {
      const { order } = planSendNow({ to, amount, from }, { network, now: Date.now() });
      await guard(order);
      const consent = approve === undefined ? 'standing' : 'none';
      const deps = await depsOf(approve ?? (async () => false));
      return pay({ order, ref: ref === undefined ? undefined : parseReference(ref), terms: { maxFee }, consent }, { wait, retry, mode: 'pay' }, deps);
    },
    async resume(wait = usualWaitMs) {
      const deps = await depsOf(async () => false);
      return resumeAll(await journal.open(deps.scope), wait, async () => deps);
    },
  };
}
