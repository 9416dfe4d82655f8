// This test reads every message of the program from its source, writes the messages to
// node_modules/.cache/messages.txt, and finds words of our old jargon.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/** Matches source files whose strings are pages, SQL or scripts instead of messages. */
const otherTexts =
  /sandbox\/(?:web|database)\.|schema\.ts|sql-|\/completion\.ts|postgres|sqlite|database\/move/;

/** Words of our old jargon that readers did not understand. */
const dialect = [
  /\blet(?:s|ting)? go\b/,
  /\bdoubt/,
  /\bintents?\b/,
  /\bgiven up\b/,
  /\bgave up\b/,
  /\btold\b/,
  /\bonce-key\b/,
  /\bpatience\b/,
  /\bmanner\b/,
  /\bsurroundings\b/,
  /\bplant(?:ed|s)?\b/,
  /\bdisturb/,
  /\bseldom\b/,
  /\bjourney/,
  /\bmend(?:s|ed)?\b/i,
  /\bsteps? aside\b/,
  /\bone by one\b/,
  /\blapsed?\b/,
  /\bwhoever\b/i,
  /\bsomebody\b/i,
  /\bnobody\b/i,
  /\bbegun\b/,
  /\bof now\b/,
  /\bbrings? about\b/,
  /\bof what\?/,
  /\banew\b/,
  /\bshall\b/,
  /\bdear\b/,
  /\bas it cannot be\b/,
  /(?<!the payment )\bgoes on\b(?! without you)/,
  /\bgone on\b/,
  /\bgo on with\b/,
  /\byours alone\b/,
  /\bas in \d/,
];

/** Returns the strings of a source file that contain at least two words. */
function messagesOf(file: string): string[] {
  const code = readFileSync(join(root, 'src', file), 'utf8').replaceAll(
    /^\s*(?:\/\/|\/?\*).*$/gm,
    '',
  );
  const texts = code.match(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? [];
  return texts
    .map((text) => text.slice(1, -1))
    .filter(
      (text) =>
        /[A-Za-z]{2,}[,:.]? [a-z]/.test(text) && !/^\s*(?:[A-Z]{4,} |use strict)/.test(text),
    );
}

const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !otherTexts.test(file),
);
const messages = files
  .toSorted()
  .flatMap((file) => messagesOf(file).map((text) => `${file}: ${text}`));

test('the message catalogue lists more than 1,500 messages of svcpay', () => {
  mkdirSync(join(root, 'node_modules/.cache'), { recursive: true });
  writeFileSync(join(root, 'node_modules/.cache/messages.txt'), `${messages.join('\n')}\n`);
  expect(messages.length).toBeGreaterThan(1_500);
  expect(messages).toContainEqual(expect.stringContaining('pay a BOLT11 invoice'));
});

test('the messages of svcpay contain no retired term', () => {
  expect(
    messages.filter((message) =>
      dialect.some((word) =>
        word.test(message.slice(message.indexOf(': ')).replaceAll(/\$\{[^}]*\}/g, '')),
      ),
    ),
  ).toEqual([]);
});
