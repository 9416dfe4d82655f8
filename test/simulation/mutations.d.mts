export declare const mutations: Readonly<Record<string, { readonly machines?: boolean; readonly seed?: number; readonly mistake?: string; readonly test?: string }>>;
