// The sandbox as a test fixture, its file opened as every SQLite file of svcpay is.
import { startSandbox as start, type Sandbox, type SandboxOptions } from './sandbox/index.js';
import { openSqlite } from './store/files/sqlite-file.js';

export type { Delivery } from './sandbox/deliveries/deliveries.js';
export type { LoggedRequest } from './sandbox/http/request-log.js';
export type {
  Sandbox, SandboxClock, SandboxFaults, SandboxOptions, SandboxSnapshots, SandboxStatus, SandboxWebhooks, TestEvent,
} from './sandbox/index.js';
export type { Snapshot } from './sandbox/control/snapshots.js';
export type { Fault, NewFault } from './sandbox/world/faults.js';

/** Starts the sandbox on the loopback interface. */
export const startSandbox = (options: SandboxOptions = {}): Promise<Sandbox> => start({ openFile: openSqlite, ...options });
