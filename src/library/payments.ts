// Makes payments for an integrator, with the payment core of the command line and a journal that
// the integrator chooses.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { serviceOf } from './client.js';
import type {
  PaymentsOptions,
  CallOptions,
  PayOptions,
  Send,
  Receive,
  Received,
  Approval,
  PaymentEvent,
  PaymentReport,
  Resumed,
  Payments,
} from './contract.js';
import { checked } from './given.js';
import type { ServiceClient } from '../api/client.js';
import type { Rates, Transaction } from '../api/types.js';
import { wireJson } from '../api/wire.js';
import { unlessInterrupted } from '../api/request/retry.js';
import { parseAmount, parseCurrency } from '../formats/amount.js';
import { timerMs } from '../formats/duration.js';
import { Failure, ifAvailable } from '../formats/failure.js';
import { parseReference } from '../formats/reference.js';
import { errorOf } from '../formats/unknown.js';
import { journalOf, ownName } from '../store/journal/handle.js';
import { latest, mayHavePaid, status, type Payment } from '../store/journal/payment.js';
import { readLimits, type Network } from '../store/profile/profiles.js';
import { noLimits } from '../wallet/limits/limits.js';
import type {
  Approval as CoreApproval,
  PaymentDeps,
  PaymentEvent as CoreEvent,
} from '../wallet/payment/contract.js';
import { receiveBody, swapOrder, type Order } from '../wallet/order/orders.js';
import {
  journalFirst,
  named,
  unfinished,
  type FindPayments,
} from '../wallet/payment/journal-first.js';
import { pay, referenceOf } from '../wallet/payment/payment.js';
import type { EarlierPayment } from '../wallet/payment/same-again.js';
import { resumeAll } from '../wallet/payment/resume-all.js';
import { readPayoutFile } from '../wallet/payout/from-file.js';
import { findInstitution } from '../wallet/payout/institutions.js';
import { payeeOf } from '../wallet/payout/order.js';
import { ownAddressGuard } from '../wallet/plan/destinations.js';
import { isConverted, planSendNow, submittedAmount } from '../wallet/plan/send.js';
import { readAsked } from '../wallet/receive/asked.js';
import { checkedInvoice } from '../wallet/receive/lightning.js';
import { checkedOnchainRequest } from '../wallet/receive/onchain.js';
import { requestMoney } from '../wallet/receive/request.js';

const usualWaitMs = 30_000;

/** Opens the payments of one account at one service. See docs/library.md. */
export function openPayments(options: PaymentsOptions): Payments {
  const client = serviceOf(checked('openPayments', options).client);
  const { journal, closed } = journalOf(options.journal);
  const network = options.network ?? (client.baseUrl.startsWith('https:') ? 'mainnet' : 'any');
  const begin = callsOf(client, options, closed);
  const accountNamed = async (call: Pick<CallOptions, 'signal'>): Promise<string> =>
    accountOf(begin(call).service);
  /**
   * Returns the bitcoin amount of an earlier payment with the same reference. If no payment with
   * the reference has a bitcoin amount, returns the given amount, and the exchange rates to convert
   * the given amount to bitcoin.
   */
  const bitcoinFor = async ({ ref, amount, ...call }: Send): Promise<Converted> => {
    const earlier = ref && (await journal.find(await accountNamed(call), ref));
    const submitted = earlier ? submittedAmount(earlier) : undefined;
    return submitted === undefined
      ? { amount, rates: await begin(call).service.rates() }
      : { amount: submitted };
  };
  const { limits } = options;
  const { depsOf, payOrder, first } = paymentsOf({ client, journal, closed, begin, limits });
  return {
    async send(given) {
      const payment = checked('send', given);
      const words = { ...payment, from: payment.from && parseCurrency(payment.from) };
      const converted = isConverted(words)
        ? await first(named(words.ref), () => bitcoinFor(words))
        : {};
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
      return first(named(ref) ?? unfinished(), async () => {
        const deps = await depsOf(call);
        const open = await journal.open(deps.scope);
        return resume(
          open.filter((each) => ref === undefined || each.ref === ref),
          wait,
          deps,
        );
      });
    },
    async pending(given = {}) {
      return (await journal.open(await accountNamed(checked('pending', given)))).map(reportOf);
    },
    async status(ref, given = {}) {
      const account = await accountNamed(checked('status', { ...given, ref }));
      const payment = await journal.find(account, ref);
      return payment?.ref === ref ? reportOf(payment) : undefined;
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
 * Returns a function that builds what a call needs, such as the service client and timers. The
 * requests and pauses of a call stop when a signal from the options fires or the journal is closed.
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
  /** A signal that is aborted when the journal is closed. */
  readonly closed: AbortSignal;
  readonly begin: Begin;
}

/** Returns the functions that call the payment core. */
function paymentsOf({ client, journal, closed, begin, limits = noLimits }: PaymentParts) {
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
    let earlier: EarlierPayment | undefined;
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

  const first = <T>(concerned: FindPayments | undefined, work: () => Promise<T>): Promise<T> =>
    // Skips the search for payments in a closed journal, so that the call rejects with the failure
    // of `work`.
    journalFirst(
      concerned && (async (open) => (closed.aborted ? [] : concerned(open))),
      async () => journal,
      work,
    );

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
    return first(named(referenceOf(request)), async () => {
      const deps = await depsOf(call, approve, again);
      let checking: Promise<void> | undefined;
      const checkOrder = () => (checking ??= unlessInterrupted(() => guard(order), deps.signal));
      return pay(request, { wait: wait ?? usualWaitMs, retry }, { ...deps, checkOrder });
    });
  };

  return { depsOf, payOrder, first };
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
  const toResume = open.filter(mayHavePaid);
  const resumed = await resumeAll(toResume, wait, deps.now, async () => deps);
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
  new Failure('usage', `Not sent: a swap must have two different wallets, but both are ${ccy}.`);

/**
 * Returns the account of the API key. References are unique within an account, whatever hostname
 * the client uses. Throws Failure `usage` if the option `accountId` of the client names an account
 * other than the account of the API key.
 */
async function accountOf(service: ServiceClient): Promise<string> {
  const [own, chosen] = [await service.ownAccountId(), await service.accountId()];
  if (chosen === own) return own;
  throw new Failure(
    'usage',
    `Not sent: the service acts for ${chosen} only with an API key of that account.`,
  );
}

/**
 * The failure of a payment that a crash stopped before its submission. To make a payment that was
 * never submitted, the program must repeat the original call.
 */
const neverAgreed = (ref: string): Failure =>
  new Failure('declined', `Not sent: the payment ${ref} was never submitted.`, {
    hint: 'Repeat the original call with the same reference.',
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
  earlier?: EarlierPayment,
): Approval => ({
  kind,
  destination,
  transaction,
  ...rest,
  earlier: earlier && reportOf(earlier.payment),
});

/**
 * The refusal of a payment with the same amount and destination as an unfinished payment. svcpay
 * refuses to repeat an unfinished payment, because otherwise a program that repeats a call after an
 * error would pay twice.
 */
const sameAgain = ({ payment: { ref, attempts } }: EarlierPayment): Failure =>
  new Failure(
    'usage',
    `Not sent: the payment ${ref} has the same amount and destination, and its outcome is not ` +
      'known yet.',
    {
      hint:
        'Resume the earlier payment, pass a reference for the new payment, or pass the option ' +
        '{ again: true }.',
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
        message: `svcpay has read ${event.count} transactions to look up the reference.`,
      };
    default:
      return { type: event.type, transaction: event.txn };
  }
}
