// The live line is redrawn in place on a terminal, becomes plain lines in a pipe, and leaves a
// record at the end of a wait.
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createLive, type Live } from '../../src/terminal/live.js';
import { bundled, startInPty, type PtyOptions, type PtyProcess } from '../support/pty.js';
import { openPlainScreen, openScreen, type ScreenOptions } from './support.js';

describe('the live line on a terminal', () => {
  let program: string;
  let run: PtyProcess | undefined;

  beforeAll(async () => {
    program = await bundled(new URL('fixtures/live.ts', import.meta.url));
  });

  afterEach(() => run?.kill());

  async function waiting(options: PtyOptions = {}): Promise<PtyProcess> {
    run = startInPty(process.execPath, [program], options);
    await run.shows('Waiting');
    return run;
  }

  test('redraws the countdown in place', async () => {
    const { shows, screen, isCursorHidden } = await waiting();
    await shows(/tick ([5-9]|\d\d)/);
    expect(screen()).toHaveLength(1);
    expect(isCursorHidden()).toBe(true);
  });

  test('never starts an erase at the first cell of a window, because tmux would save the erased text in its history', async () => {
    const { shows, written } = await waiting();
    await shows(/tick ([5-9]|\d\d)/);
    expect(written()).toContain('\u001B[J');
    expect(written()).not.toMatch(/(?<! )\u001B\[J/);
  });

  test('keeps the final line below the messages, and shows the cursor again', async () => {
    const { signal, screen, exit, isCursorHidden } = await waiting();
    signal('SIGUSR2');
    expect(await exit).toBe(0);
    expect(screen()).toEqual(['A remark in between', '  ✓ Received 0.00050000 BTC']);
    expect(isCursorHidden()).toBe(false);
  });

  test.each(
    [{ end: 'stop', left: ['A remark in between'] }].map((each) => [each.end, each] as const),
  )('leaves only the messages on the screen after %s', async (_end, { end, left }) => {
    const { signal, screen, exit, isCursorHidden } = await waiting({ env: { END: end } });
    signal('SIGUSR2');
    await exit;
    expect(screen()).toEqual(left);
    expect(isCursorHidden()).toBe(false);
  });

  test('shortens a long line instead of wrapping it', async () => {
    const { shows, screen } = await waiting({ columns: 24 });
    await shows('Waiting for the…');
    expect(screen()).toHaveLength(1);
  });

  test('shortens the line at once if the window becomes narrower', async () => {
    const { shows, resize, screen, signal, exit } = await waiting();
    resize(30, 24);
    await shows(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] Waiting for the payment…$/);
    signal('SIGUSR2');
    await exit;
    expect(screen()).toEqual(['A remark in between', '  ✓ Received 0.00050000 BTC']);
  });

  test('exits 130 on Ctrl-C while the spinner runs', async () => {
    const { type, exit, screen, isCursorHidden } = await waiting();
    type('\u0003');
    expect(await exit).toBe(130);
    expect(screen().join('\n')).toContain('INTERRUPTED');
    expect(isCursorHidden()).toBe(false);
  });

  test('uses no colours if NO_COLOR is set', async () => {
    const { signal, exit, written } = await waiting({ env: { NO_COLOR: '1' } });
    signal('SIGUSR2');
    await exit;
    expect(written()).not.toMatch(/\u001B\[[\d;]*m/);
  });
});

describe('the live line without redrawing', () => {
  const places: { name: string; where: ScreenOptions; tick: string }[] = [
    { name: 'a pipe', where: { tty: false }, tick: '✓' },
    { name: 'a terminal of 0 columns', where: { columns: 0 }, tick: '✓' },
    { name: 'CI', where: { env: { CI: '1' } }, tick: '✓' },
    { name: 'a dumb terminal', where: { env: { TERM: 'dumb' } }, tick: '+' },
    { name: 'a screen reader', where: { env: { ACCESSIBLE: '1' } }, tick: '✓' },
  ];

  function started(where: ScreenOptions, quiet = false) {
    const { terminal, stderr, stdout } = openPlainScreen(where);
    const clock = { now: 1000, state: 'quoted', ticks: new Map<number, () => void>() };
    const live: Live = createLive(terminal, {
      quiet,
      now: () => clock.now,
      every: (ms, tick) => {
        clock.ticks.set(ms, tick);
        return () => clock.ticks.delete(ms);
      },
    });
    live.start((elapsedMs) => `${clock.state} ${elapsedMs / 1000} s`);
    return { clock, live, stderr, stdout };
  }

  test.each(places.map((each) => [each.name, each] as const))(
    'writes a line for each change to stderr in %s',
    (_name, { where, tick }) => {
      const { clock, live, stderr, stdout } = started(where);
      live.update();
      Object.assign(clock, { state: 'sent', now: 2800 });
      live.update();
      live.succeed('Paid');
      live.stop();
      live.update();
      expect(stderr()).toBe(`  quoted 0 s\n  sent 1.8 s\n  ${tick} Paid\n`);
      expect(stdout()).toBe('');
      expect(clock.ticks.size).toBe(0);
    },
  );

  test.for(places)('repeats the line every 30 s only at a terminal: $name', ({ name, where }) => {
    const { clock, live, stderr } = started(where);
    clock.now += 30_000;
    clock.ticks.get(30_000)?.();
    const isRead = name === 'a dumb terminal' || name === 'a screen reader';
    expect(stderr()).toBe(`  quoted 0 s\n${isRead ? '  quoted 30 s\n' : ''}`);
    live.stop();
    expect(clock.ticks.size).toBe(0);
  });

  test('writes only the changed lines again', () => {
    const { clock, live, stderr } = started({ tty: false });
    clock.state = 'first quoted\nsecond quoted';
    live.update();
    clock.state = 'first quoted\nsecond sent';
    live.update();
    expect(stderr()).toBe('  quoted 0 s\n  first quoted\n  second quoted 0 s\n  second sent 0 s\n');
  });

  test('writes no live line in quiet mode', () => {
    const { live, stderr } = started({ tty: false }, true);
    live.update();
    live.succeed('Paid');
    expect(stderr()).toBe('');
  });

  test('uses ASCII marks if the locale does not support Unicode', () => {
    const { live, stderr } = started({ tty: false, env: { LANG: 'C' } });
    live.succeed('Paid');
    expect(stderr()).toBe('  quoted 0 s\n  + Paid\n');
  });
});

describe('the live line at the end of a wait', () => {
  const ended = (ms: number, env: Record<string, string> = {}, interrupt = false): string => {
    const { terminal, stderr } = openScreen({ env });
    const person = new AbortController();
    let now = 0;
    const live = createLive(terminal, {
      quiet: false,
      now: () => now,
      every: () => () => undefined,
      signal: person.signal,
    });
    live.start(() => 'Waiting');
    live.progress(1, 4);
    now = ms;
    if (interrupt) person.abort();
    live.stop();
    return stderr();
  };

  test('rings the bell and sends a notification after a long wait, unless the wait was interrupted', () => {
    expect(ended(11_000)).toContain('\u0007\u001B]9;svcpay: finished waiting\u001B\\');
    expect(ended(9_000)).not.toContain('\u0007');
    expect(ended(11_000, {}, true)).not.toContain('\u0007');
  });

  test('clears the progress in a terminal that shows progress in the task bar', () => {
    expect(ended(1, { TERM_PROGRAM: 'ghostty' })).toMatch(
      /\u001B\]9;4;1;25\u001B\\[^]*\u001B\]9;4;0;0\u001B\\/,
    );
    expect(ended(1)).not.toContain('9;4');
  });
});
