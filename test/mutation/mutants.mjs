// Finds the mutants of a source file, and adds all of them to its code, each behind a switch. Each
// mutant breaks a guard: a condition, a comparison, a refusal or a sum. Conditions that only choose
// words, or whether an object has a field, are no guards.
import { parseSync, Visitor } from 'oxc-parser';

/**
 * @typedef {{ line: number, what: string, start: number, end: number, mutated: string }} Mutant
 */

/** The states of a mutant: `dead`, `unreached`, or else the ms of the tests that it survived. */
export const [dead, unreached] = [0xffff_ffff, 0];

const opposite = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '===': '!==',
  '!==': '===',
  lt: 'lte',
  lte: 'lt',
  gt: 'gte',
  gte: 'gt',
  plus: 'minus',
  minus: 'plus',
};

/** @returns {Mutant[]} */
export function mutantsOf(source, file) {
  const found = [];
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const textOf = ({ start, end }) => source.slice(start, end);
  const add = (node, mutated, kind) => {
    const line = source.slice(0, node.start).split('\n').length;
    const text = textOf(node).replaceAll(/\s+/g, ' ');
    found.push({ ...pick(node), line, what: `${kind}: ${text}`, mutated });
  };
  const pick = ({ start, end }) => ({ start, end });
  const swap = (node, from, to, next) => {
    const between = source.slice(from, to);
    const mutated = `${source.slice(node.start, from)}${between.replace(next, opposite[next])}`;
    add(node, mutated + source.slice(to, node.end), `${next} to ${opposite[next]}`);
  };
  /** The ends of the texts and optional fields around the current node. */
  let apart = -1;
  const isApart = ({ start }) => start < apart;
  const leaveApart = ({ end }) => (apart = Math.max(apart, end));
  /** Conditions whose negation is another mutant already. */
  const conditions = new Set();

  new Visitor({
    IfStatement({ test, consequent }) {
      if (isApart(test)) return;
      conditions.add(test.start);
      if (exits(consequent)) add(test, 'false', 'drop');
      else add(test, `!(${textOf(test)})`, 'negate');
    },
    TemplateLiteral: leaveApart,
    SpreadElement({ argument }) {
      const inner = argument.type === 'ParenthesizedExpression' ? argument.expression : argument;
      if (inner.type === 'LogicalExpression') leaveApart(inner.left);
    },
    ConditionalExpression(node) {
      const { test, consequent, alternate } = node;
      if (isText(consequent) && isText(alternate)) leaveApart(node);
      if (isApart(node)) return;
      conditions.add(test.start);
      add(test, `!(${textOf(test)})`, 'negate');
    },
    LogicalExpression(node) {
      const { left, right, operator } = node;
      conditions.add(left.start).add(right.start);
      if (operator === '??' || isApart(node)) return;
      add(node, textOf(left), `without "${textOf(right).replaceAll(/\s+/g, ' ')}"`);
      if (left.type !== 'LogicalExpression' || left.operator !== operator)
        add(node, textOf(right), `without "${textOf(left).replaceAll(/\s+/g, ' ')}"`);
    },
    BinaryExpression(node) {
      const { left, right, operator } = node;
      const joinsText = operator === '+' && /['"`]/.test(textOf(left) + textOf(right));
      const isNegated = operator.endsWith('==') && conditions.has(node.start);
      if (operator in opposite && !joinsText && !isNegated && !isApart(node))
        swap(node, left.end, right.start, operator);
    },
    CallExpression(node) {
      const { callee } = node;
      if (callee.type !== 'MemberExpression' || callee.computed || isApart(node)) return;
      const { name, start, end } = callee.property;
      if (Object.hasOwn(opposite, name) && !textOf(node).includes('?.'))
        swap(node, start, end, name);
    },
  }).visit(program);
  return found;
}

/** Whether a node is a text, or a choice of texts. */
const isText = ({ type, value, consequent, alternate }) =>
  type === 'TemplateLiteral' ||
  (type === 'Literal' && typeof value === 'string' && !/^[a-z-]+$/.test(value)) ||
  (type === 'ConditionalExpression' && isText(consequent) && isText(alternate));

function exits(statement) {
  const last = statement.type === 'BlockStatement' ? statement.body.at(-1) : statement;
  return ['ReturnStatement', 'ThrowStatement', 'ContinueStatement'].includes(last?.type);
}

/** Adds the mutants to the code of a file; the global function `mutant` switches them. */
export function instrumented(source, mutants, firstId) {
  const edits = mutants.flatMap(({ start, end, mutated }, index) => [
    { at: start, end, text: `(mutant(${firstId + index})?(${mutated}):(` },
    { at: end, end, text: '))' },
  ]);
  // Inner expressions start after outer ones, and a closing bracket comes before an opening one.
  const inOrder = edits.toSorted(
    (a, b) => a.at - b.at || Number(a.at !== a.end) - Number(b.at !== b.end) || b.end - a.end,
  );
  let [code, from] = ['', 0];
  for (const { at, text } of inOrder) {
    code += source.slice(from, at) + text;
    from = at;
  }
  return code + source.slice(from);
}
