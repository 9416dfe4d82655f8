// People who type whole command lines: they give instructions, repeat them, run the commands that
// svcpay prints, and resume or resolve what is open. The audit counts payments per instruction.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bitcoinAddress, tronAddress } from '../support/destinations.js';
import { baseRef, byItself, hasMoved, type Model } from './service-model.js';
import type { ModelTransaction } from './service-quotes.js';
import { openFolders, printedCommands, type Home, type Shell, type Typed } from './shell.js';
import { fair, type Sky } from './sky.js';
import { invoice, type Some } from './wishes.js';
import type { Chance, World } from './world.js';

/** What a person asks for, once, however often the person types it. */
interface Asked {
  readonly name: string;
  /** The ways to write the destination, the first as it reaches the service. */
  readonly to: Some<string>;
  readonly amount: string | undefined;
  readonly more: readonly string[];
  readonly ref: string | undefined;
}

/** A command with the instructions that it gives, or undefined if it can concern each. */
interface Given extends Typed {
  readonly gives: readonly Asked[] | undefined;
  readonly isCalm: boolean;
}

interface Street {
  readonly world: World;
  readonly model: Model;
  readonly sky: Sky;
  readonly shell: Shell;
  readonly homes: readonly Home[];
  readonly asked: Some<Asked>;
  /** The option that names the batch, in half of the schedules. */
  readonly batchName: readonly string[];
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
    given: [],
    retried: new Set(),
  };
  const prepared = world
    .pause(0)
    .then(() => Promise.all(homes.map((home) => prepare(home, street))));
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
  return audit(street);
}

const pickOf = <T>(list: readonly T[], chance: Chance): T => list[chance.below(list.length)]!;

/** Draws up to three instructions; two of them may have one reference. */
function drawAsked(chance: Chance): Some<Asked> {
  const draw = (number: number): Asked => {
    const sats = `${1_000 + number}sat`;
    const user = `user${number}@pay.example`;
    const [to, amount, ...more] = chance.pick<[Some<string>, string | undefined, ...string[]]>([
      [[invoice(number).invoice], undefined],
      [[user, `person${number}`], sats],
      [[user, `person${number}`], `${number + 5}usd`, '--from', 'btc'],
      [[bitcoinAddress(number)], sats],
      [[bitcoinAddress(number)], 'all'],
      [[tronAddress(number)], `${number + 2}usdt`],
      [[tronAddress(number)], `${number + 2}usdt`, '--from', 'btc'],
    ]);
    const isOnce = amount === undefined;
    const ref = isOnce && chance.hits(0.3) ? undefined : `ref-${chance.hits(0.2) ? 0 : number}`;
    return { name: `asked-${number}`, to, amount, more, ref };
  };
  const asked: Some<Asked> = [draw(0)];
  while (asked.length < 3 && chance.hits(0.6)) asked.push(draw(asked.length));
  return asked;
}

const fileOf = ({ folder }: Home): string => join(folder, 'pay.csv');

/** Writes the batch file of a home, and its address book. */
async function prepare(home: Home, street: Street): Promise<void> {
  const { asked } = street;
  mkdirSync(home.folder, { recursive: true });
  const rows = rowsOf(asked).map(({ ref, to: [to], amount, more }) =>
    [ref ?? '', to, amount ?? '', more[1] ?? ''].join(','),
  );
  writeFileSync(fileOf(home), ['ref,to,amount,from', ...rows, ''].join('\n'));
  for (const { to } of asked)
    if (to[1] !== undefined) await run(['recipients', 'add', to[1], to[0]], [], home, street);
}

/** The instructions that a batch file can hold: no whole balance, no fiat, one per reference. */
const rowsOf = (asked: readonly Asked[]): readonly Asked[] =>
  asked.filter(
    ({ amount, ref }, index) =>
      amount !== 'all' &&
      !amount?.endsWith('usd') &&
      (ref === undefined || asked.findIndex((each) => each.ref === ref) === index),
  );

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

