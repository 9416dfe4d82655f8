// Finds the mutants of a source file, and adds all of them to its code, each behind a switch.
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
  /** Conditions whose negation is another mutant already. */
  const conditions = new Set();

  new Visitor({
    IfStatement({ test, consequent }) {
      conditions.add(test.start);
      if (exits(consequent)) add(test, 'false', 'drop');
      else add(test, `!(${textOf(test)})`, 'negate');
    },
    ConditionalExpression({ test }) {
      conditions.add(test.start);
      add(test, `!(${textOf(test)})`, 'negate');
    },
    LogicalExpression(node) {
      const { left, right, operator } = node;
      conditions.add(left.start).add(right.start);
      if (operator === '??') return;
      add(node, textOf(left), `without "${textOf(right).replaceAll(/\s+/g, ' ')}"`);
      if (left.type !== 'LogicalExpression' || left.operator !== operator)
        add(node, textOf(right), `without "${textOf(left).replaceAll(/\s+/g, ' ')}"`);
    },
    BinaryExpression(node) {
      const { left, right, operator } = node;
      const isText = operator === '+' && /['"`]/.test(textOf(left) + textOf(right));
      const isNegated = operator.endsWith('==') && conditions.has(node.start);
      if (operator in opposite && !isText && !isNegated)
        swap(node, left.end, right.start, operator);
    },
    CallExpression(node) {
      const { callee } = node;
      if (callee.type !== 'MemberExpression' || callee.computed) return;
      const { name, start, end } = callee.property;
      if (Object.hasOwn(opposite, name) && !textOf(node).includes('?.'))
        swap(node, start, end, name);
    },
    Property({ key, value }) {
      if (typeof value.value !== 'boolean' || value.type !== 'Literal') return;
      add(value, String(!value.value), `${textOf(key)}: not`);
    },
  }).visit(program);
  return found;
}

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
