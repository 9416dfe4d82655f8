export declare const mutations: Readonly<Record<string, { readonly machines?: boolean }>>;