function giveWords({ to, amount, more, ref }: Asked, chance: Chance): string[] {
  const destination = chance.hits(0.2) ? (to[1] ?? to[0]) : to[0];
  const words = amount === undefined ? [destination] : [destination, amount];
  return ['send', ...words, ...more, ...(ref === undefined ? [] : ['--ref', ref]), '--yes'];
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

async function give(one: Asked, home: Home, street: Street): Promise<Given> {
  const { chance } = street.world;
  const how = street.sky.isCalm ? [] : manner(chance);
  return run([...giveWords(one, chance), ...how], [one], home, street);
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
  const usesBatch = rowsOf(asked).length > 0 && chance.hits(0.4);
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
    for (const one of asked)
      if (one.ref !== undefined || one.amount === undefined)
        await run([...giveWords(one, world.chance), '--retry'], [one], home, street);
  await rest();
  for (const home of homes)
    for (const one of asked)
      if (one.ref !== undefined || one.amount === undefined) await give(one, home, street);
}

/** The exit codes that promise that this command moved no money. */
const nothingMoved: ReadonlySet<number> = new Set([2, 9, 75, 130]);
const ofOnePayment: ReadonlySet<number> = new Set([3, 4, 5, 6, 7]);
/** The exit codes that a run may not end with if an earlier run may have moved money. */
const onlyIfNew: ReadonlySet<number> = new Set([4, 75, 130]);
const misunderstood = /unknown (?:option|command)|too many|takes no|is not a command|missing/i;

function audit({ model, asked, given, retried }: Street): string[] {
  const moved = model.transactions.filter(hasMoved);
  const askedBy = (txn: ModelTransaction): Asked | undefined =>
    asked.find(({ to: [to] }) => Object.values(txn.asked.destReq.reqDetails ?? {}).includes(to));
  const homeOf = new Map(given.map(({ process, home }) => [process, home]));
  const { saysExpiredTooEarly, waitingOutlivesExpiry } = model.parameters;
  const mayRepeat = saysExpiredTooEarly || waitingOutlivesExpiry;
  const { refusing, making, failing, beginning, readLagMs, listLagMs } = model.parameters;
  const { quoteLifeMs, confirmationWaitsMs, lapsesByItself, showsRates } = model.parameters;
  const isKind =
    refusing + making + failing + beginning + readLagMs + listLagMs + confirmationWaitsMs === 0 &&
    quoteLifeMs >= 10_000 &&
    lapsesByItself &&
    showsRates &&
    !mayRepeat;
  /** Whether a repetition of the instruction after the faults must find or make the payment. */
  const mustEnd = (one: Asked): boolean =>
    isKind && asked.every((each) => each === one || each.ref !== one.ref);
  const twice = asked.flatMap((one) => {
    const payments = moved.filter((txn) => askedBy(txn) === one);
    return payments.length < 2 || (mayRepeat && retried.has(one))
      ? []
      : [`${one.name} was asked for once, and paid ${payments.length} times`];
  });
  const others = moved.flatMap((txn) => {
    const one = askedBy(txn);
    if (one === undefined) return [`nobody asked for ${txn.txnId}`];
    const isNamed = one.ref === undefined || baseRef(txn.extRefId) === one.ref;
    return isNamed ? [] : [`${txn.txnId} has the reference ${txn.extRefId}, not ${one.ref}`];
  });
  const shared = moved.flatMap((txn, index) =>
    moved
      .slice(0, index)
      .filter((other) => baseRef(other.extRefId) === baseRef(txn.extRefId))
      .filter((other) => askedBy(other) !== askedBy(txn))
      .map((other) => `${other.txnId} and ${txn.txnId} were paid under one reference`),
  );
  const untrue = given.flatMap((each) => untrueOf(each).map((why) => `${each.process} ${why}`));

  function untrueOf({
    exitCode,
    process,
    gives,
    words,
    printed,
    startedAt,
    home,
    isCalm,
  }: Given): string[] {
    if (exitCode === undefined) return [];
    const [only, ...more] = gives ?? [];
    const isOne = only !== undefined && more.length === 0 && words[0] === 'send';
    const own = moved.filter(({ movedBy }) => movedBy === process);
    const earlier = moved.filter(
      (txn) =>
        askedBy(txn) === only &&
        (txn.submittedAt ?? Infinity) < startedAt &&
        txn.movedBy !== byItself &&
        homeOf.get(txn.movedBy ?? '') === home,
    );
    const found: string[] = [];
    if (exitCode === 1) found.push(`ended unexpectedly: ${printed}`);
    if (exitCode === 2 && misunderstood.test(printed)) found.push(`was not understood: ${printed}`);
    if (own[0] && (nothingMoved.has(exitCode) || (isOne && ofOnePayment.has(exitCode))))
      found.push(`ended with ${exitCode}, but moved ${own[0].txnId}`);
    if (isOne && onlyIfNew.has(exitCode) && earlier[0])
      found.push(`ended with ${exitCode}, but ${earlier[0].txnId} had moved`);
    const isPaid = model.transactions.some(
      (txn) => askedBy(txn) === only && (txn.state === 'completed' || txn.confirmedBy.size > 0),
    );
    if (isOne && exitCode === 0 && !isPaid) found.push('ended with 0, but nothing was paid');
    if (isOne && exitCode !== 0 && isCalm && mustEnd(only))
      found.push(`ended with ${exitCode} after the faults had stopped: ${printed}`);
    return found;
  }
  return [...model.violations, ...twice, ...others, ...shared, ...untrue];
}
