// Loads the parts of the program, and caches next to them the code that V8 compiled: without this
// cache a command takes 30 ms longer. Node 22 has `module.enableCompileCache` for it, so this file
// goes when Node 20 goes.
'use strict';
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');
const { Script } = require('node:vm');

/**
 * Runs `entry`. Each part is one function with the parameters of a CommonJS module. The name of
 * each part that it loads contains a hash of its text, so cached code always belongs to its part.
 * V8 rejects code that was compiled by another version or under other flags: each has its own
 * folder.
 */
exports.load = (entry) => {
  const folder = join(dirname(entry), 'compiled', `${process.version}-${process.arch}${flags()}`);
  const parts = new Map();

  const open = (path) => {
    const known = parts.get(path);
    if (known !== undefined) return known.module.exports;
    const cache = path === entry ? undefined : `${folder}/${basename(path)}`;
    const cachedData = cache && readIfPossible(cache);
    const script = new Script(readFileSync(path, 'latin1'), { filename: path, cachedData });
    const part = { script, cache, module: { exports: {} } };
    parts.set(path, part);
    // Names begin with `./`. Joining paths would take longer than opening the parts, of which a
    // payment has a hundred.
    const siblings = `${dirname(path)}/`;
    const requireFrom = (name) =>
      name.startsWith('.') ? open(siblings + name.slice(2)) : require(name);
    script.runInThisContext()(part.module.exports, requireFrom, part.module);
    return part.module.exports;
  };

  // A run that loads an uncached part caches all of its parts. A run that fails has compiled only a
  // little of each.
  process.once('exit', (exitCode) => {
    const cacheable = [...parts.values()].filter(({ cache }) => cache !== undefined);
    const isCached = ({ script }) => script.cachedDataRejected === false;
    if (exitCode === 0 && !cacheable.every(isCached)) writeCaches(folder, cacheable);
  });
  open(entry);
};

/** For a folder name. Files that are loaded before the program do not change its code. */
function flags() {
  const words = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(' ')];
  return words
    .filter((word) => word.startsWith('--') && !/^--(?:require|import)|\//.test(word))
    .join('')
    .replace(/[^\w.=-]/g, '')
    .slice(0, 100);
}

function readIfPossible(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Others may read and replace the same files meanwhile, so each is written whole and renamed. */
function writeCaches(folder, parts) {
  try {
    mkdirSync(folder, { recursive: true });
    for (const { script, cache } of parts) {
      const fresh = `${cache}.${process.pid}`;
      writeFileSync(fresh, script.createCachedData());
      renameSync(fresh, cache);
    }
  } catch {
    // The program is in a read-only folder: it starts a little later each time.
  }
}
