// Where a connection goes: directly to this machine, or through the proxy of the environment.
import { Failure } from '../../formats/failure.js';
import { isLoopback } from '../base-url.js';

export interface Proxy {
  readonly address: string;
  readonly except: string;
}

/** Reads the variables like curl: lower-case names take precedence, and a proxy needs no scheme. */
export function proxyOf(env: NodeJS.ProcessEnv): Proxy | undefined {
  const setting = (name: string): string | undefined =>
    env[name] || env[name.toUpperCase()] || undefined;
  const address = setting('https_proxy') ?? setting('http_proxy');
  if (address === undefined) return undefined;
  return {
    address: address.includes('://') ? address : `http://${address}`,
    except: setting('no_proxy') ?? '',
  };
}

/** Loopback connections never use a proxy. */
export const mayBeProxied = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' && !isLoopback(hostname);

/** Whether Node accepts every certificate. */
export const takesAnyCertificate = (env: NodeJS.ProcessEnv): boolean =>
  env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0';

/**
 * Throws Failure `usage` if Node does not check the certificates of another machine, unless
 * `insecure` allows that.
 */
export function checkTls(
  url: URL,
  { env, insecure }: { env: NodeJS.ProcessEnv; insecure?: boolean | undefined },
): void {
  if (
    insecure === true ||
    !takesAnyCertificate(env) ||
    url.protocol !== 'https:' ||
    isLoopback(url.hostname)
  )
    return;
  throw new Failure(
    'usage',
    'Nothing was sent: NODE_TLS_REJECT_UNAUTHORIZED=0 accepts any certificate for ' +
      `${url.host}, so anyone on the network could read the token.`,
    {
      hint:
        'Unset it and name your own certificate in NODE_EXTRA_CA_CERTS, or run it with ' +
        '--insecure.',
    },
  );
}
