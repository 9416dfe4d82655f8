// People who type whole command lines: they give instructions, repeat them, run the commands that
// svcpay prints, and resume or resolve what is open. The audit counts payments per instruction.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  batchText,
  drawAsked,
  giveWords,
  isRepeatable,
  proposing,
  rowsOf,
  type Asked,
} from './asked.js';
import { hasMoved, type Model } from './service-model.js';
import { openFolders, printedCommands, type Home, type Shell } from './shell.js';
import { fair, type Sky } from './sky.js';
import { auditTyped, type Given } from './typed-audit.js';
import type { Some } from './wishes.js';
import type { Chance, World } from './world.js';

interface Street {
  readonly world: World;
  readonly model: Model;
  readonly sky: Sky;
  readonly shell: Shell;
  readonly homes: readonly Home[];
  readonly asked: Some<Asked>;
  /** The option that names the batch, in half of the schedules. */
  readonly batchName: readonly string[];
  /** The ids of the proposals, which all homes read from one outbox. */
  readonly proposals: Map<Asked, string>;
  readonly given: Given[];
  /** The instructions that a person repeated with `--retry`. */
  readonly retried: Set<Asked>;
}

/** Runs the commands of a schedule to their end, and returns the violations. */
export async function typeCommands(
  parts: Pick<Street, 'world' | 'model' | 'sky'> & {
    readonly machines: number;
    readonly openShell: () => Shell;
  },
): Promise<string[]> {
  const { world, model, sky, machines } = parts;
  const { chance } = world;
  const { homes, remove } = openFolders(machines);
  const street: Street = {
    world,
    model,
    sky,
    shell: parts.openShell(),
    homes,
    asked: drawAsked(chance),
    batchName: chance.hits(0.5) ? ['--name', 'run-1'] : [],
    proposals: new Map(),
    given: [],
    retried: new Set(),
  };
  const prepared = world
    .pause(0)
    .then(() => Promise.all(homes.map((home) => prepare(home, street))))
    .then(() => propose(street));
  const people = 1 + chance.below(2);
  let running = people;
  const whenDone = async (): Promise<void> => {
    running -= 1;
    if (running === 0) await clearUp(street);
  };
  const failed = (error: unknown): void => void model.violations.push(String(error));
  for (let count = 0; count < people; count += 1)
    void prepared
      .then(() => person(pickOf(homes, chance), street))
      .then(whenDone)
      .catch(failed);
  await world.run().catch(failed);
  if (running > 0) model.violations.push('a command hangs');
  remove();
  return auditTyped({
    ...street,
    isShared: false,
    refOf: (one) => proposalReference(one, street) ?? one.ref,
  });
}

const pickOf = <T>(list: readonly T[], chance: Chance): T => list[chance.below(list.length)]!;

const fileOf = ({ folder }: Home): string => join(folder, 'pay.csv');

/** Writes the batch file of a home, and its address book. */
async function prepare(home: Home, street: Street): Promise<void> {
  const { asked } = street;
  mkdirSync(home.folder, { recursive: true });
  writeFileSync(fileOf(home), batchText(asked));
  for (const { to } of asked)
    if (to[1] !== undefined) await run(['contacts', 'add', to[1], to[0]], [], home, street);
}

const outboxOf = ({ homes: [home] }: Street): readonly string[] => [
  '--outbox',
  join(home?.folder ?? '', '..', 'outbox'),
];

/** Proposes the instructions that the owner pays as proposals. */
async function propose(street: Street): Promise<void> {
  const [home] = street.homes;
  for (const one of street.asked.filter(({ verb }) => verb === 'proposals')) {
    if (home === undefined) return;
    const typed = await run([...proposing(one), ...outboxOf(street), '-q'], [], home, street);
    const [, id] = /^([0-9a-f]{64})$/m.exec(typed.printed) ?? [];
    if (id !== undefined) street.proposals.set(one, id);
  }
}

function proposalReference(one: Asked, { proposals }: Street): string | undefined {
  const id = proposals.get(one);
  return id === undefined ? undefined : `proposal:${id}`;
}

