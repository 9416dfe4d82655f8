// Exports the library: the typed client of the service, payments, webhooks, and the formats of
// money and destinations.
export { CancelNotOffered, NoAnswer, ServiceError } from './api/errors.js';
export type { ServiceErrorDetails } from './api/errors.js';
export { NetworkError } from './api/errors.js';
export type {
  HttpRequest,
  HttpResponse,
  NetworkErrorDetails,
  Timing,
  Transport,
} from './api/errors.js';
export type {
  Account,
  AccountOptions,
  Answered,
  BitcoinAddress,
  Credentials,
  DetailName,
  Identity,
  Institution,
  Kyc,
  LastResponse,
  ListedTransaction,
  MisreadField,
  Pagination,
  Person,
  Rates,
  RequestDetails,
  RequestOptions,
  RequestSide,
  SoughtTransaction,
  SourceOfFunds,
  Method,
  Token,
  TokenStore,
  Transaction,
  TransactionFilter,
  TransactionList,
  TransactionPage,
  TxnState,
  UsdtAddress,
  UsdtChain,
  Wallet,
  Webhook,
} from './api/types.js';
export {
  btcFromMsat,
  fixed,
  formatAmount,
  formatSats,
  fromWire,
  money,
  msatOf,
  parseAmount,
  satsOf,
} from './formats/amount.js';
export type { decimal, DecimalText, Money, WireNumber } from './formats/amount.js';
export type { FurtherDeductions } from './api/unspecified.js';
export { transactionStates } from './formats/states.js';
export { decodeInvoice } from './formats/bolt11/decode.js';
export type { Invoice, RouteHop } from './formats/bolt11/decode.js';
export { detectDestination } from './formats/destination.js';
export type {
  Bip21,
  Bip21Destination,
  Destination,
  LightningAddress,
} from './formats/destination.js';
export type {
  BitcoinAddress as DecodedBitcoinAddress,
  BitcoinAddressType,
  BitcoinNetwork,
  EvmAddress,
  TronAddress,
} from './formats/address.js';
export type { Network } from './formats/rails.js';
export { exitCodes, Failure } from './formats/failure.js';
export type { FailureDetails, FailureKind, NextStep } from './formats/failure.js';

export { openPayments } from './library/payments.js';
export {
  openMemoryJournal,
  openPostgresJournal,
  openSqliteJournal,
} from './store/journal/handle.js';
export type { Journal, PostgresJournalOptions } from './store/journal/handle.js';
export type {
  Approval,
  CallOptions,
  PaymentEvent,
  PaymentReport,
  Payments,
  PaymentsOptions,
  PayOptions,
  Payout,
  Receive,
  Received,
  Resumed,
  Send,
  Swap,
} from './library/contract.js';
export type { PaymentStatus } from './store/journal/payment.js';
export type { Limits } from './store/profile/profiles.js';
export type { Answer, QuotedCost } from './wallet/payment/model.js';
export type { Quote } from './wallet/quote/quote.js';
export type {
  CreateMethod,
  CreateSide,
  CreateTransaction,
  PayoutCode,
  PayoutDetails,
} from './library/client.js';
export { WalletClient } from './library/client.js';
export type { WalletClientOptions } from './library/client.js';
export {
  parseWebhookEvent,
  readWebhook,
  readWebhookRequest,
  signWebhook,
  verifyWebhook,
  webhookSignatureHeader,
} from './library/webhook.js';
export type { RawBody, WebhookRequest } from './library/webhook.js';
export type { WebhookEvent } from './webhooks/events.js';
