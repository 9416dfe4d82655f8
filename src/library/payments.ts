// Payments for an integrator: the payment core of the command line, with a journal of the integrator's choice.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { WalletClient } from './client.js';
import type { CreateTransaction, Transaction, TxnState } from '../api/types.js';
import { wireJson } from '../api/json.js';
import { parseAmount, parseCurrency, type Money } from '../formats/amount.js';
import { timerMs } from '../formats/duration.js';
import { Failure, ifTold } from '../formats/failure.js';
import { parseReference } from '../formats/reference.js';
import { isAlive, ownerOf } from '../store/journal/owner.js';
import type { Journal as PaymentJournal } from '../store/journal/journal.js';
import { latest, status, type Payment, type PaymentStatus } from '../store/journal/payment.js';
import { readLimits, type Limits, type Network } from '../store/profile/profiles.js';
import { noLimits } from '../wallet/limits/limits.js';
import type { Answer, Approval as CoreApproval, PaymentDeps, PaymentEvent as CoreEvent } from '../wallet/payment/contract.js';
import { receiveBody, swapOrder, type Order } from '../wallet/order/orders.js';
import { pay } from '../wallet/payment/payment.js';
import { resumeAll } from '../wallet/payment/resume-all.js';
import { readPayoutFile } from '../wallet/payout/from-file.js';
import { findInstitution } from '../wallet/payout/institutions.js';
import { payeeOf } from '../wallet/payout/order.js';
import type { Quote } from '../wallet/quote/quote.js';
import { ownAddressGuard } from '../wallet/plan/destinations.js';
import { planSendNow } from '../wallet/plan/send.js';
import { readAsked } from '../wallet/receive/asked.js';
import { checkedInvoice } from '../wallet/receive/lightning.js';
import { checkedOnchainRequest } from '../wallet/receive/onchain.js';
import { requestMoney } from '../wallet/receive/request.js';

/** Names this process in journals, the same in all its threads: they are alive together. */
const ownName = (): string => ownerOf(process.pid, String(performance.timeOrigin));
const isOwnerAlive = (other: string): boolean => isAlive(other, ownName());

/** A journal that is gone with the process, for tests: after that the service alone knows what was paid. */
export const openMemoryJournal = (): Promise<Journal> => openSqliteJournal(':memory:');

/** A journal in a SQLite file, which processes of one machine may share; the file of the command line can be one of them. */
export async function openSqliteJournal(path: string): Promise<Journal> {
  const { openJournal } = await import('../store/journal/sqlite-journal.js');
  return asJournal(openJournal({ path, isAlive: isOwnerAlive, now: () => Date.now() }));
}

/** A journal in PostgreSQL, `postgres://…`, which many machines may share, with the command line too; `svcpay db upgrade` creates its tables. */
export async function openPostgresJournal(url: string): Promise<Journal> {
  const [database, schema, journals] = await Promise.all([
    import('../store/database/postgres.js'),
    import('../store/database/postgres-schema.js'),
    import('../store/journal/postgres-journal.js'),
  ]);
  const source = 'The address of the journal';
  const postgres = database.postgresDatabase({ url, source, clock: () => performance.now() });
  await schema.checkTables(postgres, source, journals.journalPart);
  return asJournal(journals.openPostgresJournal(postgres, isOwnerAlive));
}

/** Where payments are stored; its contents belong to svcpay. */
export interface Journal {
  close(): Promise<void>;
}

const opened = new WeakMap<Journal, PaymentJournal>();

function asJournal(journal: PaymentJournal): Journal {
  const { close } = journal;
  const handle = { close: () => close() };
  opened.set(handle, journal);
  return handle;
}

/** What payments are made with. */
export interface PaymentsOptions {
  /** Acts in the account of its key. */
  client: WalletClient;
  /** Stores each step before its request is sent. A payment that is lost from it can be paid twice. */
  journal: Journal;
  /** What may be spent; without limits, whatever is asked for. */
  limits?: Limits | undefined;
  /** Whose invoices and addresses are accepted; by default `mainnet` for a service elsewhere, `any` for one on this machine. */
  network?: Network | undefined;
  /** Stops all calls, like the signal of each call. */
  signal?: AbortSignal | undefined;
  /** Called with each step of every payment as it happens. */
  on?: ((event: PaymentEvent) => void) | undefined;
}

