// Where a connection goes: this machine by its own name, another one by a proxy where the environment names one.
import { Failure } from '../../formats/failure.js';
import { isLocalName, isLoopback } from '../base-url.js';

export interface Proxy {
  readonly address: string;
  readonly except: string;
}

/** A name under `localhost` is this machine, whatever a name server says, since http is allowed to it. */
export const resolvable = (hostname: string): string => (isLocalName(hostname) ? 'localhost' : hostname);

/** As with curl, a name in lower case goes first and a proxy needs no scheme. */
export function proxyOf(env: NodeJS.ProcessEnv): Proxy | undefined {
  const setting = (name: string): string | undefined => env[name] || env[name.toUpperCase()] || undefined;
  const address = setting('https_proxy') ?? setting('http_proxy');
  if (address === undefined) return undefined;
  return { address: address.includes('://') ? address : `http://${address}`, except: setting('no_proxy') ?? '' };
}

/** What goes to this machine never leaves it through a proxy. */
export const mayBeProxied = ({ protocol, hostname }: URL): boolean => protocol === 'https:' && !isLoopback(hostname);

/** Whether Node accepts every certificate. */
export const takesAnyCertificate = (env: NodeJS.ProcessEnv): boolean => env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0';

/** Throws Failure `usage` when anyone on the way to another machine could take the token, and nobody accepted that. */
export function checkTls(url: URL, { env, insecure }: { env: NodeJS.ProcessEnv; insecure?: boolean | undefined }): void {
  if (insecure === true || !takesAnyCertificate(env) || url.protocol !== 'https:' || isLoopback(url.hostname)) return;
  throw new Failure('usage', `Nothing was sent: NODE_TLS_REJECT_UNAUTHORIZED=0 accepts any certificate for ${url.host}, so anyone on the network could read the token.`, {
    hint: 'Unset it and name your own certificate in NODE_EXTRA_CA_CERTS, or allow insecure connections.',
  });
}
