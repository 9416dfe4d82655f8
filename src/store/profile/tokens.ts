// Access tokens, kept per base URL and API key, so that a script's every call does not authenticate anew.
import * as v from 'valibot';
import { openDocument } from '../files/document.js';

const tokenSchema = v.object({ accessToken: v.string(), expiresAt: v.number(), accountId: v.string() });
const tokensSchema = v.record(v.string(), tokenSchema);

export type KeptToken = v.InferOutput<typeof tokenSchema>;

export interface KeptTokens {
  readonly path: string;
  load(): Promise<KeptToken | undefined>;
  save(token: KeptToken): Promise<void>;
  clear(): Promise<void>;
}

/** The name under which the secret and the token of one key at one service are kept. */
export const credentialName = (baseUrl: string, apiKey: string): string => `${baseUrl} ${apiKey}`;

export function openTokens(folder: string, name: string): KeptTokens {
  const file = openDocument(folder, 'tokens', tokensSchema);
  return {
    path: file.path,
    load: () => Promise.resolve(file.read()[name]),
    save: async (token) => void (await file.update((before) => ({ ...before, [name]: token }))),
    clear: async () => void (await file.update(({ [name]: _gone, ...others }) => others)),
  };
}
