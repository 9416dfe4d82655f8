// Runs commands against the strict service in any dialect, from any number of homes.
import { join } from 'node:path';
import {
  startStrictService,
  type Dialect,
  type StrictService,
} from '../conformance/strict-service.js';
import { quickTime, svcpay, type Here } from './in-process.js';
import { afterwards, test as base, type Run } from './svcpay.js';

export interface Strict {
  readonly service: StrictService;
  /** Runs a command in the home with this name, on a clock that shortens svcpay's waits. */
  run(args: string, at?: string, around?: Partial<Here>): Promise<Run>;
  /** Returns the path of the home with this name. */
  home(name: string): string;
}

interface Fixtures {
  readonly dialect: Partial<Dialect>;
  readonly strict: Strict;
}

export const test = base.extend<Fixtures>({
  dialect: {},
  strict: async ({ home: folder, dialect }, use) => {
    const service = await startStrictService(dialect);
    const home = (name: string): string => join(folder, name);
    const run: Strict['run'] = (args, at = 'home', around = {}) =>
      svcpay(args.split(' '), { home: home(at), sandbox: service, ...quickTime(), ...around });
    await use({ service, run, home });
    await afterwards.get(service.url)?.();
    await service.stop();
  },
});

/** Returns the command that pays a Lightning Address of the strict service. */
export const lnurl = (name: string): string =>
  `send lnurl ${name}@example.com 1000sat --yes --json`;

/**
 * A command with a fixed reference, so that every run of the command refers to the same payment.
 */
export const shop = `${lnurl('shop')} --ref order-1`;
