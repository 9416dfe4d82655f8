// Prints what is made from the table of commands: data for completion, and the manual. For the build, and hidden.
import { defineCommand, type Branch, type Command } from '../define.js';
import { choice } from '../values.js';
import { manualPage } from './manual-page.js';
import { pagesOf } from './pages.js';
import { skillPage } from './skill.js';

export const generate = (tree: Branch): Command =>
  defineCommand({
    arguments: { what: choice(['pages', 'manual', 'skill']) },
    examples: [],
    async run({ what }, { out }) {
      const pages = await pagesOf(tree);
      if (what === 'pages') return void out.text(JSON.stringify(pages.map((page) => ({ ...page, examples: [] }))));
      out.text((what === 'manual' ? manualPage(pages) : skillPage(pages)).trimEnd());
    },
  });
