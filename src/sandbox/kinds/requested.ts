// Reads the one amount of a creation request and the side it stands on.
import type Big from 'big.js';
import { badRequest } from '../wire/refusal.js';
import type { CreationRequest } from './kind.js';

/** The amount on whichever side it was set. */
export function requestedAmount({ source, dest }: CreationRequest): { side: 'source' | 'dest'; amount: Big } {
  if (source.amtRequested !== undefined) return { side: 'source', amount: source.amtRequested };
  if (dest.amtRequested !== undefined) return { side: 'dest', amount: dest.amtRequested };
  throw badRequest('amtRequested is required');
}

/** The amount where this kind wants it: on the destination. */
export function destAmount({ dest }: CreationRequest): { side: 'dest'; amount: Big } {
  if (dest.amtRequested === undefined) throw badRequest('destReq.amtRequested is required');
  return { side: 'dest', amount: dest.amtRequested };
}

/** The amount where this kind wants it: on the source. */
export function sourceAmount({ source }: CreationRequest): { side: 'source'; amount: Big } {
  if (source.amtRequested === undefined) throw badRequest('sourceReq.amtRequested is required');
  return { side: 'source', amount: source.amtRequested };
}

/** A text that the destination needs. */
export function requiredDetail({ dest }: CreationRequest, name: string): string {
  const value = dest.reqDetails[name];
  if (typeof value !== 'string' || value === '') throw badRequest(`destReq.reqDetails.${name} is required`);
  return value;
}
