// What the service sends is validated here; fields that are not known are kept.
import * as v from 'valibot';
import type * as types from './types.js';

type Schema<T> = v.GenericSchema<unknown, T>;

const amount = v.pipe(v.number(), v.finite());
const text = v.nullish(v.string());
const timestamp = v.nullish(v.number());

const sideFields = {
  amtRequested: v.nullish(amount),
  amtSettled: v.nullish(amount),
  reqDetails: v.nullish(v.record(v.string(), v.unknown())),
  kyc: v.nullish(v.record(v.string(), v.unknown())),
  servicepayFees: v.nullish(amount),
  networkFees: v.nullish(amount),
  reqStatus: v.nullish(v.union([v.string(), v.number()])),
  expiresAt: timestamp,
  createAt: timestamp,
  updatedAt: timestamp,
};

const requestSide = v.looseObject({ ccy: v.string(), method: v.string(), ...sideFields });
const listedSide = v.looseObject({ ccy: text, method: text, ...sideFields });

const transactionFields = {
  txnId: v.pipe(v.string(), v.nonEmpty()),
  txnState: v.string(),
  accountId: text,
  accountDisplayName: text,
  extRefId: text,
  note: text,
  sourceOfFunds: v.nullish(v.record(v.string(), v.unknown())),
  fxRate: v.nullish(amount),
  createdAt: timestamp,
};

export const transactionSchema: Schema<types.Transaction> = v.looseObject({
  ...transactionFields,
  sourceReq: requestSide,
  destReq: requestSide,
});

export const transactionPageSchema: Schema<types.TransactionPage> = v.looseObject({
  data: v.array(v.looseObject({ ...transactionFields, sourceReq: listedSide, destReq: listedSide })),
  pagination: v.looseObject({ page: v.number(), limit: v.number(), total: v.number() }),
});

export const walletsSchema: Schema<{ data: types.Wallet[] }> = v.looseObject({
  data: v.array(
    v.looseObject({
      id: text,
      ccy: v.string(),
      amount,
      availableBalance: amount,
      accountId: text,
      createdAt: text,
      updatedAt: text,
    }),
  ),
});

export const accountSchema: Schema<types.Account> = v.looseObject({});

export const bitcoinAddressSchema: Schema<types.BitcoinAddress> = v.looseObject({ staticOnchainAddress: v.string() });

export const usdtAddressSchema: Schema<{ data: types.UsdtAddress }> = v.looseObject({
  data: v.looseObject({
    staticOnchainAddress: v.string(),
    walletCcy: v.string(),
    chainId: v.string(),
    accountId: text,
  }),
});

const webhook = v.looseObject({ id: v.string(), callback: v.string(), createdAt: timestamp });
export const webhookSchema: Schema<types.Webhook> = webhook;
export const webhooksSchema: Schema<{ data: types.Webhook[] }> = v.looseObject({ data: v.array(webhook) });

const institution = v.looseObject({
  institutionCode: v.string(),
  institutionType: v.string(),
  institutionName: v.string(),
});

interface Institutions {
  banks?: types.Institution[] | null | undefined;
  mobiles?: types.Institution[] | null | undefined;
}

export const institutionsSchema: Schema<Institutions> = v.looseObject({
  banks: v.nullish(v.array(institution)),
  mobiles: v.nullish(v.array(institution)),
});
