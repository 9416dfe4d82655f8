// Access tokens, kept per base URL and API key, so that a script's every call does not authenticate anew.
import * as v from 'valibot';
import { openDocument } from '../files/document.js';

/** The token as a header can carry it; an empty one has been forgotten. */
const tokenSchema = v.object({
  accessToken: v.pipe(v.string(), v.regex(/^[!-~]*$/)), expiresAt: v.number(), accountId: v.pipe(v.string(), v.minLength(1)),
});
export type KeptToken = v.InferOutput<typeof tokenSchema>;

const isKeptToken = (entry: [string, unknown]): entry is [string, KeptToken] => v.is(tokenSchema, entry[1]);
/** One that is not understood stands in the way of no other. */
const tokensSchema = v.pipe(
  v.record(v.string(), v.unknown()),
  v.transform((entries): Record<string, KeptToken> => Object.fromEntries(Object.entries(entries).filter(isKeptToken))),
);

export interface KeptTokens {
  readonly path: string;
  load(): Promise<KeptToken | undefined>;
  save(token: KeptToken): Promise<void>;
  clear(): Promise<void>;
}

/** The name under which the secret and the token of one key at one service are kept. */
export const credentialName = (baseUrl: string, apiKey: string): string => `${baseUrl} ${apiKey}`;

/** @param log hears of a file that cannot be read: whoever finds no token signs in anew. */
export function openTokens(folder: string, name: string, log: (words: string) => void = () => undefined): KeptTokens {
  const file = openDocument(folder, 'tokens', tokensSchema, { passOver: log });
  return {
    path: file.path,
    load: () => Promise.resolve(file.read()[name]),
    save: async (token) => void (await file.update((before) => ({ ...before, [name]: token }))),
    clear: async () => void (await file.update(({ [name]: _gone, ...others }) => others)),
  };
}
