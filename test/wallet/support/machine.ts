// A test bench for the payment core: a service with a one-page list, a journal in memory, and a
// clock that runs only during pauses.
import { detailsOf } from '../../../src/api/reading.js';
import { NoAnswer, ServiceError } from '../../../src/api/errors.js';
import type { CreateTransaction, Rates, Transaction } from '../../../src/api/types.js';
import { Failure } from '../../../src/formats/failure.js';
import type { Claim, Journal } from '../../../src/store/journal/journal.js';
import {
  latest,
  status,
  type Attempt,
  type Payment,
  type PaymentChange,
  type PaymentStatus,
} from '../../../src/store/journal/payment.js';
import type {
  Consent,
  PaymentDeps,
  PaymentEvent,
  PaymentOptions,
  PaymentService,
} from '../../../src/wallet/payment/model.js';
import { instructionOfOrder } from '../../../src/wallet/instruction/order.js';
import type { Order } from '../../../src/wallet/order/orders.js';
import { lnurlOrder } from '../../support/orders.js';
import { pay } from '../../../src/wallet/payment/pay.js';
import { money } from '../../../src/formats/amount.js';
import { emptyStore, memoryJournal, type JournalStore } from '../../simulation/memory-journal.js';

export const order: Order = lnurlOrder('shop@pay.example', money('BTC', '0.00001'));
export const asked = instructionOfOrder(order, false);
export const approved: Consent = { by: 'yes' };
export const otherOrder: Order = lnurlOrder('shop@pay.example', money('BTC', '0.00002'));

type Step = 'list' | 'wallets' | 'create' | 'confirm' | 'cancel' | 'read';

export interface Bench {
  readonly deps: PaymentDeps;
  /** Asks `says` about each quote. */
  readonly asks: Consent;
  readonly store: JournalStore;
  readonly transactions: Transaction[];
  /** The requests and journal writes in order, such as `write created` and `PUT confirm`. */
  readonly log: string[];
  readonly events: PaymentEvent[];
  readonly asked: string[];
  readonly interrupt: AbortController;
  /**
   * Makes the next calls of a step fail with these errors, one error for each call; later calls
   * succeed.
   */
  fail(step: Step, ...errors: unknown[]): void;
  /** Changes the fields of each new quote. */
  quotes: (body: CreateTransaction, number: number) => Partial<Transaction>;
  /** Returns the state of a transaction after its confirmation. */
  confirms: (txn: Transaction) => string;
  /** Whether the journal fails to write this change. */
  journalFails: (change: PaymentChange) => boolean;
  says: (question: string) => boolean;
  time: number;
  /** How far the service clock is ahead of the machine clock, in ms. */
  ahead: number;
  rates: Rates;
  pay(change?: Partial<PayOptions>): Promise<Transaction>;
  payment(ref?: string): Payment;
  /** Returns the latest attempt of a payment, and the status of the payment. */
  now(ref?: string): Attempt & Pick<Payment, 'abandoned'> & { status: PaymentStatus };
}

interface PayOptions extends PaymentOptions {
  ref: string | undefined;
  order: Order;
  yes: boolean;
  maxFee: { amount: string; ccy: string } | { percent: string } | undefined;
}

export const lost = (): NoAnswer => new NoAnswer('pending', 'No answer.', { mayHaveArrived: true });
export const notSent = (): NoAnswer =>
  new NoAnswer('temporary', 'No answer.', { mayHaveArrived: false });
export const refusal = (status: number, reason: string, code?: string): ServiceError =>
  new ServiceError(
    status === 404 ? 'not-found' : status === 401 ? 'authentication' : 'refused',
    reason,
    { status, reason, code, isOwnRefusal: true },
  );
export const limited = (retryAfterMs?: number): ServiceError =>
  new ServiceError('temporary', 'too many', { status: 429, reason: 'too many', retryAfterMs });

