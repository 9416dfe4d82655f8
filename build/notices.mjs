// Writes the licences of the bundled packages, because every copy of the packages must contain
// their licences.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * @param inputs the files that esbuild has bundled, with their names in its metafile
 * @param file the path of the written notices
 */
export async function writeNotices(inputs, file) {
  const folders = new Set(
    inputs.flatMap(
      (input) =>
        /(?:^|[:/])(node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? [],
    ),
  );
  const notices = await Promise.all([...folders].toSorted().map(noticeOf));
  const intro = 'svcpay contains the following packages, each under its own licence.\n';
  await writeFile(file, [intro, ...notices].join(`\n${'-'.repeat(80)}\n\n`));
}

async function noticeOf(folder) {
  const {
    name,
    version,
    licenses = [],
    license = licenses[0]?.type,
  } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const files = (await readdir(folder))
    .filter((each) => /^(licen[cs]e|notice|copying)/i.test(each))
    .toSorted();
  if (license === undefined || files.length === 0)
    throw new Error(`${name} states no licence: it must not be bundled.`);
  const texts = await Promise.all(files.map((each) => readFile(join(folder, each), 'utf8')));
  return `${name} ${version} (${license})\n\n${texts.map((text) => text.trim()).join('\n\n')}\n`;
}
