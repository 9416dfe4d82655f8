// Questions under a form that folds what is answered: an answer that is taken back leaves the screen with it.
import type { Ask, Over } from '../../terminal/ask/ask.js';
import { formLines, type Form } from '../../terminal/cards/form.js';

/** @param formOf the form as it is when a question is asked; none as long as there is nothing to show */
export function askingUnder(formOf: () => Form | undefined, ask: Ask['steps']): Ask['steps'] {
  const over: Over = (canvas) => {
    const form = formOf();
    return form === undefined ? [] : formLines(form, canvas);
  };
  return {
    text: (question) => ask.text({ ...question, over }),
    parsed: (question) => ask.parsed({ ...question, over }),
    select: (question) => ask.select({ ...question, over }),
    search: (question) => ask.search({ ...question, over }),
    secret: (question) => ask.secret({ ...question, over }),
  };
}

/** The answers so far, a line each. */
export const answersForm = (title: string, answers: readonly (string | undefined)[]): Form => ({
  title,
  known: answers.flatMap((text) => (text === undefined ? [] : [{ text, isDone: true }])),
});
