// A prompter that answers questions from a script instead of a terminal, and fails on an unexpected
// question.
import { Chalk } from 'chalk';
import { expect } from 'vitest';
import { Failure } from '../../src/formats/failure.js';
import {
  back,
  type Back,
  type ChoiceQuestion,
  type LinesAbove,
  type Pose,
} from '../../src/terminal/ask/questions.js';

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
  const choose = <T>(question: ChoiceQuestion<T>): T | Back => {
    const { flag, choices: listed, always = [], shortcut, over } = question;
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
  const pose: Pose = async (question) => {
    if ('choices' in question) return choose(question);
    const { flag, parse, default: suggested, over } = question;
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
  };
  return { pose, complaints, shown, left: () => left };
}
