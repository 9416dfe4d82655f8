// Tests how the owner reads a folder into which others write.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  checkOutbox,
  readOutbox,
  readResult,
  writeProposal,
  writeResult,
} from '../../../src/store/files/outbox.js';

const most = 65_536;

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svcpay-outbox-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const textIn = (folder: string): (string | undefined)[] =>
  readOutbox(folder, most).map(({ text }) => text);

test('readOutbox lists the proposals of a folder with their owner', () => {
  const folder = newFolder();
  writeProposal(folder, 'aa', 'text');
  writeFileSync(join(folder, 'other.json'), 'text');
  expect(readOutbox(folder, most)).toMatchObject([
    { id: 'aa', text: 'text', uid: process.getuid?.() },
  ]);
});

test('readOutbox reads nothing through a symbolic link', () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'target'), 'text');
  symlinkSync(join(folder, 'target'), join(folder, 'aa.proposal.json'));
  expect(textIn(folder)).toEqual([undefined]);
});

test('readOutbox does not wait for a pipe', () => {
  const folder = newFolder();
  execFileSync('mkfifo', [join(folder, 'aa.proposal.json')]);
  expect(textIn(folder)).toEqual([undefined]);
});

test.for([
  ['65 KiB', Buffer.alloc(most + 1, 'a')],
  ['invalid UTF-8', Buffer.from([0xff])],
] as const)('readOutbox reads no file of %s', ([, content]) => {
  const folder = newFolder();
  writeFileSync(join(folder, 'aa.proposal.json'), content);
  expect(textIn(folder)).toEqual([undefined]);
});

test('checkOutbox refuses a folder in which others may replace files, and names the command', () => {
  const folder = newFolder();
  chmodSync(folder, 0o770);
  expect(() => checkOutbox(folder)).toThrow(
    expect.objectContaining({ kind: 'usage', hint: `install -d -m 1770 ${folder}` }),
  );
  chmodSync(folder, 0o1770);
  expect(() => checkOutbox(folder)).not.toThrow();
});

test('writeResult never replaces a result', () => {
  const folder = newFolder();
  expect([writeResult(folder, 'aa', 'one'), writeResult(folder, 'aa', 'two')]).toEqual([
    true,
    false,
  ]);
  expect(readResult(folder, 'aa')).toBe('one');
});
