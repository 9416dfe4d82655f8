// Prints the closing line from the test runner's own report: N passed, N failed.
import { existsSync, readFileSync } from 'node:fs';

const file = 'node_modules/.cache/test-report.json';
/** Without a report the tests did not even begin. */
const nothing = {
  numPassedTests: 0,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  numTotalTests: 0,
  success: false,
};
const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : nothing;
const skipped = report.numPendingTests + report.numTodoTests;
if (skipped > 0) console.log(`${skipped} skipped`);
console.log(`${report.numPassedTests} passed, ${report.numFailedTests} failed`);
if (report.numTotalTests === 0 || !report.success) process.exitCode = 1;
