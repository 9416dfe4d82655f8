// A prompter that answers questions from a script instead of a terminal, and fails on an unexpected
// question.
import { Chalk } from 'chalk';
import { expect } from 'vitest';
import { Failure } from '../../src/formats/failure.js';
import type { Ask } from '../../src/terminal/ask/ask.js';
import { back, type Back, type Choice, type LinesAbove } from '../../src/terminal/ask/questions.js';

/**
 * Each line is `flag answer`: the expected question, and the text to type or choose; `<` goes back.
 */
export type Script = readonly string[];

const canvas = { style: new Chalk({ level: 0 }), columns: 80, rows: 24, blocks: false } as const;

export function actor(script: Script) {
  const left = [...script];
  const shown: (readonly string[])[] = [];
  const complaints: string[] = [];
  const next = (flag: string, over: LinesAbove | undefined): string => {
    shown.push(over?.(canvas) ?? []);
    const [expected = 'the end', ...answer] = (left.shift() ?? '').split(' ');
    expect(flag.split(' ')[0]?.replace(/^--/, '')).toBe(expected);
    return answer.join(' ');
  };
  const choose = async <T>({
    flag,
    choices: listed,
    always = [],
    shortcut,
    over,
  }: {
    flag: string;
    choices: readonly Choice<T>[];
    always?: readonly Choice<T>[];
    shortcut?: Choice<T> | undefined;
    over?: LinesAbove | undefined;
  }): Promise<T | Back> => {
    const answer = next(flag, over);
    if (answer === '<') return back;
    const choices = [...listed, ...always, ...(shortcut === undefined ? [] : [shortcut])];
    const chosen = choices.find(({ name }) => name.toLowerCase().includes(answer.toLowerCase()));
    if (chosen === undefined)
      throw new Error(
        `${flag} does not offer ${answer}: ${choices.map(({ name }) => name).join('; ')}`,
      );
    return chosen.value;
  };
  const ask: Ask['steps'] = {
    select: choose,
    search: choose,
    secret: () => Promise.reject(new Error('No secret is asked for here.')),
    text: async ({ flag, over }) => {
      const answer = next(flag, over);
      return answer === '<' ? back : answer;
    },
    parsed: async ({ flag, parse, default: suggested, over }) => {
      for (;;) {
        const answer = next(flag, over);
        if (answer === '<') return back;
        try {
          return parse(answer === '' ? (suggested ?? '') : answer);
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          complaints.push(error.message);
        }
      }
    },
  };
  return { ask, complaints, shown, left: () => left };
}
