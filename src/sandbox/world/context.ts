// The context of one job: database, time, randomness and the settings of the service.
import { createHash } from 'node:crypto';
import type { WireNames } from '../wire/wire-names.js';
import type { Store } from '../storage/database.js';

export type Random = (length: number) => Uint8Array;

export interface Context {
  readonly store: Store;
  /** The current time of the service's clock, in epoch ms. */
  readonly now: number;
  readonly random: Random;
  readonly wireNames: WireNames;
  /** The address of the service as clients see it, without a trailing slash. */
  readonly baseUrl: string;
  /** Whether webhook callbacks may be plain http to this machine. */
  readonly allowHttpCallbacks: boolean;
  /** The longest time of each step of a payment in ms, or undefined for the usual times. */
  readonly settleMs: number | undefined;
}

export const randomHex = (random: Random, length: number): string =>
  Buffer.from(random(length)).toString('hex');

/** Returns a random UUID, version 4. */
export function randomId(random: Random): string {
  const bytes = Buffer.from(random(16));
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export const sha256Hex = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');
