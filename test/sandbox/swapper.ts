// This program swaps 1 USDT for 1 USD repeatedly in a sandbox file, and prints the txnId of each
// answer.
import { openSandbox } from '../../src/sandbox/service.js';
import { openSqlite } from '../../src/store/files/sqlite-file.js';
import { connect, sendTo, swap } from './support.js';

const [file = '', count = '0'] = process.argv.slice(2);
const sandbox = openSandbox({ file, openFile: openSqlite });
const client = await connect(sendTo(sandbox), 'http://sandbox.localhost', sandbox);
for (let i = 0; i < Number(count); i += 1) {
  const txn = await client.run(swap(1, 'USDT', 'USD'));
  process.stdout.write(`${txn.txnId}\n`);
}
await sandbox.close();
