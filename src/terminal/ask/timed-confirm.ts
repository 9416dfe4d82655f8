// Asks for a confirmation with a time limit. The question shows the remaining time, and closes when
// the time limit has passed.
import {
  createPrompt,
  isEnterKey,
  makeTheme,
  useEffect,
  useKeypress,
  usePrefix,
  useState,
} from '@inquirer/core';
import { formatDuration } from '../../formats/calendar.js';
import type { LiveOptions } from '../live.js';
import type { promptTheme } from './theme.js';

/** The time limit of a question, such as the expiry of a quote. */
export interface Deadline {
  /** Returns the remaining time in milliseconds. */
  readonly left: () => number;
  readonly every: LiveOptions['every'];
}

interface Config {
  readonly message: string;
  readonly deadline: Deadline;
  readonly theme: ReturnType<typeof promptTheme>;
}

const tickMs = 1000;

export const timedConfirm = createPrompt<boolean | 'lapsed', Config>(
  ({ message, deadline, theme: look }, done) => {
    const theme = makeTheme(look);
    const [answer, setAnswer] = useState<boolean | 'lapsed' | undefined>(undefined);
    const [typed, setTyped] = useState('');
    const [error, setError] = useState<string | undefined>(undefined);
    const [left, setLeft] = useState(deadline.left());
    const prefix = usePrefix({
      status: answer === undefined || answer === 'lapsed' ? 'idle' : 'done',
      theme,
    });

    const end = (given: boolean | 'lapsed'): void => {
      setAnswer(given);
      done(given);
    };
    useEffect(() => {
      const tick = (): void => {
        const rest = deadline.left();
        setLeft(rest);
        if (rest <= 0) end('lapsed');
      };
      return deadline.every(tickMs, tick);
    }, []);
    useKeypress((key, line) => {
      if (answer !== undefined) return;
      if (key.name === 'escape') return end(false);
      if (!isEnterKey(key)) {
        setTyped(line.line);
        return setError(undefined);
      }
      const given = readAnswer(typed);
      // A yes after the time limit does not count.
      if (given !== undefined) return end(deadline.left() <= 0 ? 'lapsed' : given);
      line.write(typed);
      setError('Answer y or n.');
    });

    const { style } = theme;
    if (answer !== undefined) {
      const text = answer === 'lapsed' ? 'the quote expired' : answer ? 'Yes' : 'No';
      return `${prefix} ${style.message(message, 'done')} ${style.answer(text)}`;
    }
    const note = `quote valid ${formatDuration(Math.ceil(Math.max(left, 0) / tickMs) * tickMs)}`;
    const asked = style.message(message, 'idle');
    const question = `${prefix} ${asked} ${style.defaultAnswer('y/N')} ${typed}`;
    return [
      question,
      [...(error === undefined ? [] : [style.error(error)]), style.help(note)].join('\n'),
    ];
  },
);

function readAnswer(typed: string): boolean | undefined {
  const word = typed.trim().toLowerCase();
  if (word === '' || 'no'.startsWith(word)) return false;
  return 'yes'.startsWith(word) ? true : undefined;
}
