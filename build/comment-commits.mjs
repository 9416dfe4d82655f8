// Prints the commits that change only comments, for .git-blame-ignore-revs:
// node build/comment-commits.mjs >> .git-blame-ignore-revs
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { transformSync } from 'esbuild';

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 });

/** Returns the code of a file at a revision without comments and layout. */
function codeAt(revision, file) {
  const text = git('show', `${revision}:${file}`);
  return transformSync(text, { loader: 'ts', minifyWhitespace: true, legalComments: 'none' }).code;
}

function changesOnlyComments(commit) {
  const changes = git('diff-tree', '--no-commit-id', '-r', '--name-status', commit).trim();
  const rows = changes.split('\n').map((line) => line.split('\t'));
  const isCode = ([status, file = '']) => status === 'M' && /\.(?:ts|mjs)$/.test(file);
  return (
    rows.every(isCode) &&
    rows.every(([, file]) => codeAt(commit, file) === codeAt(`${commit}^`, file))
  );
}

const listed = readFileSync('.git-blame-ignore-revs', 'utf8');
for (const line of git('log', '--no-merges', '--format=%H %s', '--', '*.ts', '*.mjs').split('\n')) {
  const [commit = '', ...subject] = line.split(' ');
  if (commit === '' || listed.includes(commit) || !changesOnlyComments(commit)) continue;
  console.log(`# ${subject.join(' ')}\n${commit}`);
}
