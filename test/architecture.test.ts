// Tests that folders import only from allowed folders and without cycles.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Branch } from '../src/cli/tree.js';
import { tree } from '../src/cli/table.js';

const source = resolve(import.meta.dirname, '../src');

/** For each folder, the other folders that it may import from. */
const arrows: Readonly<Record<string, readonly string[]>> = {
  formats: [],
  api: ['formats'],
  store: ['formats'],
  sandbox: ['formats'],
  terminal: ['api', 'store', 'formats'],
  wallet: ['api', 'store', 'formats'],
  webhooks: ['api', 'store', 'formats'],
  cli: ['wallet', 'webhooks', 'terminal', 'api', 'store', 'formats'],
  library: ['wallet', 'webhooks', 'api', 'store', 'formats'],
  main: ['library', 'cli', 'wallet', 'webhooks', 'terminal', 'api', 'store', 'formats'],
};

/**
 * Whether a file may import the sandbox: only the sandbox commands and the library's fixture may.
 */
const mayUseSandbox = (file: string): boolean =>
  file.startsWith('cli/sandbox/') || file === 'sandbox.ts';

interface Import {
  readonly file: string;
  readonly target: string;
  /** Whether the file loads the target only when needed, with `import()`. */
  readonly lazy: boolean;
}

const folderOf = (file: string): string =>
  file.includes('/') ? (file.split('/')[0] ?? '') : 'main';

const allFiles = (): string[] =>
  readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

function allImports(): Import[] {
  return allFiles().flatMap((file) => {
    const text = readFileSync(join(source, file), 'utf8');
    const found = text.matchAll(/(?:from|import)\s*(\()?\s*'(\.[^']+)'/g);
    return [...found].map(([, bracket, path = '']) => ({
      file,
      target: relative(source, resolve(source, dirname(file), path)),
      lazy: bracket !== undefined,
    }));
  });
}

/** Returns each import cycle once, with Tarjan's algorithm for strongly connected components. */
function circlesOf(imports: readonly (readonly [from: string, to: string])[]): string[][] {
  const next = new Map<string, string[]>();
  for (const [from, to] of imports) next.set(from, [...(next.get(from) ?? []), to]);
  const [order, lowest] = [new Map<string, number>(), new Map<string, number>()];
  const [open, circles]: [string[], string[][]] = [[], []];
  const visit = (place: string): void => {
    order.set(place, order.size);
    lowest.set(place, order.size - 1);
    open.push(place);
    for (const to of next.get(place) ?? []) {
      if (!order.has(to)) visit(to);
      if (open.includes(to))
        lowest.set(place, Math.min(lowest.get(place) ?? 0, lowest.get(to) ?? 0));
    }
    if (lowest.get(place) !== order.get(place)) return;
    const circle = open.splice(open.indexOf(place));
    if (circle.length > 1) circles.push(circle.toSorted());
  };
  for (const place of next.keys()) if (!order.has(place)) visit(place);
  return circles;
}

const isAllowed = ({ file, target }: Pick<Import, 'file' | 'target'>): boolean => {
  const [from, to] = [folderOf(file), folderOf(target)];
  if (from === to || target.startsWith('..')) return true;
  if (to === 'sandbox' && mayUseSandbox(file)) return true;
  return arrows[from]?.includes(to) ?? false;
};

test('the import check detects a forbidden import', () => {
  expect(isAllowed({ file: 'formats/amount.ts', target: 'api/client.js' })).toBe(false);
  expect(isAllowed({ file: 'sandbox/http.ts', target: 'api/types.js' })).toBe(false);
  expect(isAllowed({ file: 'wallet/payment.ts', target: 'terminal/output.js' })).toBe(false);
});