/** What every call takes. */
export interface CallOptions {
  /** How long to wait for the end, in ms; by default 30 000. `false` stops once the service has accepted the confirmation. */
  wait?: number | 'forever' | false | undefined;
  /** Stops the call: with kind `interrupted` before money moves, with `pending` after it may have moved. */
  signal?: AbortSignal | undefined;
  /** Called with each step of this call as it happens. */
  on?: ((event: PaymentEvent) => void) | undefined;
}

/** What every payment takes. */
export interface PayOptions extends CallOptions {
  /** The caller's name for the payment: the same reference never pays twice, and continues what it began. */
  ref?: string | undefined;
  /** A note for the caller; the recipient does not see it. */
  note?: string | undefined;
  /** The highest total fee: a percentage, or an amount in the currency of the wallet that pays. */
  maxFee?: { percent: string } | { amount: string; ccy: string } | undefined;
  /** The most that a conversion may lose against the service's own rates, in percent. */
  maxRateLoss?: string | undefined;
  /** Receives the full cost before money moves, and returns yes or no. Without it the call is the yes. */
  approve?: ((approval: Approval) => Promise<Answer>) | undefined;
  /** Makes another attempt after one that failed, or whose outcome is unknown: the second may be paid as well as the first. */
  retry?: boolean | undefined;
}

/** A payment to somebody else. */
export interface Send extends PayOptions {
  /** An invoice, an address, an LNURL, a Lightning Address or a `bitcoin:` URI. */
  to: string;
  /** With its unit, as in `50000sat` or `25usdt`; an invoice has its own. */
  amount?: string | undefined;
  /** What leaves the wallet, instead of `amount` (USDT, LNURL). */
  spend?: string | undefined;
  /** The wallet that pays, such as `USDT`, if it is not the usual one of the destination. */
  from?: string | undefined;
  /** How a `bitcoin:` URI that offers both is paid. */
  via?: 'lightning' | 'onchain' | undefined;
  /** Takes the fees out of the amount, so that the recipient gets less. */
  deductFees?: boolean | undefined;
}

/** An exchange between two of the account's own wallets. */
export interface Swap extends PayOptions {
  /** With its unit or, because the wallets are named, without: `25usdt`, `25`. */
  amount: string;
  from: string;
  to: string;
  /** `amount` is what arrives in `to`, not what leaves `from`. */
  receive?: boolean | undefined;
}

/** A fiat payout: the specification's own creation body (endpoint 6, rule 7). */
export interface Payout extends PayOptions {
  body: CreateTransaction;
}

/** A request to be paid. */
export interface Receive extends CallOptions {
  /** As in `50000sat`; over Lightning also in another currency, converted at the current rate: `10usd`. */
  amount: string;
  method?: 'lightning' | 'on-chain' | undefined;
  /** The same reference asks for the same money once. */
  ref?: string | undefined;
  note?: string | undefined;
}

/** What a payer needs, checked: the signature, amount and network of an invoice, the network of an address. */
export interface Received {
  transaction: Transaction;
  /** The invoice or the address. */
  payTo: string;
  /** `lightning:` or `bitcoin:`, for a QR code. */
  uri: string;
  /** Epoch ms by the service's clock. */
  expiresAt: number | undefined;
}

/** A quote with its full cost, to be approved before money moves. */
export interface Approval {
  /** As in `send lightning`. */
  kind: string;
  destination: string;
  quote: Quote;
  transaction: Transaction;
  /** What the wallet could spend before this quote; undefined if that is not certain. */
  available: Money | undefined;
  /** An approved quote expired, and this one is worse. */
  worse: boolean;
  /** What a call without `approve` refuses, in words. */
  unusual: readonly string[];
}

