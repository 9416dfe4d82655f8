export declare const flags: readonly string[];
export declare function bundle(mutation?: string): Promise<{ readonly outfile: string; readonly remove: () => void }>;