export function bench(store: JournalStore = emptyStore(), transactions: Transaction[] = []): Bench {
  const failures = new Map<Step, unknown[]>();
  const interrupt = new AbortController();
  const log: string[] = [];
  const enter = (step: Step, line: string): void => {
    log.push(line);
    const planned = failures.get(step) ?? [];
    if (planned.length > 0) throw planned.shift();
  };
  const find = (txnId: string): Transaction => {
    const txn = transactions.find((each) => each.txnId === txnId);
    if (txn === undefined) throw refusal(404, 'not found');
    return txn;
  };
  const set = (txnId: string, txnState: string): Transaction => {
    const changed = { ...find(txnId), txnState };
    transactions[transactions.findIndex((each) => each.txnId === txnId)] = changed;
    return changed;
  };

  const service: PaymentService = {
    serviceNow: () => made.time + made.ahead,
    datedNow: () => made.time + made.ahead,
    async wallets() {
      enter('wallets', 'GET wallets');
      return [{ ccy: 'BTC', amount: 1, availableBalance: 0.5 }];
    },
    async rates() {
      return made.rates;
    },
    async transactions() {
      enter('list', 'GET list');
      return {
        data: [...transactions],
        pagination: { page: 1, limit: 100, total: transactions.length },
      };
    },
    async *eachTransaction() {
      enter('list', 'GET list');
      yield* transactions;
    },
    async createTransaction(body) {
      enter('create', `POST ${body.extRefId}`);
      if (transactions.some(({ extRefId }) => extRefId === body.extRefId))
        throw refusal(400, 'extRefId has already been used');
      const txn = {
        ...quoteOf(body, `t${transactions.length + 1}`, service.serviceNow()),
        ...made.quotes(body, transactions.length + 1),
      };
      transactions.push(txn);
      return txn;
    },
    async confirmTransaction(txnId) {
      enter('confirm', `PUT ${txnId}`);
      const txn = find(txnId);
      if (txn.txnState !== 'quoted') throw refusal(400, 'already in final state', '2005');
      return set(txnId, made.confirms(txn));
    },
    async cancelTransaction(txnId) {
      enter('cancel', `PUT ${txnId}/cancel`);
      return set(txnId, 'usercanceled');
    },
    async transaction(txnId) {
      enter('read', `GET ${txnId}`);
      const { txnState } = find(txnId);
      return ['srccreated', 'destsent'].includes(txnState) ? set(txnId, 'completed') : find(txnId);
    },
  };
  const made: Bench = {
    store,
    transactions,
    log,
    interrupt,
    events: [],
    asked: [],
    time: Date.UTC(2025, 0, 15),
    ahead: 0,
    rates: {},
    quotes: () => ({}),
    confirms: () => 'srccreated',
    journalFails: () => false,
    says: () => true,
    fail: (step, ...errors) => void failures.set(step, [...(failures.get(step) ?? []), ...errors]),
    asks: {
      by: 'person',
      ask: async ({ quote }) => {
        const question = `${quote.total.value.toFixed(8)}`;
        made.asked.push(question);
        return made.says(question);
      },
    },
    deps: {
      service,
      journal: logged(
        memoryJournal(
          store,
          () => false,
          () => made.time,
        ),
        log,
        (change) => made.journalFails(change),
      ),
      scope: 'scope',
      account: 'account',
      owner: 'bench',
      limits: { perPayment: {}, perDay: {}, destinations: [] },
      now: () => made.time,
      sleep: async (ms) => void (made.time += ms),
      every: () => () => undefined,
      newId: ids(),
      signal: interrupt.signal,
      repeats: {
        of: 'generated references',
        paidWithinMs: 600_000,
        decide: async () => 'another',
      },
      on: (event) => void made.events.push(event),
    },
    pay: ({ ref = 'R', order: wanted = order, yes = true, maxFee, ...options } = {}) =>
      pay(
        {
          instruction: instructionOfOrder(wanted, false),
          ref,
          terms: { maxFee },
          consent: yes ? { by: 'yes' } : made.asks,
        },
        { wait: 'forever', retry: false, ...options },
        made.deps,
      ),
    payment: (ref = 'R') => {
      const row = [...store.rows.values()].find(({ payment }) => payment.ref === ref);
      if (row === undefined) throw new Error(`There is no payment ${ref}.`);
      return row.payment;
    },
    now: (ref) => {
      const payment = made.payment(ref);
      return {
        ...latest(payment),
        abandoned: payment.abandoned,
        status: status(payment),
      };
    },
  };
  return made;
}

let count = 0;
const ids = () => (): string => `id-${(count += 1)}`;

/** The quote that the service returns by default: fees of 1 sat, valid for a minute. */
export function quoteOf(
  { sourceReq, destReq, extRefId }: CreateTransaction,
  txnId: string,
  now: number,
): Transaction {
  const amount = Number(sourceReq.amtRequested ?? 0.00001);
  return {
    txnId,
    extRefId,
    txnState: 'quoted',
    fxRate: 1,
    sourceReq: {
      ccy: sourceReq.ccy,
      method: sourceReq.method,
      reqDetails: {},
      amtRequested: amount,
      servicepayFees: 1e-8,
      networkFees: 0,
      expiresAt: now + 60_000,
    },
    destReq: {
      ccy: destReq.ccy,
      method: destReq.method,
      reqDetails: detailsOf(destReq.reqDetails),
      amtRequested: amount,
    },
  };
}

function logged(
  journal: Journal,
  log: string[],
  fails: (change: PaymentChange) => boolean,
): Journal {
  const diskFull = (): Failure =>
    new Failure('usage', 'The payment journal cannot be written: the disk is full.');
  const note = (what: string, change: PaymentChange): void => {
    if (fails(change)) throw diskFull();
    log.push(
      `${what} ${change.attempt?.state ?? (change.abandoned === true ? 'abandoned' : Object.keys(change).join())}`,
    );
  };
  return {
    ...journal,
    async begin(draft) {
      if (fails({})) throw diskFull();
      log.push('begin');
      return journal.begin(draft);
    },
    async write(claim: Claim, change) {
      note('write', change);
      return journal.write(claim, change);
    },
    async submit(claim, change, window, allow) {
      note('submit', change);
      return journal.submit(claim, change, window, allow);
    },
  };
}
