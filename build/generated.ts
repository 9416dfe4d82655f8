// Lists the committed files that are generated from the code, each with its text.
import { completionScript, shells } from '../src/cli/completion/completion.js';
import { pagesOf } from '../src/cli/help/help.js';
import { wholeSchema } from '../src/cli/schema/schema.js';
import { tree } from '../src/cli/table.js';
import { transitions } from '../src/store/journal/payment.js';
import { manualPage } from './manual-page.js';
import { openApiDocument } from './openapi/document.js';
import { skillPage } from './skill-page.js';

/**
 * @param committed returns the current text of a file, for files of which only a part is generated
 */
export async function generatedFiles(
  version: string,
  committed: (file: string) => string,
): Promise<ReadonlyMap<string, string>> {
  const pages = await pagesOf(tree);
  const payments = 'docs/payments.md';
  return new Map([
    ['man/svcpay.1', manualPage(pages)],
    ...shells.map((shell) => [`completions/svcpay.${shell}`, completionScript(shell)] as const),
    ['SKILL.md', skillPage(pages)],
    ['docs/schema.json', `${JSON.stringify(await wholeSchema(tree, version), null, 1)}\n`],
    ['src/sandbox/openapi.json', `${JSON.stringify(openApiDocument(), null, 1)}\n`],
    [payments, withMoves(committed(payments))],
  ]);
}

/** Returns the data of shell completion: the pages of all commands, without examples. */
export const completionPages = async (): Promise<string> =>
  JSON.stringify((await pagesOf(tree)).map((page) => ({ ...page, examples: [] })));

/** Writes the table of an attempt's transitions into a documentation page. */
function withMoves(page: string): string {
  const rows = transitions.map(({ from, to, when }) => `| \`${from}\` | \`${to}\` | ${when} |\n`);
  const table = /(<!-- transitions -->\n\n?(?:\|.*\n){2})(?:\|.*\n)*/;
  if (!table.test(page)) throw new Error('docs/payments.md has no table between its marks.');
  return page.replace(table, (_, head: string) => head + rows.join(''));
}