/** A step of a payment. From `submitting` on, money may have moved. */
export type PaymentEvent =
  | { type: 'following' | 'submitting'; payment: PaymentReport }
  | { type: 'found' | 'state' | 'read'; transaction: Transaction }
  | { type: 'quoted'; approval: Approval }
  /** Something went wrong that does not stop the payment. */
  | { type: 'warning'; message: string };

/** A payment as the journal knows it. */
export interface PaymentReport {
  ref: string;
  /** As in `send lightning`. */
  kind: string;
  status: PaymentStatus;
  txnId: string | undefined;
  /** The last state seen. */
  txnState: TxnState | undefined;
  /** Epoch ms. */
  openedAt: number;
  updatedAt: number;
}

/** What became of an unfinished payment: its transaction, or why there is none. */
export interface Resumed {
  ref: string;
  transaction: Transaction | undefined;
  failure: Failure | undefined;
}

/**
 * Payments that are made once, whatever fails on the way, with the refusals of the command line. Each resolves with the transaction in
 * its last known state, and rejects with a `Failure`: `payment-failed` if it ended without paying, `pending` if its outcome is not
 * known yet. `resume`, or the same call with the same `ref`, continues it then.
 */
export interface Payments {
  send(payment: Send): Promise<Transaction>;
  swap(swap: Swap): Promise<Transaction>;
  payout(payout: Payout): Promise<Transaction>;
  /** Resolves once there is something to pay to; moves nothing. */
  receive(request: Receive): Promise<Received>;
  /** Finishes or reports every unfinished payment, or the one of `ref`, e.g. after a crash. `wait` is for all together. */
  resume(options?: CallOptions & { ref?: string | undefined }): Promise<Resumed[]>;
  /** The unfinished payments, oldest first, as the journal knows them. */
  pending(): Promise<PaymentReport[]>;
  /** Undefined if the journal has no payment with this reference. */
  status(ref: string): Promise<PaymentReport | undefined>;
}

const usualWaitMs = 30_000;

