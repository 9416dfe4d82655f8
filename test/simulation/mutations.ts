// Mistakes that a payment machine can have, put into what it is given: the simulation has to notice each of them.
import { NoAnswer } from '../../src/api/errors.js';
import type { CreateTransaction, ListedTransaction } from '../../src/api/types.js';
import type { Journal } from '../../src/store/journal/journal.js';
import type { PaymentDeps, PaymentService } from '../../src/wallet/payment/contract.js';
import { attemptRef } from '../../src/wallet/payment/history.js';
import type { Mutation } from './process.js';

function withService(deps: PaymentDeps, change: (service: PaymentService) => Partial<PaymentService>): PaymentDeps {
  const { service } = deps;
  const whole: PaymentService = {
    createTransaction: (body) => service.createTransaction(body),
    confirmTransaction: (txnId) => service.confirmTransaction(txnId),
    transaction: (txnId) => service.transaction(txnId),
    wallets: () => service.wallets(),
    eachTransaction: (filter) => service.eachTransaction(filter),
    transactions: (filter) => service.transactions(filter),
    rates: () => service.rates(),
    serviceNow: () => service.serviceNow(),
  };
  return { ...deps, service: { ...whole, ...change(service) } };
}

const withJournal = (deps: PaymentDeps, change: (journal: Journal) => Partial<Journal>): PaymentDeps => ({
  ...deps,
  journal: { ...deps.journal, ...change(deps.journal) },
});

/** The write before the confirmation is left out: only this process knows that the money was let go. */
const noWriteBeforeConfirmation: Mutation = (deps) =>
  withJournal(deps, () => ({
    spend: async (claim, change) => ({ ...claim, intent: { ...claim.intent, ...change } }),
  }));

/** A confirmation without an answer is taken for lost: the same is quoted under a new reference and confirmed. */
const newQuoteAfterLostConfirmation: Mutation = (deps) => {
  const bodies = new Map<string, CreateTransaction>();
  return withService(deps, (service) => ({
    createTransaction: async (body) => {
      const txn = await service.createTransaction(body);
      bodies.set(txn.txnId, body);
      return txn;
    },
    confirmTransaction: async (txnId) => {
      try {
        return await service.confirmTransaction(txnId);
      } catch (error) {
        const body = bodies.get(txnId);
        if (!(error instanceof NoAnswer) || body === undefined) throw error;
        const again = await service.createTransaction({ ...body, extRefId: attemptRef(body.extRefId ?? '', 2) });
        return { ...(await service.confirmTransaction(again.txnId)), txnId };
      }
    },
  }));
};

async function* nothing(): AsyncGenerator<ListedTransaction> {}

/** The reference is not looked for: not before a creation, not after a lost one. */
const noLookUp: Mutation = (deps) => withService(deps, () => ({ eachTransaction: nothing, transactions: async () => ({ data: [] }) }));

/** After a lost creation another one is sent, under a reference of its own. */
const newReferenceAfterLostCreation: Mutation = (deps) =>
  withService(deps, (service) => ({
    createTransaction: async (body) => {
      try {
        return await service.createTransaction(body);
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        return { ...(await service.createTransaction({ ...body, extRefId: deps.newId() })), extRefId: body.extRefId };
      }
    },
  }));

/** Every process may drive every intent, whoever has it. */
const noFence: Mutation = (deps) =>
  withJournal(deps, (journal) => ({
    claim: async (id, owner) => {
      const claim = await journal.claim(id, owner);
      const intent = await journal.read(id);
      return claim ?? (intent === undefined ? undefined : { intent, fence: Infinity });
    },
    write: async (claim, change) =>
      journal.write(claim, change).catch(() => ({ ...claim, intent: { ...claim.intent, ...change } })),
  }));

/** The yes of a person is taken for granted. */
const noQuestion: Mutation = (deps) => ({ ...deps, approve: async () => true });

export const mutations: Readonly<Record<string, Mutation>> = {
  'no journal write before the confirmation': noWriteBeforeConfirmation,
  'a new quote after a lost confirmation': newQuoteAfterLostConfirmation,
  'no look-up of the reference': noLookUp,
  'a new reference after a lost creation': newReferenceAfterLostCreation,
  'no fence': noFence,
  'no question': noQuestion,
};
