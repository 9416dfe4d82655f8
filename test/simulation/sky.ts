// The weather of a schedule: a storm, until it clears up.
import { calm, type Weather } from './network.js';
import type { Behaviour } from './service-parameters.js';
import type { Chance } from './world.js';

export interface Sky {
  weatherFor: (what: string) => Readonly<Weather>;
  /** Probability that a journal finds no room for a write. */
  diskFull: number;
  /** Probability that a shared database is not reached, and that its answer is lost. */
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
 * Something of everything, and in half of all storms one fault that hits one kind of request nearly
 * every time.
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
