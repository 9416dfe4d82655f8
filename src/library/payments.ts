// Makes payments for an integrator, with the payment core of the command line and a journal that
// the integrator chooses.
import { randomUUID } from 'node:crypto';
import { serviceOf } from './client.js';
import {
  checked,
  type PaymentsOptions,
  type CallOptions,
  type PayOptions,
  type Receive,
  type Received,
  type Approval,
  type PaymentEvent,
  type PaymentReport,
  type Resumed,
  type Payments,
} from './contract.js';
import type { ServiceClient } from '../api/client.js';
import type { Transaction } from '../api/types.js';
import { wireJson } from '../api/wire.js';
import { every, sleep, unlessInterrupted } from '../api/timers.js';
import { parseCurrency } from '../formats/amount.js';
import { Failure, ifAvailable, invalid } from '../formats/failure.js';
import { isFinal } from '../formats/states.js';
import { parseReference } from '../formats/reference.js';
import { errorOf } from '../formats/text.js';
import { journalOf, ownName, type Opened } from '../store/journal/handle.js';
import { decisive, mayHavePaid, status, type Payment } from '../store/journal/payment.js';
import type { Network } from '../formats/rails.js';
import { readLimits } from '../store/profile/profiles.js';
import { noLimits, type EarlierPayment } from '../wallet/limits/limits.js';
import type {
  Approval as CoreApproval,
  Consent,
  PaymentDeps,
  PaymentEvent as CoreEvent,
  Repeats,
} from '../wallet/payment/model.js';
import { instructionOf, type Instruction, readSwap } from '../wallet/instruction/instruction.js';
import { ownAddressGuard } from '../wallet/instruction/order.js';
import { readSendNow } from '../wallet/instruction/send.js';
import { keptText, replacedText } from '../wallet/instruction/words.js';
import { receiveBody } from '../wallet/order/orders.js';
import { resolutionText } from '../wallet/payment/outcomes.js';
import {
  journalFirst,
  named,
  unfinished,
  type FindPayments,
  pay,
  referenceOf,
} from '../wallet/payment/pay.js';
import { directionOf, waitUntilFinal } from '../wallet/transaction/read.js';
import { resumeAll } from '../wallet/payment/resume.js';
import { readPayoutFile } from '../wallet/payout/from-file.js';
import { findInstitution } from '../wallet/payout/methods.js';
import { requestMoney, checkedRequest } from '../wallet/receive/request.js';
import { readAsked } from '../wallet/quote/quote.js';

const usualWaitMs = 30_000;
/** The time in ms in which a paid payment counts as an earlier one (`approval.earlier`). */
const paidWithinMs = 600_000;

/** Opens the payments of one account at one service. See docs/library.md. */
export function openPayments(options: PaymentsOptions): Payments {
  const client = serviceOf(checked.openPayments(options).client);
  const { journal, closed, run } = journalOf(options.journal);
  const network = options.network ?? (client.baseUrl.startsWith('https:') ? 'mainnet' : 'any');
  const begin = callsOf(client, options, closed);
  const { limits, budget } = options;
  const parts = { client, journal, closed, run, begin, limits, budget };
  const { depsOf, payAsked, first } = paymentsOf(parts);
  return {
    async send(given) {
      const payment = checked.send(given);
      const words = { ...payment, from: payment.from && parseCurrency(payment.from) };
      const { instruction } = readSendNow(words, { network, now: Date.now() });
      return payAsked(instruction, payment);
    },
    async swap(swap) {
      const { from, to, ...terms } = checked.swap(swap);
      const words = { amount: terms.amount, from: parseCurrency(from), to: parseCurrency(to) };
      return payAsked(readSwap(words, terms.receive === true), terms);
    },
    async payout(payout) {
      const { body, ...terms } = checked.payout(payout);
      const { instruction, method, ref } = readPayoutFile(wireJson(body), client.maker);
      const { institutionCode = '' } = instruction.payout?.destReq.reqDetails ?? {};
      const { service } = begin(terms);
      const institutions = await ifAvailable(service.institutions(method.country.code));
      if (institutions !== undefined)
        findInstitution(String(institutionCode), method, institutions);
      if (ref !== undefined && terms.ref !== undefined && ref !== terms.ref)
        throw invalid(
          `payout: ref is ${terms.ref}, but body.extRefId is ${ref}. Pass only one reference.`,
        );
      return payAsked(instruction, { ...terms, ref: terms.ref ?? ref });
    },
    receive: async (request) => receive(checked.receive(request), begin, network),
    async resume(given = {}) {
      const { wait, ref, ...call } = checked.resume(given);
      return first(named(ref) ?? unfinished(), async () => {
        const deps = await depsOf(call, async () => 'another');
        const open = await journal.open(deps.scope);
        return resume(
          open.filter((each) => ref === undefined || each.ref === ref),
          wait,
          deps,
        );
      });
    },
    async pending(given = {}) {
      const { service } = begin(checked.pending(given));
      return (await journal.open(await accountOf(service))).map(reportOf);
    },
    ...byReference({ journal, begin }),
  };
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
    if (closed.aborted) throw invalid('the journal is closed.', { money: 'Nothing was sent' });
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
      sleep,
      every,
    };
  };

