// Runs the paying commands that svcpay printed in a test, as printed and with `--yes` for a person
// who agrees, and counts the payments: none pays what another payment has paid, or what the test did
// not ask for. The commands run after the test, on the home and the service as they were when svcpay
// printed the command.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Sandbox } from '../../src/sandbox/server.js';
import type { Here } from './in-process.js';
import type { Printed } from './printed-commands.js';
import type { Run } from './svcpay.js';

interface Followed extends Printed {
  readonly around: Here;
  /** What the command that printed this command had to pay: its words, and the text of its files. */
  readonly asked: string;
  /** Restores the service of that moment, if the service has snapshots. */
  readonly restore: () => Promise<void>;
}

export type Follow = (args: readonly string[], around: Here) => Promise<Run>;

/** The printed commands of each world, which is a service or, if the sandbox is embedded, a home. */
const worlds = new Map<string, Followed[]>();
/** The kinds of printed commands that have been run; one of each kind suffices. */
const followed = new Set<string>();

export async function remember(
  args: readonly string[],
  around: Here,
  printed: readonly Printed[],
): Promise<void> {
  const files = args.filter((word) => /\.\w+$/.test(word) && existsSync(word));
  const asked = [...args, ...files.map((file) => readFileSync(file, 'utf8'))].join(' ');
  for (const command of printed) {
    const { movesMoney, reason, name, words } = command;
    const kind = generalised([args[0], reason, name, ...optionsIn(words)].join(' '));
    if (!movesMoney || /for example/i.test(reason) || followed.has(kind)) continue;
    followed.add(kind);
    const world = around.sandbox?.url ?? around.home;
    const before = await copyOf(around, `printed-${followed.size}`);
    worlds.set(world, [...(worlds.get(world) ?? []), { ...command, ...before, asked }]);
  }
}

/** Copies a home and, if it has snapshots, the state of the service. */
async function copyOf(around: Here, name: string): Promise<Pick<Followed, 'around' | 'restore'>> {
  const { sandbox } = around;
  const hasSnapshots = sandbox !== undefined && isSandbox(sandbox);
  // Without a copy of the service, its later state needs the later journal.
  if (sandbox !== undefined && !hasSnapshots) return { around, restore: async () => undefined };
  const home = mkdtempSync(join(tmpdir(), 'svcpay-printed-'));
  if (existsSync(around.home)) cpSync(around.home, home, { recursive: true });
  if (hasSnapshots) await sandbox.snapshots.save(name);
  const restore = async (): Promise<void> => {
    if (hasSnapshots) await sandbox.snapshots.load(name);
  };
  return { around: { ...around, home }, restore };
}

const isSandbox = (service: object): service is Pick<Sandbox, 'snapshots'> =>
  'snapshots' in service;

const optionsIn = (words: readonly string[]): string[] =>
  words.filter((word) => /^--?[a-z]/.test(word)).toSorted();

/** Removes values, so that equal sentences about different payments match. */
const generalised = (text: string): string =>
  text.replaceAll(/\S*\d\S*|'[^']*'|\S*[/@]\S*/g, '#').replaceAll(/\s+/g, ' ');

const txnShape = v.object({
  txnId: v.string(),
  txnState: v.string(),
  extRefId: v.optional(v.string()),
  destReq: v.object({
    ccy: v.string(),
    amtRequested: v.optional(v.unknown()),
    reqDetails: v.optional(v.record(v.string(), v.unknown())),
  }),
});
type Txn = v.InferOutput<typeof txnShape>;

/** After `error`, a person may record that no money moved, and repeat the payment. */
const moving = ['srccreated', 'srcsent', 'destcreated', 'destsent', 'completed'];
const hasMoved = (txn: Txn | undefined): boolean => moving.includes(txn?.txnState ?? '');

const details = ['paymentRequest', 'address', 'lnurlAddress', 'acctNum', 'bankAcctNum'];
const payeeOf = ({ destReq: { ccy, reqDetails = {} } }: Txn): string => {
  const found = details.map((name) => reqDetails[name]).find((value) => value !== undefined);
  return typeof found === 'string' ? found : ccy;
};
const amountOf = ({ destReq: { amtRequested, ccy } }: Txn): string =>
  `${String(amtRequested)} ${ccy}`;
