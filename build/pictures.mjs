// Makes docs/pictures/*.svg as a part of npm run generate. Runs the built program in a
// pseudo-terminal against the embedded sandbox, reads the screen from a terminal emulator, and
// draws the screen cell by cell. With --check, the script writes nothing and fails if a picture is
// stale.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { animated, drawn, promptOf } from './terminal-svg.mjs';

const program = fileURLToPath(new URL('../bin/svcpay.js', import.meta.url));
const payroll = fileURLToPath(new URL('../examples/payroll/payroll.csv', import.meta.url));
const folder = fileURLToPath(new URL('../docs/pictures/', import.meta.url));
const columns = 80;
const screenTimeoutMs = 60_000;
const enter = '\r';

const home = mkdtempSync(join(tmpdir(), 'svcpay-pictures-'));
const env = {
  PATH: process.env.PATH,
  HOME: home,
  SVCPAY_HOME: home,
  LANG: 'C.UTF-8',
  TZ: 'UTC',
  COLORTERM: 'truecolor',
};

/** Runs a command without a screen, and returns its output. */
const svcpay = (...args) =>
  execFileSync(process.execPath, [program, ...args], {
    env,
    cwd: home,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

/**
 * Runs a command on a screen and answers its questions: waits for the text of each question, then
 * types the keys of the answer. Returns the screen as soon as each text of `shots` appears, and the
 * last screen. Stops recording when the text `until` appears or the command ends, and then types
 * `leave`.
 */
async function record(args, { rows = 24, shots = [], dialogue = [], until, leave }) {
  const screen = new xterm.Terminal({
    cols: columns,
    rows,
    scrollback: 1_000,
    allowProposedApi: true,
  });
  const child = spawn(process.execPath, [program, ...args], {
    name: 'xterm-256color',
    cols: columns,
    rows,
    env,
    cwd: home,
  });
  const watchers = new Set();
  let ended = false;
  const look = () => watchers.forEach((watch) => watch());
  child.onData((data) => screen.write(data, look));
  child.onExit(() =>
    screen.write('', () => {
      ended = true;
      look();
    }),
  );
  const text = () => {
    const { active } = screen.buffer;
    return Array.from({ length: active.length }, (_, row) =>
      active.getLine(row).translateToString(true),
    ).join('\n');
  };
  const shows = (wanted) =>
    new Promise((resolve, reject) => {
      const watch = () => {
        const isThere = wanted === undefined ? ended : text().includes(wanted);
        if (isThere) finish(resolve);
        else if (ended) finish(() => reject(new Error(`"${wanted}" never came:\n${text()}`)));
      };
      const timer = setTimeout(
        () => finish(() => reject(new Error(`"${wanted}" never came:\n${text()}`))),
        screenTimeoutMs,
      );
      const finish = (end) => {
        clearTimeout(timer);
        watchers.delete(watch);
        end();
      };
      watchers.add(watch);
      watch();
    });
  const scenes = [];
  try {
    for (const text of shots) {
      await shows(text);
      scenes.push(cellsOf(screen));
    }
    for (const [question, keys] of dialogue) {
      await shows(question);
      child.write(keys);
    }
    await shows(until);
    scenes.push(cellsOf(screen));
    if (leave !== undefined) {
      child.write(leave);
      await shows(undefined);
    }
    return scenes;
  } finally {
    if (!ended) child.kill('SIGKILL');
  }
}

/** Returns the cells of the command's whole output, including lines above the window. */
function cellsOf({ buffer: { active } }) {
  const lines = Array.from({ length: active.length }, (_, row) => {
    const line = active.getLine(row);
    return Array.from({ length: columns }, (_cell, column) => cellOf(line.getCell(column)));
  });
  const last = lines.findLastIndex((cells) =>
    cells.some(({ char, back }) => char !== ' ' || back !== undefined),
  );
  return lines.slice(0, last + 1);
}

function cellOf(cell) {
  const colour = (isDefault, isRgb, value) =>
    isDefault ? undefined : isRgb ? `#${value.toString(16).padStart(6, '0')}` : value;
  const fore = colour(cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor());
  const back = colour(cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor());
  const [front, behind] = cell.isInverse() ? [back ?? 'back', fore ?? 'fore'] : [fore, back];
  return {
    char: cell.getChars() || ' ',
    fore: front,
    back: behind,
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
  };
}

/** Shortens a long word, such as an invoice, in the command on the first line of the picture. */
const cut = (word) => (word.length > 40 ? `${word.slice(0, 36)}…` : word);

async function picture(name, args, how) {
  const [lines] = await record(args, how);
  const rows = [promptOf(commandOf(args), columns), ...lines];
  keep(name, drawn(rows, { columns, title: how.title }));
}

const commandOf = (args) => ['svcpay', ...args.map(cut)].join(' ');

/** Draws one picture of several commands, in which each recorded screen becomes a scene. */
async function film(name, commands, title) {
  const scenes = [];
  for (const [args, how] of commands) {
    const prompt = promptOf(commandOf(args), columns);
    for (const lines of await record(args, how)) scenes.push([prompt, ...lines]);
  }
  keep(name, animated(scenes, { columns, title }));
}

/** Keeps a committed picture if the new picture differs only in ids and times. */
function keep(name, drawing) {
  const file = join(folder, `${name}.svg`);
  const [words, committed] = [drawing, existsSync(file) ? readFileSync(file, 'utf8') : ''].map(
    wordsOf,
  );
  const fresh = words.filter((line) => !committed.includes(line));
  if (fresh.length === 0 && words.length === committed.length) return;
  if (process.argv.includes('--check')) {
    console.error(`docs/pictures/${name}.svg is stale: npm run generate`);
    console.error(fresh.join('\n'));
    process.exitCode = 1;
  } else {
    writeFileSync(file, drawing);
    console.log(`docs/pictures/${name}.svg`);
  }
}

/**
 * Returns the words of a picture without ids, invoices, times and the frames of a spinner, each
 * word with its vertical position.
 */
const wordsOf = (drawing) =>
  [...drawing.matchAll(/<text x="\d+" y="(\d+)"[^>]*>([^<]*)/g)].map(
    ([, y, words]) => `${y} ${words.replace(changing, '#')}`,
  );

const changes = [
  /\b[0-9a-f]{8}(?:[-…][0-9a-f]+)*\b/,
  /\bln[a-z0-9]{20,}…?|^[a-z0-9]{27,}$/,
  /\d+(?::\d\d)+|[\d.]+ (?:s|min|seconds|minutes)\b/,
  /\bne01-\w+|[\u2800-\u28ff]/,
];
const changing = new RegExp(changes.map(({ source }) => source).join('|'), 'g');

const party = (whose, name) => [`? ${whose} full legal name`, name + enter];

const payoutWizard = {
  title: 'The payout wizard at its last step, with one line for each earlier step',
  rows: 40,
  dialogue: [
    ['? Country to pay out to', 'vietn'],
    ['❯ Vietnam (VND)', enter],
    ['? Amount the recipient gets', `500000${enter}`],
    ['? Bank', 'vietcom'],
    ['❯ Vietcombank (970436)', enter],
    ['? Account number', `0123456789${enter}`],
    ['? Name on the account', `LE VAN A${enter}`],
    ['? The recipient:', enter],
    party("Recipient's", 'Le Van A'),
    ["? Recipient's country", enter],
    ["? Recipient's phone", enter],
    ["? Recipient's street address", enter],
    ['? Save recipient as', enter],
    ['? You, the sender:', enter],
    party('Your', 'Jane Roe'),
    ['? Your country', 'germ'],
    ['❯ Germany (DE)', enter],
    ['? Your phone', enter],
    ['? Your street address', enter],
    ['? Save your own details', `\u001B[B${enter}`],
    ['? Purpose of the payment', `1${enter}`],
    ['? Source of the funds', `2${enter}`],
    ['? Relationship to the recipient', '3'],
  ],
  until: 'Relationship to the recipient',
  leave: '\u0003',
};

const payoutAnswers = Object.entries({
  country: 'VN',
  institution: '970436',
  'acct-num': '0123456789',
  'acct-name': 'LE VAN A',
  'recipient-type': 'individual',
  'recipient-name': 'Le Van A',
  'recipient-country': 'VN',
  'sender-type': 'individual',
  'sender-name': 'Jane Roe',
  'sender-country': 'DE',
  purpose: '1',
  source: '2',
  relationship: '3',
  amount: '500000vnd',
}).flatMap(([name, answer]) => [`--${name}`, answer]);

async function all() {
  svcpay('login', '--sandbox');
  svcpay('sandbox', 'fund', '5000usdt');
  await filmTrip();
  await picture('payout', ['payout', '--no-wait'], payoutWizard);
  copyFileSync(payroll, join(home, 'payroll.csv'));
  // Freezes the clock, so that later payments stay in flight until the last picture.
  svcpay('sandbox', 'clock', 'freeze');
  svcpay('payout', ...payoutAnswers, '--yes', '--no-wait');
  await picture('batch', ['batch', 'payroll.csv', '--no-wait'], {
    title: 'A batch: the cost of all rows before the question, and the result of each row',
    rows: 30,
    dialogue: [['(y/N)', `y${enter}`]],
  });
  await picture('home', [], {
    title: 'Home: balances and their worth, open payments, the latest transactions, and a menu',
    until: 'esc leave',
    leave: '\u001B',
  });
}

async function filmTrip() {
  const order = ['2500sat', '--description', 'Coffee House, order 118', '-q'];
  const invoice = svcpay('sandbox', 'invoice', ...order);
  await film(
    'trip',
    [
      [['receive', 'lightning', '50000sat'], { rows: 50, shots: ['Waiting for the payment'] }],
      [['send', 'lightning', invoice], { shots: ['(y/N)'], dialogue: [['(y/N)', `y${enter}`]] }],
    ],
    'Receive 50,000 sat over Lightning with a QR code, then pay an invoice after seeing its full cost',
  );
}

mkdirSync(folder, { recursive: true });
try {
  await all();
} finally {
  rmSync(home, { recursive: true, force: true });
}