interface PaymentParts extends Pick<PaymentsOptions, 'limits' | 'budget'>, Opened {
  readonly client: ServiceClient;
  readonly begin: Begin;
}

/** Returns the functions that look up a payment or a payment request by its reference. */
const byReference = ({
  journal,
  begin,
}: Pick<PaymentParts, 'journal' | 'begin'>): Pick<Payments, 'status' | 'waitFor'> => ({
  async status(ref, given = {}) {
    const { service } = begin(checked.status({ ...given, ref }));
    const payment = await journal.find(await accountOf(service), ref);
    if (payment?.ref === ref) return reportOf(payment);
    const txn = await service.findTransaction({ ref });
    return txn === undefined ? undefined : receiveReport(ref, txn);
  },
  async waitFor(ref, given = {}) {
    const shown = checked.waitFor({ ...given, ref });
    const { wait = usualWaitMs, on, signal } = shown;
    const { service, report, ...deps } = begin({ on, signal });
    const payment = await journal.find(await accountOf(service), ref);
    const txnId = payment && decisive(payment).txnId;
    const txn =
      txnId == null ? await service.findTransaction({ ref }) : await service.transaction(txnId);
    if (txn === undefined)
      throw new Failure('not-found', `No payment and no request has the reference ${ref}.`);
    const atMostMs = wait === 'forever' ? undefined : wait === false ? 0 : wait;
    const onChange = (transaction: Transaction): void => report({ type: 'state', transaction });
    return waitUntilFinal(txn, { atMostMs, onChange }, { ...deps, service });
  },
});

/** Returns the functions that call the payment core. */
function paymentsOf({ limits = noLimits, budget, ...parts }: PaymentParts) {
  const { client, journal, closed, run, begin } = parts;
  const checkedLimits = readLimits(limits);
  const guard = ownAddressGuard(
    async () => ({ client }),
    () => undefined,
  );

  const depsOf = async (call: Call, decide: Repeats['decide']): Promise<PaymentDeps> => {
    const { service, report, ...rest } = begin(call);
    const account = await accountOf(service);
    return {
      ...rest,
      service,
      journal,
      limits: checkedLimits,
      budget: budget === undefined ? undefined : { name: budget },
      account,
      scope: account,
      owner: ownName(),
      repeats: { of: 'generated references', paidWithinMs, decide },
      on: (event) => report(eventOf(event)),
    };
  };

  const first = <T>(concerned: FindPayments | undefined, work: () => Promise<T>): Promise<T> =>
    // Skips the search for payments in a closed journal, so that the call rejects with the failure
    // of `work`.
    run(() =>
      journalFirst(
        concerned && (async (open) => (closed.aborted ? [] : concerned(open))),
        async () => journal,
        work,
      ),
    );

  const payAsked = async (
    asked: Instruction,
    { ref, note, maxFee, maxRateLoss, approve, again, wait, retry = false, ...call }: PayOptions,
  ): Promise<Transaction> => {
    const instruction = note === undefined ? asked : { ...asked, note };
    let earlier: EarlierPayment | undefined;
    const decide: Repeats['decide'] = async (found, at) => {
      const isRefused = approve === undefined || at === 'submission';
      if (isRefused && again !== true && found.is === 'unfinished') throw sameAgain(found);
      earlier = found;
      return 'another';
    };
    // By the contract of the library, a call without `approve` is itself the consent.
    const consent: Consent =
      approve === undefined
        ? { by: 'call' }
        : {
            by: 'program',
            // The program may close the journal in `approve`, and wait for the end of this call.
            ask: (approval) =>
              unlessInterrupted(async () => approve(approvalOf(approval, earlier)), closed),
          };
    const terms = { maxFee, maxRateLoss };
    const request = { instruction, ref: given(ref), terms, consent };
    return first(named(referenceOf(request)), async () => {
      const deps = await depsOf(call, decide);
      let checking: Promise<void> | undefined;
      const checkOrder = () =>
        (checking ??= unlessInterrupted(() => guard(instruction), deps.signal));
      return pay(request, { wait: wait ?? usualWaitMs, retry }, { ...deps, checkOrder });
    });
  };

  return { depsOf, payAsked, first };
}

