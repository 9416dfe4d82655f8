// The prompts that are used, and no others: loaded only when a question is asked.
export { confirm, input, password, search, select } from '@inquirer/prompts';
export { runPrompt } from './prompt.js';
export { promptTheme } from './theme.js';
export { timedConfirm } from './timed-confirm.js';