async function run(
  words: readonly string[],
  gives: readonly Asked[] | undefined,
  home: Home,
  { sky, world, shell, given, retried, asked }: Street,
): Promise<Given> {
  const { chance } = world;
  const at = (probability: number): number | undefined =>
    !sky.isCalm && chance.hits(probability) ? 1 + chance.below(12) : undefined;
  const { isCalm } = sky;
  // Once the truth is recorded, `--retry` pays nothing twice.
  if (words.includes('--retry') && !isCalm) for (const each of gives ?? asked) retried.add(each);
  const faults = { crashAt: at(0.3), stallAt: at(0.05), interruptAt: at(0.1) };
  const typed = { ...(await shell(words, home, faults)), gives, isCalm };
  given.push(typed);
  return typed;
}

const manner = (chance: Chance): readonly string[] =>
  chance.pick<readonly string[]>([
    [],
    [],
    [],
    ['--no-wait'],
    ['--wait-timeout', '2s'],
    ['--retry'],
  ]);

async function give(
  one: Asked,
  home: Home,
  street: Street,
  how = street.sky.isCalm ? [] : manner(street.world.chance),
): Promise<Given> {
  const words = giveWords(one, street.world.chance, street.proposals.get(one));
  const isProposal = one.verb === 'proposals';
  const more = isProposal
    ? [...outboxOf(street), ...how.filter((word) => word !== '--retry')]
    : how;
  return run([...words, ...more], [one], home, street);
}

function batch(home: Home, street: Street, file = fileOf(home)): Promise<Given> {
  const { asked, batchName, world } = street;
  const retry = world.chance.hits(0.1) ? ['--retry'] : [];
  const words = ['batch', file, '--yes', ...batchName, ...retry];
  return run(words, rowsOf(asked), home, street);
}

async function person(home: Home, street: Street): Promise<void> {
  const { world, asked, homes } = street;
  const { chance } = world;
  const one = pickOf(asked, chance);
  const usesBatch = !isRepeatable(one) || (rowsOf(asked).length > 0 && chance.hits(0.4));
  let last: Given | undefined;
  for (let turn = 0; turn < 4; turn += 1) {
    await world.pause(chance.below(chance.pick([1, 1_000, 20_000])));
    const place = chance.hits(0.15) ? pickOf(homes, chance) : home;
    const printed = printedCommands(last?.printed ?? '').filter(
      ([, verb = '']) => !reading.has(verb),
    );
    if (last !== undefined && printed.length > 0 && chance.hits(0.4))
      last = await follow(pickOf(printed, chance), last.home, street);
    else if (last !== undefined && chance.hits(0.2))
      last = await run(['tx', 'resume', '--yes'], undefined, place, street);
    else if (last !== undefined && usesBatch && chance.hits(0.3))
      last = await batch(last.home, street, `${fileOf(last.home)}.result.csv`);
    else last = await (usesBatch ? batch(place, street) : give(one, place, street));
    if (last.exitCode === 0 && chance.hits(0.5)) return;
  }
}

const reading: ReadonlySet<string> = new Set(['get', 'pending', 'list']);

/** Runs a command that svcpay printed, with `--yes`, because nobody is at a terminal. */
const follow = (words: readonly string[], home: Home, street: Street): Promise<Given> =>
  run([...words, ...(words.includes('--yes') ? [] : ['--yes'])], undefined, home, street);

/** Stops the faults, resumes and resolves what is open, and gives each instruction again. */
async function clearUp(street: Street): Promise<void> {
  const { world, model, sky, homes, asked } = street;
  Object.assign(sky, fair);
  world.note(() => 'it clears up');
  const rest = (): Promise<void> => world.pause(130_000);
  await rest();
  for (const home of homes) await run(['tx', 'resume', '--yes'], undefined, home, street);
  await rest();
  // A person who asked the service records the truth, which no later command may pay again.
  for (const txn of model.transactions)
    for (const home of homes) {
      const answer = hasMoved(txn) ? '--moved' : '--not-moved';
      await run(['tx', 'resolve', txn.txnId, answer, '--note', 'asked', '--yes'], [], home, street);
    }
  for (const home of homes)
    for (const one of asked) if (isRepeatable(one)) await give(one, home, street, ['--retry']);
  await rest();
  for (const home of homes) {
    for (const one of asked) if (isRepeatable(one)) await give(one, home, street);
    if (!asked.every(isRepeatable)) await batch(home, street);
  }
}
