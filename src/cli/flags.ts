// How a value's name is written on the command line.
import type { Value } from './values.js';

/** `maxFee` -> `--max-fee`. */
export const flagName = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** `--no-wait` for the off side of a pair. */
export const negatedFlag = (name: string): string => flagName(name).replace('--', '--no-');

export const takesWord = (value: Value<unknown>): boolean =>
  value.shape.kind === 'word' || value.shape.kind === 'words';
