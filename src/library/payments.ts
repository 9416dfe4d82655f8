// Payments for an integrator: the payment core of the command line, with a journal that the
// integrator chooses.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { serviceOf, type WalletClient } from './client.js';
import type { CreateTransaction } from './creation.js';
import { checked } from './given.js';
import type { ServiceClient } from '../api/client.js';
import type { Rates, Transaction, TxnState } from '../api/types.js';
import { wireJson } from '../api/json.js';
import { unlessInterrupted } from '../api/request/retry.js';
import { parseAmount, parseCurrency, type Money } from '../formats/amount.js';
import { timerMs } from '../formats/duration.js';
import { Failure, ifAvailable } from '../formats/failure.js';
import { parseReference } from '../formats/reference.js';
import { errorOf } from '../formats/unknown.js';
import { journalOf, ownName, type Journal } from '../store/journal/handle.js';
import {
  latest,
  mayHavePaid,
  status,
  type Payment,
  type PaymentStatus,
} from '../store/journal/payment.js';
import { readLimits, type Limits, type Network } from '../store/profile/profiles.js';
import { noLimits } from '../wallet/limits/limits.js';
import type {
  Answer,
  Approval as CoreApproval,
  PaymentDeps,
  PaymentEvent as CoreEvent,
} from '../wallet/payment/contract.js';
import { receiveBody, swapOrder, type Order } from '../wallet/order/orders.js';
import { pay } from '../wallet/payment/payment.js';
import type { Earlier } from '../wallet/payment/same-again.js';
import { resumeAll } from '../wallet/payment/resume-all.js';
import { readPayoutFile } from '../wallet/payout/from-file.js';
import { findInstitution } from '../wallet/payout/institutions.js';
import { payeeOf } from '../wallet/payout/order.js';
import type { Quote } from '../wallet/quote/quote.js';
import { ownAddressGuard } from '../wallet/plan/destinations.js';
import { isConverted, planSendNow, submittedAmount } from '../wallet/plan/send.js';
import { readAsked } from '../wallet/receive/asked.js';
import { checkedInvoice } from '../wallet/receive/lightning.js';
import { checkedOnchainRequest } from '../wallet/receive/onchain.js';
import { requestMoney } from '../wallet/receive/request.js';

export interface PaymentsOptions {
  /** The client. Payments act in the account of its key. */
  client: WalletClient;
  /**
   * The journal stores each step before its request is sent. A payment that is lost from the
   * journal can be paid twice.
   */
  journal: Journal;
  /** Limits on spending. By default there are none. */
  limits?: Partial<Limits> | undefined;
  /**
   * The network of accepted invoices and addresses. The default is `mainnet` for a remote service,
   * and `any` for a service on this machine.
   */
  network?: Network | undefined;
  /** Stops all calls, like the signal of each call. */
  signal?: AbortSignal | undefined;
  /** Called with each step of every payment as it happens. */
  on?: ((event: PaymentEvent) => void) | undefined;
}

/** Options of every call. */
export interface CallOptions {
  /**
   * The longest wait for the end, in ms. The default is 30 000. `false` stops the wait once the
   * service has accepted the confirmation.
   */
  wait?: number | 'forever' | false | undefined;
  /**
   * Stops the call. The kind is `interrupted` before money may have moved, and `pending`
   * afterwards.
   */
  signal?: AbortSignal | undefined;
  /**
   * Called with each step of this call as it happens. If it throws, the payment continues, and the
   * process emits a warning.
   */
  on?: ((event: PaymentEvent) => void) | undefined;
}

/** Options of every payment. */
export interface PayOptions extends CallOptions {
  /**
   * The caller's name for the payment. The same reference never pays twice, and resumes an
   * unfinished payment.
   */
  ref?: string | undefined;
  /** A note for the caller. The recipient does not see it. */
  note?: string | undefined;
  /** The highest total fee: a percentage, or an amount in the currency of the wallet that pays. */
  maxFee?: { percent: string } | { amount: string; ccy: string } | undefined;
  /** The limit on the loss of a conversion against the service's own rates, in percent. */
  maxRateLoss?: string | undefined;
  /**
   * Receives the full cost before money moves, and returns true to approve. Without it, the call
   * itself is the approval.
   */
  approve?: ((approval: Approval) => Promise<Answer>) | undefined;
  /**
   * Allows a payment of the same amount to the same destination as a payment that is submitted and
   * unfinished. Without `again`, a payment without `ref` and without an invoice is then refused.
   */
  again?: boolean | undefined;
  /**
   * Makes a further attempt after an attempt that failed or whose outcome is unknown. Both attempts
   * may be paid.
   */
  retry?: boolean | undefined;
}

