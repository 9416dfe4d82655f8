// The objects of the wire: what the service sends is validated here, fields unknown to us are kept.
// Names are those of the specification; amounts are JSON numbers in whole units (BTC, never satoshis).
import type Big from 'big.js';
import * as v from 'valibot';
import type { FurtherDeductions } from './unspecified.js';

const amount = v.pipe(v.number(), v.finite());
const text = v.nullish(v.string());
const timestamp = v.nullish(v.number());

const sideFields = {
  amtRequested: v.nullish(amount),
  /** Filled after completion. */
  amtSettled: v.nullish(amount),
  reqDetails: v.nullish(v.record(v.string(), v.unknown())),
  kyc: v.nullish(v.record(v.string(), v.unknown())),
  /** Fee of the service; in answers, on `sourceReq`. */
  servicepayFees: v.nullish(amount),
  /** Network or mining fee; in answers, on `sourceReq`. */
  networkFees: v.nullish(amount),
  /** `0` pending, `2` completed; other values are not specified. */
  reqStatus: v.nullish(v.union([v.string(), v.number()])),
  /** Epoch ms: until when the quote, later the invoice, holds. */
  expiresAt: timestamp,
  /** Epoch ms; spelled this way by the service. */
  createAt: timestamp,
  updatedAt: timestamp,
};

const requestSideSchema = v.looseObject({ ccy: v.string(), method: v.string(), ...sideFields });
const listedSideSchema = v.looseObject({ ccy: text, method: text, ...sideFields });

const transactionFields = {
  txnId: v.pipe(v.string(), v.nonEmpty()),
  txnState: v.string(),
  accountId: text,
  accountDisplayName: text,
  extRefId: text,
  note: text,
  sourceOfFunds: v.nullish(v.record(v.string(), v.unknown())),
  /** 1 for same-currency transactions. */
  fxRate: v.nullish(amount),
  /** Epoch ms. */
  createdAt: timestamp,
};

export const transactionSchema = v.looseObject({
  ...transactionFields,
  sourceReq: requestSideSchema,
  destReq: requestSideSchema,
});

export const transactionPageSchema = v.looseObject({
  data: v.array(v.looseObject({ ...transactionFields, sourceReq: listedSideSchema, destReq: listedSideSchema })),
  pagination: v.looseObject({ page: v.number(), limit: v.number(), total: v.number() }),
});

export const walletsSchema = v.looseObject({
  data: v.array(
    v.looseObject({
      id: text,
      ccy: v.string(),
      /** Total, including what pending transactions have reserved. */
      amount,
      /** Spendable now. */
      availableBalance: amount,
      accountId: text,
      createdAt: text,
      updatedAt: text,
    }),
  ),
});

export const accountSchema = v.looseObject({});

export const bitcoinAddressSchema = v.looseObject({ staticOnchainAddress: v.string() });

export const usdtAddressSchema = v.looseObject({
  data: v.looseObject({
    staticOnchainAddress: v.string(),
    walletCcy: v.string(),
    chainId: v.string(),
    accountId: text,
  }),
});

export const webhookSchema = v.looseObject({ id: v.string(), callback: v.string(), createdAt: timestamp });
export const webhooksSchema = v.looseObject({ data: v.array(webhookSchema) });

const institutionSchema = v.looseObject({
  institutionCode: v.string(),
  institutionType: v.string(),
  institutionName: v.string(),
});

export const institutionsSchema = v.looseObject({
  banks: v.nullish(v.array(institutionSchema)),
  mobiles: v.nullish(v.array(institutionSchema)),
});

/** One side of a transaction as the service answers it (specification: Request side object). */
export type RequestSide = v.InferOutput<typeof requestSideSchema>;
/** A transaction in full, as create, confirm and get answer it. */
export type Transaction = v.InferOutput<typeof transactionSchema>;
/** A page of the list; its items have reduced sides, where even `ccy` and `method` may be missing. */
export type TransactionPage = v.InferOutput<typeof transactionPageSchema>;
/** An item of the list. A whole {@link Transaction} is one too. */
export type ListedTransaction = TransactionPage['data'][number];
export type Wallet = v.InferOutput<typeof walletsSchema>['data'][number];
/** The record as the service gives it: its fields are not specified. */
export type Account = v.InferOutput<typeof accountSchema>;
export type BitcoinAddress = v.InferOutput<typeof bitcoinAddressSchema>;
export type UsdtAddress = v.InferOutput<typeof usdtAddressSchema>['data'];
export type Webhook = v.InferOutput<typeof webhookSchema>;
export type Institution = v.InferOutput<typeof institutionSchema>;

/** Price of one unit of the first currency in the second, by pair: `{ BTCUSD: 70796.845 }`. */
export type Rates = Readonly<Record<string, number>>;

/** Chains of the static USDT address (endpoint 5). */
export type UsdtChain = 'TRON' | 'ETH';

/** One side of a creation. Set `amtRequested` on one side only, and on none for a BOLT11 send (endpoint 6). */
export interface CreateSide {
  ccy: string;
  method: string;
  amtRequested?: Big | number | undefined;
  reqDetails?: Readonly<Record<string, unknown>> | undefined;
  kyc?: Kyc | undefined;
}

/** Identity of a party of a fiat payout. */
export interface Kyc {
  type: 'individual' | 'business';
  details: {
    legalFullName: string;
    /** ISO 3166-1 alpha-2. */
    countryCode: string;
    contactNumber?: string | undefined;
    address1?: string | undefined;
  };
}

/** Codes whose meaning the service does not specify; for international payouts. */
export interface SourceOfFunds {
  purpose: number;
  source: number;
  relationship: number;
}

/** Body of endpoint 6. Fields that are `undefined` are not sent. */
export interface CreateTransaction extends FurtherDeductions {
  sourceReq: CreateSide;
  destReq: CreateSide;
  /** Unique per transaction. */
  extRefId?: string | undefined;
  note?: string | undefined;
  /** True takes the fees out of the sent amount. */
  deductNetworkFeesFromDest?: boolean | undefined;
  sourceOfFunds?: SourceOfFunds | undefined;
}

/** Filters of endpoint 10, under their own names. `startTime` and `endTime` count only with `time: 'other'`. */
export interface TransactionFilter {
  time?: '1d' | '7d' | '30d' | '3m' | '6m' | '1y' | 'other' | undefined;
  /** ISO 8601, inclusive. */
  startTime?: string | undefined;
  /** ISO 8601, inclusive. */
  endTime?: string | undefined;
  txnStatuses?: readonly string[] | undefined;
  srcMethods?: string | undefined;
  destMethods?: string | undefined;
  excludedSrcMethods?: string | undefined;
  excludedDestMethods?: string | undefined;
  limit?: number | undefined;
  page?: number | undefined;
}

/** An access token, with the account that it speaks for. */
export interface Token {
  accessToken: string;
  /** Epoch ms, by the service's clock. */
  expiresAt: number;
  accountId: string;
}

/** Where a token is kept between runs. */
export interface TokenStore {
  load(): Promise<Token | undefined>;
  save(token: Token): Promise<void>;
  clear(): Promise<void>;
}

export interface Credentials {
  apiKey: string;
  apiSecret: string;
}
