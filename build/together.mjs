// Runs scripts of package.json in parallel (npm run check). Prints the output of each when it ends,
// and runs all of them to their end, so that every failure shows.
import { exec } from 'node:child_process';
import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));

const run = (name) =>
  new Promise((done) => {
    exec(scripts[name], { maxBuffer: Infinity }, (error, stdout, stderr) => {
      const end = error === null ? '' : `${name} failed\n`;
      process.stdout.write(`> ${name}: ${scripts[name]}\n${stdout}${stderr}${end}`);
      done(error === null);
    });
  });

const ends = await Promise.all(process.argv.slice(2).map(run));
if (ends.includes(false)) process.exitCode = 1;
