// Access tokens, stored per base URL and API key, so that scripts need not sign in for every call.
import * as v from 'valibot';
import { openDocument } from '../files/document.js';

/** An empty token was deleted. */
const tokenSchema = v.object({
  accessToken: v.pipe(v.string(), v.regex(/^[!-~]*$/)),
  expiresAt: v.number(),
  accountId: v.pipe(v.string(), v.minLength(1)),
});
export type KeptToken = v.InferOutput<typeof tokenSchema>;

const isKeptToken = (entry: [string, unknown]): entry is [string, KeptToken] =>
  v.is(tokenSchema, entry[1]);
/** Skips invalid entries. */
const tokensSchema = v.pipe(
  v.record(v.string(), v.unknown()),
  v.transform((entries): Record<string, KeptToken> =>
    Object.fromEntries(Object.entries(entries).filter(isKeptToken)),
  ),
);

export interface KeptTokens {
  readonly path: string;
  load(): Promise<KeptToken | undefined>;
  save(token: KeptToken): Promise<void>;
  clear(): Promise<void>;
}

/** The name under which the secret and token of a key at a service are stored. */
export const credentialName = (baseUrl: string, apiKey: string): string => `${baseUrl} ${apiKey}`;

/** @param log reports an unreadable file, after which the client signs in again */
export function openTokens(
  folder: string,
  name: string,
  log: (words: string) => void = () => undefined,
): KeptTokens {
  const file = openDocument(folder, 'tokens', tokensSchema, { onUnreadable: log });
  return {
    path: file.path,
    load: () => Promise.resolve(file.read()[name]),
    save: async (token) => void (await file.update((before) => ({ ...before, [name]: token }))),
    clear: async () => void (await file.update(({ [name]: _gone, ...others }) => others)),
  };
}
