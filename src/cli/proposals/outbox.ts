// The folder in which proposals wait, and what reading them depends on.
import { join } from 'node:path';
import type { Deps } from '../define.js';
import { text } from '../values.js';

export const outboxOption = () =>
  text('DIR')
    .suggesting('file')
    .optional()
    .describe("folder of the proposals (default: proposals, in svcpay's data folder)");

export const outboxOf = (given: string | undefined, { home }: Deps<'home'>): string =>
  given ?? join(home.data, 'proposals');

export const environmentOf = ({ settings, now }: Deps<'settings' | 'now'>) => ({
  network: settings.network,
  now: now(),
});
