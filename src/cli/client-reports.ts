// Reports of the client on stderr: rate-limit waits, unrecognized fields, slow requests, timings.
import type { ClientOptions } from '../api/options.js';
import type { Transport } from '../api/transport.js';
import { describeDuration } from '../formats/duration.js';
import { embeddedUrl } from '../store/profile/settings.js';
import type { Live, LiveOptions } from '../terminal/live.js';
import type { Output } from '../terminal/output.js';

const shortestWaitMs = 1_000;

const mostReported = 5;

export function clientReports(out: Pick<Output, 'warn' | 'say'>, now: () => number) {
  const reported = new Set<string>();
  let more = 0;
  let reportedUntil = 0;

  function onWait(ms: number): void {
    if (ms < shortestWaitMs) return;
    const until = now() + ms;
    // Concurrent requests wait until the same time, which is reported only once.
    if (until < reportedUntil + 1_000) return;
    reportedUntil = until;
    out.say(
      `Rate limit of the service: waiting ${describeDuration(Math.ceil(ms / 1_000) * 1_000)}.`,
    );
  }

  function onUnrecognized(words: string): void {
    if (reported.has(words)) return;
    if (reported.size === mostReported) {
      more += 1;
      return;
    }
    reported.add(words);
    out.warn(`Could not read: ${words}.`);
  }

  return {
    hooks: { onWait, onUnrecognized } satisfies Pick<ClientOptions, 'onWait' | 'onUnrecognized'>,
    close: (): void => {
      if (more > 0) out.warn(`Could not read: ${more} more.`);
    },
  };
}

const slowMs = 500;

/** Shows the host if its response is slow and nothing else is shown. */
export const showingSlowRequests =
  (
    transport: Transport,
    { every }: Pick<LiveOptions, 'every'>,
    live: Pick<Live, 'fill'>,
  ): Transport =>
  async (request) => {
    let end: (() => void) | undefined;
    const stopTicking = every(
      slowMs,
      () => void (end ??= live.fill(`Waiting for ${awaited(request.url)}`)),
    );
    try {
      return await transport(request);
    } finally {
      stopTicking();
      end?.();
    }
  };

const awaited = (url: string): string =>
  url.startsWith(embeddedUrl) ? 'the embedded sandbox' : new URL(url).host;

/**
 * Logs at the end how long the command took, and how much of that time it waited for the service.
 */
export function timingCommand(
  transport: Transport,
  elapsed: () => number,
  log: (line: string) => void,
  onClose: (close: () => void) => void,
): Transport {
  const counted = { requests: 0, underway: 0, since: 0, waitedMs: 0 };
  onClose(() => {
    const [whole, waited] = [elapsed(), counted.waitedMs].map((ms) => ms.toFixed(0));
    log(
      `command ${whole} ms, of which ${waited} ms waiting for ${counted.requests} ` +
        `${counted.requests === 1 ? 'request' : 'requests'}`,
    );
  });
  return async (request) => {
    if (counted.underway === 0) counted.since = elapsed();
    counted.requests += 1;
    counted.underway += 1;
    try {
      return await transport(request);
    } finally {
      counted.underway -= 1;
      if (counted.underway === 0) counted.waitedMs += elapsed() - counted.since;
    }
  };
}
