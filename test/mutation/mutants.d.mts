export interface Mutant {
  readonly line: number;
  readonly what: string;
}
export declare function mutantsOf(source: string, file: string): Mutant[];
export declare function instrumented(
  source: string,
  mutants: readonly Mutant[],
  firstId: number,
): string;
