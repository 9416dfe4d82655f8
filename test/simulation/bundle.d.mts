import type { Break } from './breaks.js';

export declare const flags: readonly string[];
export declare function bundle(broken?: Break): Promise<{
  readonly outfile: string;
  readonly remove: () => void;
}>;
