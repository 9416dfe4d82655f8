// Loads the parts of the program, with what V8 compiled of them kept beside them: compiling takes longer than running.
'use strict';
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');
const { Script } = require('node:vm');

/**
 * Runs `entry`: each part is one function that takes what a module of CommonJS does. The name of each part it loads carries a hash of its text, so that what is kept
 * never belongs to another text. V8 rejects what it compiled as another version or with other flags: each of these has a folder of its own.
 */
exports.load = (entry) => {
  const folder = join(dirname(entry), 'compiled', `${process.version}-${process.arch}${flags()}`);
  const parts = new Map();

  const open = (path) => {
    const known = parts.get(path);
    if (known !== undefined) return known.module.exports;
    const file = path === entry ? undefined : `${folder}/${basename(path)}`;
    const whole = file === undefined ? undefined : readKept(file);
    const cachedData = whole ?? (file === undefined ? undefined : readKept(file + refused));
    const script = new Script(readFileSync(path, 'latin1'), { filename: path, cachedData });
    const isNew = file !== undefined && script.cachedDataRejected !== false;
    const part = {
      script,
      file,
      isNew,
      isWhole: !isNew && whole !== undefined,
      module: { exports: {} },
    };
    parts.set(path, part);
    // Names begin with `./`. To join them takes longer than to open the part, with a hundred of them to start a payment.
    const beside = `${dirname(path)}/`;
    const requireFrom = (name) =>
      name.startsWith('.') ? open(beside + name.slice(2)) : require(name);
    script.runInThisContext()(part.module.exports, requireFrom, part.module);
    return part.module.exports;
  };

  // A run that is the first to use a part, or finds it damaged, keeps what it compiled of all the others too. A run that was
  // refused has compiled little of what it loaded: its code serves until a run ends well.
  process.once('exit', (exitCode) => {
    const all = [...parts.values()].filter(({ file }) => file !== undefined);
    if (exitCode === 0 && all.some(({ isWhole }) => !isWhole)) keep(folder, all, '');
    else if (all.some(({ isNew }) => isNew))
      keep(
        folder,
        all.filter(({ isWhole }) => !isWhole),
        refused,
      );
  });
  open(entry);
};

const refused = '.refused';

/** As a part of a name. What is loaded before the program (`--require FILE`) changes nothing about its code. */
function flags() {
  const words = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(' ')];
  return words
    .filter((word) => word.startsWith('--') && !/^--(?:require|import)|\//.test(word))
    .join('')
    .replace(/[^\w.=-]/g, '')
    .slice(0, 100);
}

function readKept(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Others may read and replace the same files at this moment: each is there whole or not at all. */
function keep(folder, parts, suffix) {
  try {
    mkdirSync(folder, { recursive: true });
    for (const { script, file } of parts) {
      const fresh = `${file}.${process.pid}`;
      writeFileSync(fresh, script.createCachedData());
      renameSync(fresh, file + suffix);
    }
  } catch {
    // The program lies where nobody can write: it starts a little later, each time.
  }
}
