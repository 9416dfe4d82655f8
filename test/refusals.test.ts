// Each sentence with which svcpay refuses or reports something stands, at least in part, in a
// test, so that a refusal cannot be lost or changed unnoticed.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseSync, Visitor, type Expression, type Node } from 'oxc-parser';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const filesIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));

/** The fixed parts of a text, between the values that it contains. */
function partsOf(node: Node): readonly string[] {
  if (node.type === 'Literal') return [typeof node.value === 'string' ? node.value : ''];
  if (node.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked ?? '');
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return ['', ''];
  const [left, right] = [partsOf(node.left), partsOf(node.right)];
  return [...left.slice(0, -1), `${left.at(-1)}${right[0]}`, ...right.slice(1)];
}

const shortest = 8;
const isLong = (part: string): boolean => part.length >= shortest;

interface Sentence {
  readonly where: string;
  readonly text: string;
  readonly parts: readonly string[];
}

/** The sentences of a file, other than those of defects and those made of other sentences. */
function sentencesOf(file: string): Sentence[] {
  const source = readFileSync(join(root, file), 'utf8');
  const found: Sentence[] = [];
  const add = (start: number, sentence: Expression | undefined): void => {
    const parts = (sentence === undefined ? [] : partsOf(sentence)).filter(isLong);
    const line = source.slice(0, start).split('\n').length;
    // A sentence that only introduces another sentence, as in "Not usable: …", is not a refusal.
    const introduces = parts.length === 1 && parts[0]?.endsWith(': ') === true;
    if (parts.length > 0 && !introduces)
      found.push({ where: `${file}:${line}`, text: parts.join(' … '), parts });
  };
  const expressions = (given: readonly Node[]): Expression[] =>
    given.flatMap((each) => (each.type === 'SpreadElement' ? [] : [each as Expression]));
  new Visitor({
    NewExpression({ callee, start, arguments: given }) {
      const [kind, sentence] = expressions(given);
      const isDefect = kind?.type === 'Literal' && kind.value === 'unexpected';
      if (callee.type === 'Identifier' && callee.name === 'Failure' && !isDefect)
        add(start, sentence);
    },
    CallExpression({ callee, start, arguments: given }) {
      if (callee.type === 'Identifier' && callee.name === 'notSent')
        add(start, expressions(given)[0]);
    },
  }).visit(parseSync(file, source).program);
  return found;
}

/** The texts and the fixed parts of the patterns in a test. */
function textsOf(file: string): Set<string> {
  const texts = new Set<string>();
  const add = (parts: readonly string[]): void => {
    for (const part of parts.filter(isLong)) texts.add(part);
  };
  const source = readFileSync(join(root, file), 'utf8');
  new Visitor({
    Literal(node) {
      if ('regex' in node)
        add(node.regex.pattern.replaceAll(/\\([^\w])/g, '$1').split(/[\\^$|?*+()[\]{}]|\.[*+?]/));
      else add(partsOf(node));
    },
    TemplateLiteral: (node) => add(partsOf(node).flatMap((part) => part.split('\n'))),
    BinaryExpression: (node) => add(partsOf(node)),
  }).visit(parseSync(file, source).program);
  return texts;
}

/** Sentences without a test, which this list may only lose. */
const untestedYet: ReadonlySet<string> = new Set([
  'the owner decided meanwhile.',
  'Another process has closed  …  at the same time.',
  'The service did not answer within ',
  'the payment costs  …  including fees, but you have ',
  '. Pay this row separately to approve the cost.',
  'the transaction ended as ',
  "svcpay could not check the conversion's loss against your limit of ",
  'The service did not confirm the request.',
  'Not usable: transaction  … ) is a different request.',
  'the journal is closed.',
  'the payment  …  was never submitted.',
]);

test('each sentence of a refusal stands in a test', () => {
  const sentences = filesIn('src').flatMap(sentencesOf);
  const texts = [...new Set(filesIn('test').flatMap((file) => [...textsOf(file)]))];
  const fits = (text: string) => (part: string) => part.includes(text) || text.includes(part);
  /** Texts that occur in more sentences, such as "Outcome unknown", prove nothing. */
  const mostShared = 3;
  const telling = texts.filter((text) => {
    const count = sentences.filter(({ parts }) => parts.some(fits(text))).length;
    return count > 0 && count <= mostShared;
  });
  const isTested = ({ parts }: Sentence): boolean =>
    texts.some((text) => parts.every((part) => text.includes(part))) ||
    telling.some((text) => parts.some(fits(text)));
  const untested = sentences.filter((each) => !isTested(each));
  expect(untested.map(({ where, text }) => [where, text])).toEqual(
    untested.filter(({ text }) => untestedYet.has(text)).map(({ where, text }) => [where, text]),
  );
});
