// The body of a create request as an integrator writes it. Each side of the body has one of a fixed
// set of methods, with the details of that method.
import type * as types from '../api/types.js';

/**
 * The code of a payout method, such as `vnd-instant` or `ke-kes-mobile` (specification: payout
 * table).
 */
export type PayoutCode = `${string}-${string}`;

/** The account of a payout, in one of the two sets of fields from the specification. */
export interface PayoutDetails {
  institutionCode: string;
  institutionName?: string | undefined;
  acctName?: string | undefined;
  acctNum?: string | undefined;
  bankAcctNum?: string | undefined;
}

/**
 * The method and details of one side of a create request (specification: reqDetails by method and
 * role).
 */
export type CreateMethod =
  | { method: 'servicepay'; reqDetails?: Readonly<Record<string, never>> | undefined }
  | { method: 'lightning'; reqDetails?: { paymentRequest?: string | undefined } | undefined }
  | { method: 'on-chain'; reqDetails?: { address?: string | undefined } | undefined }
  | { method: 'lnurl' | 'tron' | 'eth'; reqDetails: { address: string } }
  | { method: 'mobile' | PayoutCode; reqDetails: PayoutDetails };

/**
 * One side of a create request. Set `amtRequested` on exactly one side, or on neither side for a
 * BOLT11 send (endpoint 6).
 */
export type CreateSide = Omit<types.CreateSide, 'method' | 'reqDetails'> & CreateMethod;

/**
 * The body of a create request (endpoint 6). The client does not send fields that are `undefined`.
 */
export interface CreateTransaction extends Omit<types.CreateTransaction, 'sourceReq' | 'destReq'> {
  sourceReq: CreateSide;
  destReq: CreateSide;
}
