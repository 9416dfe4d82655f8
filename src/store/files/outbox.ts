// The outbox: a folder in which proposals wait for the owner of the wallet. Whoever proposes may be
// another user, so every file is read with care.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { invalid } from '../../formats/failure.js';
import { openFolder } from './home.js';

const ending = '.proposal.json';
const resultEnding = '.result.json';

export interface OutboxFile {
  /** The name of the file without its ending. */
  readonly id: string;
  readonly path: string;
  /** The user id of the owner of the file, who wrote the proposal. */
  readonly uid: number;
  /** When the file was written, in epoch ms. */
  readonly writtenAt: number;
  /** The content, or undefined for a file that is not a plain file of at most `atMost` bytes. */
  readonly text: string | undefined;
}

/**
 * Throws Failure `usage` if other users may replace files in the folder, because they could change
 * a proposal after the owner has seen it.
 */
export function checkOutbox(folder: string): void {
  openFolder(folder);
  const { mode } = statSync(folder);
  const isShared = (mode & 0o022) !== 0;
  const isSticky = (mode & 0o1000) !== 0;
  if (!isShared || isSticky) return;
  throw invalid(`Not proposed: other users may replace files in ${folder}.`, {
    hint: `install -d -m 1770 ${folder}`,
  });
}

/** Writes a proposal completely or not at all, unless its file exists. Returns the path. */
export function writeProposal(folder: string, id: string, text: string): string {
  const path = join(folder, `${id}${ending}`);
  if (lstatSync(path, { throwIfNoEntry: false })) return path;
  writeFileSync(`${path}.new`, text, { flush: true, mode: 0o644 });
  renameSync(`${path}.new`, path);
  return path;
}

/** Writes what became of a proposal. Returns false if the folder does not accept the file. */
export function writeResult(folder: string, id: string, text: string): boolean {
  try {
    const path = join(folder, `${id}${resultEnding}`);
    writeFileSync(path, text, { flag: 'wx', flush: true, mode: 0o644 });
    return true;
  } catch {
    return false;
  }
}

export const readResult = (folder: string, id: string): string | undefined =>
  readPlain(join(folder, `${id}${resultEnding}`), 4_096)?.text;

/** Lists the proposals of the folder, oldest first. */
export function readOutbox(folder: string, atMost: number): readonly OutboxFile[] {
  const names = lstatSync(folder, { throwIfNoEntry: false }) ? readdirSync(folder) : [];
  return names
    .filter((name) => name.endsWith(ending))
    .map((name) => readFile(folder, name, atMost))
    .toSorted((a, b) => a.writtenAt - b.writtenAt);
}

function readFile(folder: string, name: string, atMost: number): OutboxFile {
  const path = join(folder, name);
  const found = readPlain(path, atMost);
  const { uid, mtimeMs } = found ?? lstatSync(path, { throwIfNoEntry: false }) ?? nowhere;
  return {
    id: name.slice(0, -ending.length),
    path,
    uid,
    writtenAt: Math.floor(mtimeMs),
    text: found?.text,
  };
}

const nowhere = { uid: -1, mtimeMs: 0 };

interface PlainFile {
  readonly text: string;
  readonly uid: number;
  readonly mtimeMs: number;
}

/**
 * Reads a file once, through one descriptor. Returns undefined for a link, a pipe, a file that is
 * too large, and a file that cannot be read.
 */
function readPlain(path: string, atMost: number): PlainFile | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > atMost) return undefined;
    const bytes = Buffer.alloc(atMost + 1);
    const size = readSync(file, bytes, 0, bytes.length, 0);
    if (size > atMost) return undefined;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, size));
    return { text, uid: stats.uid, mtimeMs: stats.mtimeMs };
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