/** The payments of one account at one service: see docs/library.md. */
export function openPayments(options: PaymentsOptions): Payments {
  const { client } = options;
  const journal = opened.get(options.journal);
  if (journal === undefined) throw new Failure('usage', 'This journal was not opened with one of the open...Journal functions.');
  const limits = readLimits(options.limits ?? noLimits);
  const network = options.network ?? (client.baseUrl.startsWith('https:') ? 'mainnet' : 'any');
  const guard = ownAddressGuard(async () => ({ client }), () => undefined);
  // References belong to the account that the service names, under any hostname.
  const scope = (): Promise<string> => client.ownAccountId();

  const depsOf = async ({ signal, on }: CallOptions, approve?: PayOptions['approve']): Promise<PaymentDeps> => {
    const account = await client.ownAccountId();
    return {
      ...around(signal, options.signal),
      service: client,
      journal,
      scope: account,
      account,
      owner: ownName(),
      limits,
      every: (ms, action) => {
        const timer = setInterval(action, ms);
        return () => clearInterval(timer);
      },
      approve: approve === undefined ? async () => false : (approval) => approve(approvalOf(approval)),
      on: (event) => {
        const known = eventOf(event);
        options.on?.(known);
        on?.(known);
      },
    };
  };

  const payOrder = async (order: Order, { ref, note, maxFee, maxRateLoss, approve, wait = usualWaitMs, retry = false, ...call }: PayOptions): Promise<Transaction> => {
    const noted = note === undefined ? order : { ...order, body: { ...order.body, note } };
    const request = { order: noted, ref: given(ref), terms: { maxFee, maxRateLoss }, consent: approve === undefined ? 'standing' : 'none' } as const;
    return pay(request, { wait, retry }, await depsOf(call, approve));
  };

  return {
    async send({ to, amount, spend, from, via, deductFees, ...terms }) {
      const { order } = planSendNow({ to, amount, spend, from, via, deductFees }, { network, now: Date.now() });
      await guard(order);
      return payOrder(order, terms);
    },
    async swap({ amount, from, to, receive = false, ...terms }) {
      const [source, dest] = [parseCurrency(from), parseCurrency(to)];
      if (source === dest) throw new Failure('usage', `Not sent: a swap needs two different wallets, and both are ${source}.`);
      return payOrder(swapOrder(source, dest, parseAmount(amount, receive ? dest : source), receive ? 'dest' : 'source'), terms);
    },
    async payout({ body, ...terms }) {
      const { order, method, ref, note } = readPayoutFile(wireJson(body), client.maker);
      const { institutionCode } = payeeOf(order.body);
      const institutions = await ifTold(client.institutions(method.country.code));
      if (institutions !== undefined) findInstitution(institutionCode, method, institutions);
      return payOrder(order, { ...terms, ref: terms.ref ?? ref, note: terms.note ?? note });
    },
    async receive({ amount: text, method = 'lightning', ref, note, signal }) {
      const asked = method === 'lightning' ? await readAsked(text, () => client.rates()) : { amount: parseAmount(text, 'BTC') };
      const deps = { ...around(signal, options.signal), service: client, onRead: () => undefined };
      const body = { ...receiveBody(method, asked.amount), note };
      const { txn, amount } = await requestMoney(body, given(ref), 'worth' in asked && asked.worth !== undefined, deps);
      return { transaction: txn, ...payable(txn, amount, method) };
    },
    async resume({ wait = usualWaitMs, ref, ...call } = {}) {
      const deps = await depsOf(call);
      const open = (await journal.open(deps.scope)).filter((each) => ref === undefined || each.ref === ref);
      const resumed = await resumeAll(open, wait, async () => deps);
      return resumed.map(({ payment, txn, failure }) => ({ ref: payment.ref, transaction: txn, failure }));
    },
    async pending() {
      return (await journal.open(await scope())).map(reportOf);
    },
    async status(ref) {
      const known = await journal.find(await scope(), ref);
      return known?.ref === ref ? reportOf(known) : undefined;
    },
  };

  function payable(txn: Transaction, amount: Money, method: 'lightning' | 'on-chain'): Omit<Received, 'transaction'> {
    const now = client.serviceNow();
    if (method === 'on-chain') {
      const { address, uri, expiresAt } = checkedOnchainRequest(txn, amount, network, now);
      return { payTo: address, uri, expiresAt };
    }
    const { invoice, expiresAt } = checkedInvoice(txn, amount, network, now);
    return { payTo: invoice, uri: `lightning:${invoice}`, expiresAt };
  }
}

/** Time and chance of this process, until one of the signals stops the call. */
const around = (...signals: readonly (AbortSignal | undefined)[]) => ({
  now: () => Date.now(),
  sleep: (ms: number, stop?: AbortSignal) => delay(timerMs(ms), undefined, stop === undefined ? {} : { signal: stop }),
  newId: () => randomUUID(),
  signal: AbortSignal.any(signals.filter((signal) => signal !== undefined)),
});

const given = (ref: string | undefined): string | undefined => (ref === undefined ? undefined : parseReference(ref));

const reportOf = (payment: Payment): PaymentReport => ({
  ref: payment.ref,
  kind: payment.kind,
  status: status(payment),
  txnId: latest(payment).txnId ?? undefined,
  txnState: latest(payment).txnState ?? undefined,
  openedAt: payment.openedAt,
  updatedAt: payment.updatedAt,
});

const approvalOf = ({ order: { kind, destination }, txn: transaction, ...rest }: CoreApproval): Approval => ({ kind, destination, transaction, ...rest });

function eventOf(event: CoreEvent): PaymentEvent {
  switch (event.type) {
    case 'following':
    case 'submitting': return { type: event.type, payment: reportOf(event.payment) };
    case 'quoted': return { type: 'quoted', approval: approvalOf(event.approval) };
    case 'rate-unchecked': return { type: 'warning', message: event.why };
    case 'journal-failed':
    case 'refused': return { type: 'warning', message: event.error.message };
    case 'exceeded': return { type: 'warning', message: event.failure.message };
    case 'searching': return { type: 'warning', message: `Read ${event.count} transactions to look up the reference.` };
    default: return { type: event.type, transaction: event.txn };
  }
}