/** A payment to another party. */
export interface Send extends PayOptions {
  /** An invoice, an address, an LNURL, a Lightning Address or a `bitcoin:` URI. */
  to: string;
  /**
   * The amount with its unit, as in `50000sat` or `25usdt`. An invoice has its own amount. With
   * `from: 'BTC'`, another currency is converted at the current rate: `10usd`.
   */
  amount?: string | undefined;
  /** The amount that leaves the wallet, instead of `amount` (USDT, LNURL). */
  spend?: string | undefined;
  /** The wallet that pays, such as `USDT`. The default depends on the destination. */
  from?: string | undefined;
  /** The method for a `bitcoin:` URI that offers both. */
  via?: 'lightning' | 'onchain' | undefined;
  /** Takes the fees out of the amount, so that the recipient gets less. */
  deductFees?: boolean | undefined;
}

/** An exchange between two of the account's own wallets. */
export interface Swap extends PayOptions {
  /** The amount, `25usdt` or `25`. The unit is optional, because the wallets are named. */
  amount: string;
  from: string;
  to: string;
  /** `amount` is the amount that arrives in `to`, not the amount that leaves `from`. */
  receive?: boolean | undefined;
}

/** A fiat payout, with the create request body of the specification (endpoint 6, rule 7). */
export interface Payout extends PayOptions {
  body: CreateTransaction;
}

/** A request for money. */
export interface Receive extends Pick<CallOptions, 'signal' | 'on'> {
  /**
   * The amount, such as `50000sat`. Over Lightning another currency is possible, converted at the
   * current rate: `10usd`.
   */
  amount: string;
  method?: 'lightning' | 'on-chain' | undefined;
  /** The caller's name for the request. The same reference requests the same money once. */
  ref?: string | undefined;
  note?: string | undefined;
}

/**
 * The data that a payer needs, checked: the signature, amount and network of an invoice, or the
 * network of an address.
 */
export interface Received {
  transaction: Transaction;
  /** The invoice or the address. */
  payTo: string;
  /** A `lightning:` or `bitcoin:` URI, for a QR code. */
  uri: string;
  /** Epoch ms by the service's clock. */
  expiresAt: number | undefined;
}

/** A quote with its full cost, for approval before money moves. */
export interface Approval {
  /** The kind of the payment, such as `send lightning`. */
  kind: string;
  destination: string;
  quote: Quote;
  transaction: Transaction;
  /** The amount that the wallet could spend before this quote. Undefined if that is uncertain. */
  available: Money | undefined;
  /** Whether this quote replaces an approved quote that expired, and is worse. */
  worse: boolean;
  /** Unusual costs, in words. A call without `approve` refuses them. */
  unusual: readonly string[];
  /**
   * An earlier payment of the same amount to the same destination that was made a moment ago or is
   * under way.
   */
  earlier: PaymentReport | undefined;
}

/** A step of a payment. From `submitting` on, money may have moved. */
export type PaymentEvent =
  | { type: 'following' | 'submitting'; payment: PaymentReport }
  | { type: 'found' | 'state' | 'read'; transaction: Transaction }
  | { type: 'quoted'; approval: Approval }
  /** Reports a problem that does not stop the payment. */
  | { type: 'warning'; message: string };

/** A payment in the journal. */
export interface PaymentReport {
  ref: string;
  /** The kind of the payment, such as `send lightning`. */
  kind: string;
  status: PaymentStatus;
  txnId: string | undefined;
  /** The last known state. */
  txnState: TxnState | undefined;
  /** Epoch ms. */
  openedAt: number;
  updatedAt: number;
}

