export declare const flags: readonly string[];
export declare function bundle(): Promise<{
  readonly outfile: string;
  readonly remove: () => void;
}>;