async function receive(
  { amount: text, method = 'lightning', ref, note, ...call }: Receive,
  begin: Begin,
  network: Network,
): Promise<Received> {
  const { report, ...deps } = begin(call);
  const account = await accountOf(deps.service);
  const asked = await readAsked(method, text, () => deps.service.rates());
  const { txn, amount } = await requestMoney(
    { ...receiveBody(method, asked.amount), note },
    given(ref),
    asked.worth !== undefined,
    { ...deps, account, onRead: (count) => report(eventOf({ type: 'searching', count })) },
  );
  report({ type: 'state', transaction: txn });
  const {
    text: payTo,
    code,
    expiresAt,
  } = checkedRequest(txn, amount, network, deps.service.serviceNow());
  const uri = method === 'on-chain' ? code : `lightning:${code}`;
  return { transaction: txn, payTo, uri, expiresAt };
}

async function resume(
  open: readonly Payment[],
  wait: CallOptions['wait'] = usualWaitMs,
  deps: PaymentDeps,
): Promise<Resumed[]> {
  const toResume = open.filter(mayHavePaid);
  const consent: Consent = { by: 'nobody' };
  const resumed = await resumeAll(toResume, wait, deps.now, async () => ({ deps, consent }));
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

/**
 * Returns the account of the API key. References are unique within an account, whatever hostname
 * the client uses. Throws Failure `usage` if the option `accountId` of the client names an account
 * other than the account of the API key.
 */
async function accountOf(service: ServiceClient): Promise<string> {
  const [own, chosen] = [await service.ownAccountId(), await service.accountId()];
  if (chosen === own) return own;
  throw invalid(`the service acts for ${chosen} only with an API key of that account.`, {
    money: 'Not sent',
  });
}

/**
 * The failure of a payment that a crash stopped before its submission. To make a payment that was
 * never submitted, the program must repeat the original call.
 */
const neverAgreed = (ref: string): Failure =>
  new Failure('declined', `the payment ${ref} was never submitted.`, {
    money: 'Not sent',
    hint: 'Repeat the original call with the same reference.',
  });

const given = (ref: string | undefined): string | undefined =>
  ref === undefined ? undefined : parseReference(ref);

function reportOf(payment: Payment): PaymentReport {
  const { ref, kind, openedAt, updatedAt } = payment;
  const { txnId, txnState } = decisive(payment);
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

/** Reports a payment request, which the journal does not contain. */
function receiveReport(ref: string, txn: Transaction): PaymentReport | undefined {
  const { txnId, txnState, createdAt } = txn;
  if (directionOf(txn) !== 'receive') return undefined;
  const ended = txnState === 'completed' ? 'paid' : txnState === 'error' ? 'error' : 'failed';
  const openedAt = createdAt ?? 0;
  return {
    ref,
    kind: 'receive',
    status: isFinal(txnState) ? ended : 'open',
    txnId,
    txnState,
    openedAt,
    updatedAt: txn.destReq.updatedAt ?? openedAt,
  };
}

const approvalOf = (
  { type: _type, order: { kind, destination }, txn: transaction, ...rest }: CoreApproval,
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
  invalid(
    `the payment ${ref} has the same amount and destination, and its outcome is not ` +
      'known yet.',
    {
      money: 'Not sent',
      hint:
        'Resume the earlier payment, pass a reference for the new payment, or pass the option ' +
        '{ again: true }.',
      txnId: attempts.at(-1)?.txnId ?? undefined,
    },
  );

function eventOf(event: CoreEvent): PaymentEvent {
  if (event.type === 'quoted') return { type: 'quoted', approval: approvalOf(event) };
  if ('txn' in event) return { type: event.type, transaction: event.txn };
  if (event.type === 'following' || event.type === 'submitting')
    return { type: event.type, payment: reportOf(event.payment) };
  return { type: 'warning', message: warningOf(event) };
}

type Warning = Exclude<CoreEvent, { txn: Transaction } | { type: 'following' | 'submitting' }>;

function warningOf(event: Warning): string {
  if ('error' in event) return event.error.message;
  switch (event.type) {
    case 'rate-unchecked':
      return event.why;
    case 'searching':
      return `svcpay has read ${event.count} transactions to look up the reference.`;
    case 'replaced':
      return replacedText(instructionOf(event.payment));
    case 'kept':
      return keptText(event.total);
    case 'recorded':
      return resolutionText(event.resolution);
  }
}
