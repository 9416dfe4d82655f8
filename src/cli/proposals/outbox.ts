// The folder in which proposals wait.
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
