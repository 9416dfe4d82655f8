// Where a connection goes: this machine by its own name, another one by a proxy where the environment names one.
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
