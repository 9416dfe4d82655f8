// Runs scripts of package.json in parallel for `npm run check`. For `npm test`, also runs the command
// after `--` at the same time. Prints the output of each script when the script ends. Every script
// runs to its end, so that all failures are shown. The command after `--` prints its own output
// directly.
import { exec, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));

const runScript = (name) =>
  new Promise((done) => {
    exec(scripts[name], { maxBuffer: Infinity }, (error, stdout, stderr) => {
      const end = error === null ? '' : `${name} failed\n`;
      process.stdout.write(`> ${name}: ${scripts[name]}\n${stdout}${stderr}${end}`);
      done(error === null);
    });
  });

const runCommand = ([file, ...args]) =>
  new Promise((done) => {
    // On Windows, the programs of packages are scripts that need a shell.
    spawn(file, args, { stdio: 'inherit', shell: process.platform === 'win32' })
      .once('error', (error) => {
        process.stderr.write(`${file}: ${error.message}\n`);
        done(false);
      })
      .once('close', (code) => done(code === 0));
  });

const words = process.argv.slice(2);
const at = words.includes('--') ? words.indexOf('--') : words.length;
const command = words.slice(at + 1);
const ends = await Promise.all([
  ...words.slice(0, at).map(runScript),
  ...(command.length > 0 ? [runCommand(command)] : []),
]);
if (ends.includes(false)) process.exitCode = 1;