describe('the source code', () => {
  test('imports only in the directions that the architecture permits', () => {
    expect(allImports().filter((each) => !isAllowed(each))).toEqual([]);
  });

  test('defines the permitted imports of each of its folders', () => {
    const folders = readdirSync(source, { withFileTypes: true }).filter((each) =>
      each.isDirectory(),
    );
    expect(folders.map((each) => each.name).filter((name) => !(name in arrows))).toEqual([]);
  });

  test('contains svcpay command lines only in cli, terminal and sandbox', () => {
    const commands = (tree.branches ?? []).map(({ name }) => name).join('|');
    const commandLine = new RegExp(`\\bsvcpay (?:${commands})\\b`);
    const wordless = allFiles().filter(
      (file) => !/^(cli|terminal|sandbox)\/|^main\.ts$/.test(file),
    );
    const naming = wordless.flatMap((file) =>
      stringsOf(file)
        .filter((text) => commandLine.test(text))
        .map((text) => `${file}: ${text}`),
    );
    expect(naming).toEqual([]);
  });

  test('confirms transactions only in the payment driver and in the receive flow', () => {
    const confirming = allFiles().filter(
      (file) =>
        !/^(?:api|sandbox)\//.test(file) && /\.confirmTransaction\b/.test(withoutComments(file)),
    );
    // This file only forwards confirmations, and limits how many confirmations are in flight.
    const forwarding = ['wallet/batch/shared-service.ts'];
    expect(confirming.filter((file) => !forwarding.includes(file)).toSorted()).toEqual([
      'wallet/payment/driver.ts',
      'wallet/receive/request.ts',
    ]);
  });

  test('has no circular imports, not even of types', () => {
    const imports = allImports().map(
      ({ file, target }) => [file, target.replace(/\.js$/, '.ts')] as const,
    );
    expect(circlesOf(imports)).toEqual([]);
    expect(
      circlesOf([
        ['a', 'b'],
        ['b', 'c'],
        ['c', 'b'],
        ['c', 'd'],
        ['d', 'a'],
        ['e', 'a'],
      ]),
    ).toEqual([['a', 'b', 'c', 'd']]);
  });

  test('has no line wider than 100 characters', () => {
    const wide = allFiles().filter((file) => /^.{101,}$/mu.test(textOf(file)));
    expect(wide).toEqual([]);
  });

  test('exports the command "X Y" from cli/x/y.ts, or from cli/x/x.ts if there is no such file', () => {
    const files = new Set(allFiles());
    const misplaced = commandPaths(tree).filter((path) => {
      const [first = '', second = first] = path;
      const own = `cli/${first}/${second}.ts`;
      const file = files.has(own) ? own : `cli/${first}/${first}.ts`;
      const name = path.join(' ').replaceAll(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
      return !files.has(file) || !textOf(file).includes(`export const ${name} =`);
    });
    // `limits` runs the command `limits list`, and `stop-all` belongs to the budgets.
    expect(misplaced.map((path) => path.join(' '))).toEqual(['stop-all', 'limits']);
  });

  test('imports a command from another folder only when the command runs', () => {
    const isCommand = ({ target }: Import): boolean =>
      textOf(target.replace(/\.js$/, '.ts')).includes('= defineCommand(');
    const roomOf = (file: string): string => dirname(file);
    const eager = allImports().filter(
      (each) => !each.lazy && roomOf(each.file) !== roomOf(each.target) && isCommand(each),
    );
    expect(eager).toEqual([]);
  });
});

/** Returns the words of each command below a branch of the command tree. */
const commandPaths = (branch: Branch, path: readonly string[] = []): (readonly string[])[] => [
  ...(branch.load === undefined || path.length === 0 ? [] : [path]),
  ...(branch.branches ?? []).flatMap((each) => commandPaths(each, [...path, each.name])),
];

const withoutComments = (file: string): string =>
  textOf(file).replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '');

/** Returns the string literals of a file, but not those in its comments. */
const stringsOf = (file: string): string[] =>
  withoutComments(file)
    .match(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g)
    ?.map((text) => text.slice(1, -1)) ?? [];

const textOf = (file: string): string => readFileSync(join(source, file), 'utf8');
