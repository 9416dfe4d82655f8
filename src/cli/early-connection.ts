// Opens connections to the service while the command's code loads, which takes about one round trip.
import { parseArgs } from 'node:util';
import { takesAnyCertificate } from '../api/network/address.js';
import type { OpeningTransport } from '../api/network/exchange.js';
import { networkTransport } from '../api/network/network.js';
import { findHome } from '../store/files/home.js';
import { openConfig } from '../store/profile/profiles.js';
import { resolveSettings } from '../store/profile/settings.js';
import type { Process } from './context.js';

/** Undefined without TLS, or if a setting is invalid, which the command reports later. */
export function connectEarly(
  argv: readonly string[],
  connections: number,
  { env }: Pick<Process, 'env'>,
): OpeningTransport | undefined {
  try {
    const options = {
      profile: { type: 'string' },
      'base-url': { type: 'string' },
      sandbox: { type: 'boolean' },
    } as const;
    const { values } = parseArgs({ args: [...argv], options, strict: false });
    const word = (name: keyof typeof options): string | undefined =>
      typeof values[name] === 'string' ? values[name] : undefined;
    const flags = {
      profile: word('profile'),
      baseUrl: word('base-url'),
      sandbox: values.sandbox === true,
    };
    const { baseUrl } = resolveSettings(flags, env, openConfig(findHome(env).config).read());
    if (baseUrl?.startsWith('https:') !== true || takesAnyCertificate(env)) return undefined;
    const transport = networkTransport({ env, timeoutMs: Infinity });
    transport.open(baseUrl, connections);
    return transport;
  } catch {
    return undefined;
  }
}
