// What a piece of work is handed: the database, the moment it counts as, randomness, and the settings of this service.
import { createHash, randomBytes } from 'node:crypto';
import type { Maker } from '../wire/maker.js';
import type { Store } from '../storage/database.js';

/** Random bytes of the given length. */
export type Random = (length: number) => Uint8Array;

export interface Context {
  readonly store: Store;
  /** The moment the work counts as, epoch ms of the service's own clock. */
  readonly now: number;
  readonly random: Random;
  readonly maker: Maker;
  /** Address of the service as its clients see it, without a trailing slash. */
  readonly baseUrl: string;
  /** Behaviours of live services that are on, by the names of their shapes. */
  readonly liveShapes: ReadonlySet<string>;
}

const fetchedAtOnce = 4_096;

/** The system's, fetched for many at a time. */
export function pooledRandom(): Random {
  let pool = Buffer.alloc(0);
  return (length) => {
    if (pool.length < length) pool = randomBytes(Math.max(length, fetchedAtOnce));
    const taken = pool.subarray(0, length);
    pool = pool.subarray(length);
    return taken;
  };
}

export const randomHex = (random: Random, length: number): string => Buffer.from(random(length)).toString('hex');

/** A UUID, version 4. */
export function randomId(random: Random): string {
  const bytes = Buffer.from(random(16));
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export const sha256Hex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
