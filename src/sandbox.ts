// Exports the sandbox as a test fixture, with the SQLite opener of svcpay.
import { startSandbox as start, type Sandbox } from './sandbox/server.js';
import type { SandboxOptions } from './sandbox/service.js';
import { openSqlite } from './store/files/sqlite-file.js';

export type {
  Attempt,
  Credentials,
  Delivery,
  Fault,
  LoggedRequest,
  SandboxStatus,
  Snapshot,
} from './formats/sandbox/answers.js';
export type { DeliveryFilter } from './sandbox/deliveries.js';
export type {
  Sandbox,
  SandboxClock,
  SandboxFaults,
  SandboxSnapshots,
  SandboxWebhooks,
  TestEvent,
} from './sandbox/server.js';
export type { Seed } from './sandbox/seed.js';
export type { SandboxOptions } from './sandbox/service.js';
export type { State } from './sandbox/wire.js';
export type {
  FaultCount,
  FaultDelay,
  FaultEffect,
  NewFault,
  RequestFault,
} from './sandbox/faults.js';

/** Starts the sandbox on the loopback interface. */
export const startSandbox = (options: SandboxOptions = {}): Promise<Sandbox> =>
  start({ openFile: openSqlite, ...options });
