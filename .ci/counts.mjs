// Prints the closing line from the test runner's own report.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync('node_modules/.cache/test-report.json', 'utf8'));
const skipped = report.numPendingTests + report.numTodoTests;
console.log(`${report.numPassedTests} passed, ${report.numFailedTests} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
if (report.numTotalTests === 0 || !report.success) process.exitCode = 1;
