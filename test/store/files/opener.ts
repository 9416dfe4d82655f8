// A program that opens each file that its parent process names, at the given time, and reports
// whether the file could be opened.
import { openSqlite } from '../../../src/store/files/sqlite-file.js';

process.on('message', ({ path, at }: { path: string; at: number }) => {
  // Waits without a timer, so that all openers open the file in the same millisecond.
  while (Date.now() < at);
  process.send?.(open(path));
});

function open(path: string): string {
  try {
    openSqlite({
      path,
      name: 'test file',
      applicationId: 77,
      steps: ['CREATE TABLE first (x)', 'CREATE TABLE second (x)'],
      advice: { hint: undefined, next: undefined },
    }).close();
    return 'opened';
  } catch (error) {
    return String(error);
  }
}
