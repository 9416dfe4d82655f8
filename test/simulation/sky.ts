// The probabilities of the faults that a schedule injects into requests and journals.
import { calm, type Weather } from './network.js';
import type { Behaviour } from './service-parameters.js';
import type { Chance } from './world.js';

export interface Sky {
  weatherFor: (what: string) => Readonly<Weather>;
  /** Probability that a write to a journal fails because the disk is full. */
  diskFull: number;
  /**
   * Probability of each of two faults: a call does not reach a shared database, or the answer of
   * the database is lost.
   */
  databaseSilent: number;
  isCalm: boolean;
}

export const fair: Readonly<Sky> = {
  weatherFor: () => calm,
  diskFull: 0,
  databaseSilent: 0,
  isCalm: true,
};

const targets = [
  /^POST .*transaction$/,
  /^PUT .*confirm$/,
  /^GET .*transaction.txn/,
  /^GET .*transaction$/,
  /token/,
] as const;
const faults = [
  'refused',
  'requestLost',
  'answerLost',
  'doubled',
  'late',
  'spoilt',
  'busy',
  'gateway',
] as const;

/**
 * Draws a probability for each fault. In half of the schedules, one fault hits one type of request
 * with a probability of 0.5 or 0.9.
 */
export function stormy(chance: Chance, without: ReadonlySet<Behaviour>): Sky {
  const force = chance.pick([0, 0.05, 0.3]);
  const usual = { ...calm };
  for (const fault of faults) if (chance.hits(0.4)) usual[fault] = force * chance.next();
  const target = chance.pick(targets);
  const aimed = { ...usual, [chance.pick(faults)]: chance.pick([0.5, 0.9]) };
  const isAimed = chance.hits(0.5);
  if (without.has('gateways')) usual.gateway = aimed.gateway = 0;
  return {
    weatherFor: (what) => (isAimed && target.test(what) ? aimed : usual),
    diskFull: chance.hits(0.15) ? 0.1 * chance.next() : 0,
    databaseSilent: chance.hits(0.5) ? 0.1 * chance.next() : 0,
    isCalm: false,
  };
}