/** The outcome of an unfinished payment: its transaction, or the failure. */
export interface Resumed {
  ref: string;
  transaction: Transaction | undefined;
  failure: Failure | undefined;
}

/**
 * Payments that are made once, whatever fails meanwhile, with the checks of the command line. Each
 * call resolves with the transaction in its last known state. It rejects with a `Failure`:
 * `payment-failed` if the payment ended without paying, `pending` if its outcome is unknown. After
 * `pending`, `resume`, or the same call with its `ref`, continues the payment.
 */
export interface Payments {
  send(payment: Send): Promise<Transaction>;
  swap(swap: Swap): Promise<Transaction>;
  payout(payout: Payout): Promise<Transaction>;
  /** Requests money. Resolves with an invoice or an address. Moves nothing. */
  receive(request: Receive): Promise<Received>;
  /**
   * Finishes or reports every unfinished payment, or the payment with `ref`, e.g. after a crash.
   * `wait` applies to all payments together.
   */
  resume(options?: CallOptions & { ref?: string | undefined }): Promise<Resumed[]>;
  /** The unfinished payments of the journal, oldest first. */
  pending(options?: Pick<CallOptions, 'signal'>): Promise<PaymentReport[]>;
  /** The report of a payment, or undefined if the journal has no payment with this reference. */
  status(ref: string, options?: Pick<CallOptions, 'signal'>): Promise<PaymentReport | undefined>;
}

const usualWaitMs = 30_000;

/** The payments of one account at one service: see docs/library.md. */
export function openPayments(options: PaymentsOptions): Payments {
  const client = serviceOf(checked('openPayments', options).client);
  const { journal, closed } = journalOf(options.journal);
  const network = options.network ?? (client.baseUrl.startsWith('https:') ? 'mainnet' : 'any');
  const begin = callsOf(client, options, closed);
  const accountNamed = async (call: Pick<CallOptions, 'signal'>): Promise<string> =>
    accountOf(begin(call).service);
  /** The amount in bitcoin of an earlier payment with the reference, otherwise the rates. */
  const bitcoinFor = async ({ ref, amount, ...call }: Send): Promise<Converted> => {
    const earlier = ref && (await journal.find(await accountNamed(call), ref));
    const submitted = earlier ? submittedAmount(earlier) : undefined;
    return submitted === undefined
      ? { amount, rates: await begin(call).service.rates() }
      : { amount: submitted };
  };
  const { depsOf, payOrder } = paymentsOf({ client, journal, begin, limits: options.limits });
  return {
    async send(given) {
      const payment = checked('send', given);
      const words = { ...payment, from: payment.from && parseCurrency(payment.from) };
      const converted = isConverted(words) ? await bitcoinFor(words) : {};
      const environment = { network, now: Date.now(), rates: converted.rates };
      const { order } = planSendNow({ ...words, ...converted }, environment);
      return payOrder(order, payment);
    },
    async swap(swap) {
      const { amount, from, to, receive = false, ...terms } = checked('swap', swap);
      const [source, dest] = [parseCurrency(from), parseCurrency(to)];
      if (source === dest) throw sameWallet(source);
      const [ccy, side] = receive ? ([dest, 'dest'] as const) : ([source, 'source'] as const);
      return payOrder(swapOrder(source, dest, parseAmount(amount, ccy), side), terms);
    },
    async payout(payout) {
      const { body, ...terms } = checked('payout', payout);
      const { order, method, ref, note } = readPayoutFile(wireJson(body), client.maker);
      const { institutionCode } = payeeOf(order.body);
      const { service } = begin(terms);
      const institutions = await ifAvailable(service.institutions(method.country.code));
      if (institutions !== undefined) findInstitution(institutionCode, method, institutions);
      return payOrder(order, { ...terms, ref: terms.ref ?? ref, note: terms.note ?? note });
    },
    receive: async (request) => receive(checked('receive', request), begin, network),
    async resume(given = {}) {
      const { wait, ref, ...call } = checked('resume', given);
      const deps = await depsOf(call);
      const open = await journal.open(deps.scope);
      return resume(
        open.filter((each) => ref === undefined || each.ref === ref),
        wait,
        deps,
      );
    },
    async pending(given = {}) {
      return (await journal.open(await accountNamed(checked('pending', given)))).map(reportOf);
    },
    async status(ref, given = {}) {
      const account = await accountNamed(checked('status', { ...given, ref }));
      const known = await journal.find(account, ref);
      return known?.ref === ref ? reportOf(known) : undefined;
    },
  };
}

