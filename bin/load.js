// Loads the parts of the program, and stores V8's compiled code in a folder next to the parts.
// Without V8's code cache, a command takes 30 ms longer. In Node 22, `module.enableCompileCache`
// replaces this file, so the file can be deleted when svcpay drops Node 20.
'use strict';
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');
const { Script } = require('node:vm');

/**
 * Runs `entry`. Each part of the program is one function with the parameters of a CommonJS module.
 * The name of each part contains a hash of its text, so that cached code always belongs to its
 * part. V8 rejects code that was compiled by another version of Node or with other flags, so each
 * version with its flags has a separate folder.
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
    // This function does not call `join`, because a payment loads a hundred parts, and joining
    // their paths would take longer than loading them.
    const siblings = `${dirname(path)}/`;
    const requireFrom = (name) =>
      name.startsWith('.') ? open(siblings + name.slice(2)) : require(name);
    script.runInThisContext()(part.module.exports, requireFrom, part.module);
    return part.module.exports;
  };

  // If a successful run loads a part of the program that has no code cache, the run writes the code
  // cache of all loaded parts. A failed run writes no code cache, because it has compiled too
  // little of each part.
  process.once('exit', (exitCode) => {
    const cacheable = [...parts.values()].filter(({ cache }) => cache !== undefined);
    const isCached = ({ script }) => script.cachedDataRejected === false;
    if (exitCode === 0 && !cacheable.every(isCached)) writeCaches(folder, cacheable);
  });
  open(entry);
};

/**
 * Returns Node's flags as a part of the cache folder's name. Omits flags such as --require, which
 * make Node load other files first, because those files do not change the program's code.
 */
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

/**
 * Writes each cache file completely and then renames the file, because other processes may read and
 * replace the cache files at the same time.
 */
function writeCaches(folder, parts) {
  try {
    mkdirSync(folder, { recursive: true });
    for (const { script, cache } of parts) {
      const fresh = `${cache}.${process.pid}`;
      writeFileSync(fresh, script.createCachedData());
      renameSync(fresh, cache);
    }
  } catch {
    // In a read-only folder, svcpay works without the cache, and each start takes longer.
  }
}
