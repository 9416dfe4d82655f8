// Prints what is made from the table of commands: data for completion, and the manual. For the build, and hidden.
import { defineCommand, type Branch, type Command } from '../define.js';
import { choice } from '../values.js';
import { manualPage } from './manual-page.js';
import { pagesOf } from './pages.js';

export const generate = (tree: Branch): Command =>
  defineCommand({
    arguments: { what: choice(['pages', 'manual']) },
    examples: [],
    async run({ what }, { out }) {
      const pages = await pagesOf(tree);
      out.text(what === 'manual' ? manualPage(pages).trimEnd() : JSON.stringify(pages.map((page) => ({ ...page, examples: [] }))));
    },
  });
