// Each mutant changes one guard of the code, and the code without a mutant is unchanged.
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { instrumented, mutantsOf } from './mutants.mjs';

const source = `function allows(fee, most, isOwn) {
  if (isOwn && fee.lte(most)) return 'own';
  const words = fee.value > 1 ? 'Too much.' : 'All right.';
  const shown = { ...(isOwn && { words }), text: \`\${isOwn && words}\` };
  return fee.value - 1 < most.value ? 'yes' : 'no';
}
const number = (value) => ({ value, lte: (other) => value <= other.value, lt: (other) => value < other.value });
[allows(number(1), number(1), true), allows(number(2), number(1), false)].join(' ')`;

const result = (active?: number): unknown =>
  runInNewContext(instrumented(source, mutantsOf(source, 'fees.ts'), 0), {
    mutant: (id: number) => id === active,
  });

test('mutantsOf finds the guards of a file but no choices of words, and instrumented code can break each', () => {
  const found = mutantsOf(source, 'fees.ts').map(({ line, what }, id) => [line, what, result(id)]);
  expect(result()).toBe('own no');
  expect(found.filter(([line]) => Number(line) < 6)).toEqual([
    [2, 'drop: isOwn && fee.lte(most)', 'yes no'],
    [2, 'without "fee.lte(most)": isOwn && fee.lte(most)', 'own no'],
    [2, 'without "isOwn": isOwn && fee.lte(most)', 'own no'],
    [2, 'lte to lt: fee.lte(most)', 'yes no'],
    [5, 'negate: fee.value - 1 < most.value', 'own yes'],
    [5, '< to <=: fee.value - 1 < most.value', 'own yes'],
    [5, '- to +: fee.value - 1', 'own no'],
  ]);
});
