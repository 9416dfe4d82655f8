// What bundled packages load and svcpay never uses, each with what stands in its place. Together it costs more to
// start than all of svcpay.

const nothing = 'export default undefined;';

/** `from` names a package or one file of it; `path` is what is imported there. */
const unused = [
  // The JSON schema validator, encryption, and the comparison of versions for migrations.
  { from: 'conf', path: 'ajv/dist/2020.js', stub: 'export const Ajv2020=undefined;' },
  { from: 'conf', path: 'ajv-formats', stub: nothing },
  { from: 'conf', path: 'semver', stub: nothing },
  { from: 'conf', path: 'node:crypto', stub: nothing },
  {
    from: 'conf',
    path: 'node:assert',
    stub: `import{isDeepStrictEqual as same}from'node:util';
export default{deepEqual(a,b){if(!same(a,b))throw new Error('different');}};`,
  },
  // The level of colours is always given: svcpay knows its terminal better.
  { from: 'chalk', path: '#supports-color', stub: 'export default{};' },
  // Separate executables as commands.
  { from: 'commander', path: 'node:child_process', stub: nothing },
  // It sends a signal to the process again, after svcpay has taken the first as the wish to stop in good order.
  { from: 'atomically', path: 'when-exit', stub: 'export default()=>()=>undefined;' },
];

/** An esbuild plugin. */
export const withoutUnused = {
  name: 'without unused parts of packages',
  setup(bundler) {
    bundler.onResolve({ filter: /./ }, ({ path, importer }) => {
      const index = unused.findIndex((each) => each.path === path && isIn(importer, each.from));
      return index < 0
        ? undefined
        : { path: `${unused[index].from} ${path}`, namespace: 'unused', pluginData: index };
    });
    bundler.onLoad({ filter: /./, namespace: 'unused' }, ({ pluginData }) => ({
      contents: unused[pluginData].stub,
    }));
  },
};

const isIn = (file, place) => {
  const path = file.replaceAll('\\', '/');
  return place.endsWith('.js')
    ? path.endsWith(`/node_modules/${place}`)
    : path.includes(`/node_modules/${place}/`);
};
