// Opens connections to the service while the command's code loads, which takes about one round
// trip.
import { takesAnyCertificate } from '../api/network/connections.js';
import { networkTransport, type OpeningTransport } from '../api/network/network.js';
import { findHome } from '../store/files/home.js';
import { openConfig } from '../store/profile/profiles.js';
import { resolveSettings } from '../store/profile/settings.js';
import type { CommandLine } from './command-line.js';
import type { Process } from './process.js';

/**
 * Undefined without a service, or if a setting is invalid. The command reports an invalid setting
 * later.
 */
export function connectEarly(
  line: CommandLine,
  connections: number,
  { env }: Pick<Process, 'env'>,
): OpeningTransport | undefined {
  try {
    const flags = {
      profile: line.word('profile'),
      baseUrl: line.word('base-url'),
      sandbox: line.has('sandbox'),
    };
    const { baseUrl, embedded } = resolveSettings(
      flags,
      env,
      openConfig(findHome(env).config).read(),
    );
    if (baseUrl === undefined || embedded || takesAnyCertificate(env)) return undefined;
    const transport = networkTransport({ env, timeoutMs: Infinity, endsSoon: true });
    transport.open(baseUrl, connections);
    return transport;
  } catch {
    return undefined;
  }
}