interface Converted {
  readonly amount?: string | undefined;
  readonly rates?: Rates;
}

type Call = Pick<CallOptions, 'signal' | 'on'>;
type Begin = ReturnType<typeof callsOf>;

/**
 * The options of a call. Its requests and pauses stop at its signal, or when the journal is closed.
 */
const callsOf =
  (client: ServiceClient, options: PaymentsOptions, closed: AbortSignal) =>
  ({ signal, on }: Call) => {
    if (closed.aborted) throw new Failure('usage', 'Nothing was sent: the journal is closed.');
    const signals = [signal, options.signal, closed].filter((each) => each !== undefined);
    const stop = AbortSignal.any(signals);
    const report = (event: PaymentEvent): void =>
      [options.on, on].forEach((each) => {
        try {
          each?.(event);
        } catch (error) {
          process.emitWarning(errorOf(error));
        }
      });
    return {
      service: client.until(stop),
      report,
      signal: stop,
      now: () => Date.now(),
      newId: () => randomUUID(),
      sleep: (ms: number, until?: AbortSignal) =>
        delay(timerMs(ms), undefined, until === undefined ? {} : { signal: until }),
      every: (ms: number, action: () => void) => {
        const timer = setInterval(action, ms);
        return () => clearInterval(timer);
      },
    };
  };

interface PaymentParts extends Pick<PaymentsOptions, 'limits'> {
  readonly client: ServiceClient;
  readonly journal: PaymentDeps['journal'];
  readonly begin: Begin;
}

/** Calls of the payment core. */
function paymentsOf({ client, journal, begin, limits = noLimits }: PaymentParts) {
  const checkedLimits = readLimits(limits);
  const guard = ownAddressGuard(
    async () => ({ client }),
    () => undefined,
  );

  const depsOf = async (
    call: Call,
    approve?: PayOptions['approve'],
    again = false,
  ): Promise<PaymentDeps> => {
    const { service, report, ...rest } = begin(call);
    const account = await accountOf(service);
    let earlier: Earlier | undefined;
    return {
      ...rest,
      service,
      journal,
      limits: checkedLimits,
      account,
      scope: account,
      owner: ownName(),
      again: async (found) => {
        if (approve === undefined && !again && found.is === 'unfinished') throw sameAgain(found);
        earlier = found;
        return 'another';
      },
      approve:
        approve === undefined
          ? async () => false
          : (approval) => approve(approvalOf(approval, earlier)),
      on: (event) => report(eventOf(event)),
    };
  };

  const payOrder = async (
    order: Order,
    { ref, note, maxFee, maxRateLoss, approve, again, wait, retry = false, ...call }: PayOptions,
  ): Promise<Transaction> => {
    const noted = note === undefined ? order : { ...order, body: { ...order.body, note } };
    const request = {
      order: noted,
      ref: given(ref),
      terms: { maxFee, maxRateLoss },
      consent: approve === undefined ? 'standing' : 'none',
    } as const;
    const deps = await depsOf(call, approve, again);
    let checking: Promise<void> | undefined;
    const checkOrder = () => (checking ??= unlessInterrupted(() => guard(order), deps.signal));
    return pay(request, { wait: wait ?? usualWaitMs, retry }, { ...deps, checkOrder });
  };

  return { depsOf, payOrder };
}