const refOf = ({ txnId, extRefId }: Txn): string => extRefId?.replace(/~\d+$/, '') ?? txnId;

/** Runs the printed commands of a world, and throws an error if one of them pays too much. */
export async function followPrinted(world: string, follow: Follow): Promise<void> {
  const commands = worlds.get(world) ?? [];
  worlds.delete(world);
  for (const command of commands) {
    await command.restore();
    await followOne(command, follow);
    if (command.around.home.includes('svcpay-printed-'))
      rmSync(command.around.home, { recursive: true, force: true });
  }
}

async function followOne(command: Followed, follow: Follow): Promise<void> {
  const { words, asked, reason, text } = command;
  const here = (args: readonly string[]): Promise<Run> =>
    follow(args, { ...command.around, ...hurried(), input: '' });
  const globals = words.includes('--sandbox') ? ['--sandbox'] : [];
  const tx = (...args: readonly string[]): Promise<Run> =>
    here([...globals, 'tx', ...args, '--json']);
  const list = async (): Promise<readonly Txn[] | undefined> => {
    const all = ['--quotes', '--limit', '99', '--time', '1y'];
    const run = await tx('list', '--src-method', 'wallet', ...all);
    return run.exitCode === 0 ? v.parse(v.array(txnShape), run.json()) : undefined;
  };
  // Rows of a list lack the destination. If the service refuses the read, the row must do.
  const whole = async (row: Txn): Promise<Txn> => {
    const run = await tx('get', row.txnId);
    return run.exitCode === 0 ? v.parse(txnShape, run.json()) : row;
  };
  const before = await list();
  // The test stopped the service, or made it refuse every request.
  if (before === undefined) return;
  const run = await here([...words, ...(words.includes('--yes') ? [] : ['--yes'])]);
  const told = `${reason}${text}\n${run.stdout}${run.stderr}`;
  if (run.exitCode === 1) throw new Error(`This command ended unexpectedly: ${told}`);
  const states = new Map(before.map((txn) => [txn.txnId, txn]));
  const isNew = ({ txnId }: Txn): boolean => !hasMoved(states.get(txnId));
  const moved = before.filter(hasMoved);
  const isAgain = /again/.test(reason) || words.includes('--again');
  for (const paid of ((await list()) ?? []).filter((txn) => hasMoved(txn) && isNew(txn))) {
    // Another attempt of a payment that was asked for before, such as a row of another run.
    const isContinued = before.some((txn) => refOf(txn) === refOf(paid));
    const named = await whole(paid);
    const what = `${amountOf(paid)} to ${payeeOf(named)}`;
    const known: Txn[] = [];
    const twice: Txn[] = [];
    for (const txn of [...before, ...moved].filter((other) => amountOf(other) === amountOf(paid))) {
      const read = await whole(txn);
      if (payeeOf(read) !== payeeOf(named)) continue;
      known.push(txn);
      // A service that lies may list a payment as paid whose reads say that it has expired.
      const isSettled = moved.includes(txn) && hasMoved(read);
      if (isSettled && (!isContinued || refOf(txn) === refOf(paid))) twice.push(txn);
    }
    if (twice.length > 0 && !isAgain) throw new Error(`This command pays ${what} twice: ${told}`);
    if (known.length === 0 && !asked.includes(payeeOf(named)))
      throw new Error(`This command pays ${what}, which nobody asked for: ${told}`);
    moved.push(paid);
  }
}

/** A clock on which pauses take no time, and which interrupts a command that waits for ten minutes. */
function hurried(): Partial<Here> {
  const patience = new AbortController();
  let slept = 0;
  return {
    now: () => Date.now() + slept,
    elapsed: () => performance.now() + slept,
    async sleep(ms) {
      slept += ms;
      if (slept > 600_000) patience.abort();
      await new Promise(setImmediate);
    },
    signal: AbortSignal.any([patience.signal, AbortSignal.timeout(5_000)]),
  };
}
