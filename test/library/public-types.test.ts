// The built package exports every name in its public signatures, and exposes no validation schema.
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const types = resolve(import.meta.dirname, '../../dist/types/src');

interface Declarations {
  readonly text: string;
  /** For each imported name: the file that exports the name, and the name in that file. */
  readonly imports: ReadonlyMap<string, readonly [name: string, from: string]>;
  readonly own: ReadonlyMap<string, string>;
}

const files = new Map<string, Declarations>();

const declaration =
  /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|const|function) (\w+)/;

function read(file: string): Declarations {
  const known = files.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(file, 'utf8').replaceAll(/\/\*[^]*?\*\//g, '');
  const imports = [
    ...text.matchAll(/(?:import|export) (?:type )?\{([^}]*)\} from '([^']+)'/g),
  ].flatMap(([, names = '', from = '']) =>
    names
      .split(',')
      .map((each) =>
        each
          .trim()
          .replace(/^type /, '')
          .split(' as '),
      )
      .map(([name = '', as = name]) => [as, [name, from]] as const),
  );
  const whole = [...text.matchAll(/import (?:type )?(?:\* as )?(\w+) from '([^']+)'/g)].map(
    ([, name = '', from = '']) => [name, ['*', from]] as const,
  );
  const own = text
    .split(
      /^(?=(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|const|function) \w)/m,
    )
    .flatMap((part) => {
      const name = declaration.exec(part)?.[1];
      return name === undefined ? [] : [[name, part] as const];
    });
  const read: Declarations = { text, imports: new Map([...imports, ...whole]), own: new Map(own) };
  files.set(file, read);
  return read;
}

/** Returns the file that declares a name, or undefined if no file of the package declares it. */
function declared(name: string, file: string): readonly [file: string, name: string] | undefined {
  const { own, imports } = read(file);
  if (own.has(name)) return [file, name];
  const [there, from] = imports.get(name) ?? [];
  if (there === undefined || from === undefined || !from.startsWith('.')) return undefined;
  return declared(there, resolve(dirname(file), from.replace(/\.cjs$/, '.d.cts')));
}

const exportsOf = (root: string): readonly string[] => [
  ...[...read(root).text.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, names = '']) =>
    names.split(',').map((each) => each.trim().split(' as ').at(-1) ?? ''),
  ),
  ...[...read(root).own.keys()].filter(
    (name) => read(root).own.get(name)?.startsWith('export ') === true,
  ),
];

test.for(['index.d.cts', 'raw.d.cts', 'sandbox.d.cts'])(
  'the declaration file %s exports every name that its signatures use and no validation schema',
  (entry) => {
    const root = join(types, entry);
    // A signature in index.d.cts may use names of raw.d.cts, and one in raw.d.cts may use
    // names of index.d.cts.
    const beside = { 'index.d.cts': 'raw.d.cts', 'raw.d.cts': 'index.d.cts' }[entry] ?? entry;
    const exported = [entry, beside].flatMap((each) => exportsOf(join(types, each)));
    const places = exported.flatMap(
      (name) => declared(name, root) ?? declared(name, join(types, beside)) ?? [],
    );
    const known = new Set<string>();
    for (let index = 0; index < places.length; index += 2)
      known.add(`${places[index]}#${places[index + 1]}`);
    expect(known.size).toBeGreaterThan(15);
    const missing = [...known].flatMap((place) => {
      const [file = '', name = ''] = place.split('#');
      const text = read(file).own.get(name) ?? '';
      const used = [
        ...new Set([...text.matchAll(/\b[A-Za-z_]\w*\b/g)].map(([word]) => word)),
      ].filter((word) => word !== name);
      const schemas = used
        .filter((word) => /^(valibot)$/.test(read(file).imports.get(word)?.[1] ?? ''))
        .map((word) => `${name} shows ${word} of a schema`);
      const unknown = used.flatMap((word) => {
        const found = declared(word, file);
        return found === undefined || known.has(found.join('#')) ? [] : [`${name} uses ${word}`];
      });
      return [...schemas, ...unknown];
    });
    expect(missing).toEqual([]);
  },
);