async function receive(
  { amount: text, method = 'lightning', ref, note, ...call }: Receive,
  begin: Begin,
  network: Network,
): Promise<Received> {
  const { report, ...deps } = begin(call);
  const account = await accountOf(deps.service);
  const asked =
    method === 'lightning'
      ? await readAsked(text, () => deps.service.rates())
      : { amount: parseAmount(text, 'BTC'), worth: undefined };
  const { txn, amount } = await requestMoney(
    { ...receiveBody(method, asked.amount), note },
    given(ref),
    asked.worth !== undefined,
    { ...deps, account, onRead: (count) => report(eventOf({ type: 'searching', count })) },
  );
  report({ type: 'state', transaction: txn });
  const now = deps.service.serviceNow();
  if (method === 'on-chain') {
    const { address, uri, expiresAt } = checkedOnchainRequest(txn, amount, network, now);
    return { transaction: txn, payTo: address, uri, expiresAt };
  }
  const { invoice, expiresAt } = checkedInvoice(txn, amount, network, now);
  return { transaction: txn, payTo: invoice, uri: `lightning:${invoice}`, expiresAt };
}

async function resume(
  open: readonly Payment[],
  wait: CallOptions['wait'] = usualWaitMs,
  deps: PaymentDeps,
): Promise<Resumed[]> {
  const agreed = open.filter(mayHavePaid);
  const resumed = await resumeAll(agreed, wait, deps.now, async () => deps);
  const results = resumed.map(({ payment: { ref }, txn: transaction, failure }) => ({
    ref,
    transaction,
    failure,
  }));
  const unagreed = open.filter((payment) => !mayHavePaid(payment));
  return [
    ...results,
    ...unagreed.map(({ ref }) => ({ ref, transaction: undefined, failure: neverAgreed(ref) })),
  ];
}

const sameWallet = (ccy: string): Failure =>
  new Failure('usage', `Not sent: a swap needs two different wallets, and both are ${ccy}.`);

/**
 * The account that the service names. References belong to it, under any hostname. Throws Failure
 * `usage` if the client names another account.
 */
async function accountOf(service: ServiceClient): Promise<string> {
  const [own, chosen] = [await service.ownAccountId(), await service.accountId()];
  if (chosen === own) return own;
  throw new Failure(
    'usage',
    `Not sent: the service acts for ${chosen} only with an API key of that account.`,
  );
}

/** A crash came before the submission, so only the original call pays this payment. */
const neverAgreed = (ref: string): Failure =>
  new Failure('declined', `Not sent: the payment ${ref} was never submitted.`, {
    hint: 'Call it again with its reference.',
  });

const given = (ref: string | undefined): string | undefined =>
  ref === undefined ? undefined : parseReference(ref);

function reportOf(payment: Payment): PaymentReport {
  const { ref, kind, openedAt, updatedAt } = payment;
  const { txnId, txnState } = latest(payment);
  return {
    ref,
    kind,
    status: status(payment),
    txnId: txnId ?? undefined,
    txnState: txnState ?? undefined,
    openedAt,
    updatedAt,
  };
}

const approvalOf = (
  { order: { kind, destination }, txn: transaction, ...rest }: CoreApproval,
  earlier?: Earlier,
): Approval => ({
  kind,
  destination,
  transaction,
  ...rest,
  earlier: earlier && reportOf(earlier.payment),
});

/** No person checks the call, and a program that repeats it after an error would pay twice. */
const sameAgain = ({ payment: { ref, attempts } }: Earlier): Failure =>
  new Failure(
    'usage',
    `Not sent: the same amount to the same destination is being paid, as ${ref}, ` +
      'and its outcome is not known yet.',
    {
      hint: 'Resume that payment, give this one a reference, or call it with again: true.',
      txnId: attempts.at(-1)?.txnId ?? undefined,
    },
  );

function eventOf(event: CoreEvent): PaymentEvent {
  switch (event.type) {
    case 'following':
    case 'submitting':
      return { type: event.type, payment: reportOf(event.payment) };
    case 'quoted':
      return { type: 'quoted', approval: approvalOf(event.approval) };
    case 'rate-unchecked':
      return { type: 'warning', message: event.why };
    case 'journal-failed':
    case 'refused':
      return { type: 'warning', message: event.error.message };
    case 'exceeded':
      return { type: 'warning', message: event.failure.message };
    case 'searching':
      return {
        type: 'warning',
        message: `Read ${event.count} transactions to look up the reference.`,
      };
    default:
      return { type: event.type, transaction: event.txn };
  }
}
