// Repeats each test once per mutant that the test reaches, until a test fails with the mutant.
import { openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { TestRunner } from 'vitest';
import { dead, unreached } from './mutants.mjs';

const plan = JSON.parse(readFileSync(process.env.SVCPAY_MUTANTS, 'utf8'));
const { slowestMs, budgetMs, count } = plan;
const none = -1;
/** The steps that a mutant may take, because it may loop for ever; each read switch is a step. */
let mostSteps = Infinity;

let active = none;
let steps = 0;
let reached = new Set();
globalThis.mutant = (id) => {
  if (active === none) reached.add(id);
  if ((steps += 1) > mostSteps) throw new Error('The mutant does not end.');
  return id === active;
};

/** The state of each mutant, which all workers share. */
const state = openSync(plan.state, 'r+');
const spentOn = (id) => {
  const bytes = Buffer.alloc(4);
  readSync(state, bytes, 0, 4, id * 4);
  return bytes.readUInt32LE();
};
function record(id, value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  writeSync(state, bytes, 0, 4, id * 4);
}
/** The number of tests of the current file that each mutant has survived. */
let survived = new Map();
const mostOfFile = 40;
const isOpen = (id) => (survived.get(id) ?? 0) < mostOfFile && spentOn(id) < budgetMs;

export default class MutationRunner extends TestRunner {
  #queue = [];
  #began = 0;
  #usualMs = 0;
  /** The mutant that the test has just killed, until the test passes again without a mutant. */
  #killed = none;

  onCollectStart(file) {
    super.onCollectStart(file);
    survived = new Map();
  }

  async onBeforeRunTask(test) {
    await super.onBeforeRunTask(test);
    test.repeats = 2 * count + 1;
    this.#queue = undefined;
    this.#killed = none;
  }

  onBeforeTryTask(test) {
    super.onBeforeTryTask(test);
    steps = 0;
    if (this.#queue === undefined) reached = new Set();
    if (this.#queue === undefined) mostSteps = Infinity;
    active = this.#queue === undefined || this.#killed !== none ? none : this.#queue[0];
    this.#began = performance.now();
  }

  async runTask(test) {
    const run = TestRunner.getTestFn(test)();
    if (active === none) return await run;
    let timer;
    const ms = 1_000 + 3 * this.#usualMs;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error('The mutant takes too long.')), ms);
    });
    try {
      await Promise.race([run, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  onAfterRetryTask(test) {
    const isFailed = test.result.state === 'fail';
    const ms = Math.max(1, Math.round(performance.now() - this.#began));
    test.result.state = 'run';
    test.result.errors = undefined;
    if (this.#queue === undefined) {
      this.#usualMs = ms;
      mostSteps = 10_000 + 20 * steps;
      for (const id of reached) if (spentOn(id) === unreached) record(id, 1);
      this.#queue = isFailed || ms > slowestMs ? [] : [...reached].filter(isOpen);
    } else if (this.#killed !== none) {
      // A test that fails without a mutant too cannot be repeated, so its failures prove nothing.
      if (isFailed) this.#queue = [];
      else record(this.#killed, dead);
      this.#killed = none;
    } else {
      const id = this.#queue.shift();
      if (isFailed) this.#killed = id;
      else {
        record(id, spentOn(id) + ms);
        survived.set(id, (survived.get(id) ?? 0) + 1);
      }
    }
    while (this.#queue.length > 0 && !isOpen(this.#queue[0])) this.#queue.shift();
    active = none;
    if (this.#queue.length === 0 && this.#killed === none) test.result.pending = true;
  }
}
