// Defines the global options, which svcpay accepts before or after the command's name.
import { formats } from '../terminal/rows/view.js';
import { choice, duration, flag, text, unless, word, type ValuesOf } from './values.js';

export const globalOptions = {
  profile: text('NAME').suggesting('profile').optional().describe('use this profile'),
  account: text('ID').optional().describe('act on this subaccount'),
  budget: text('NAME')
    .optional()
    .describe('charge payments to this budget, and pay only what it allows'),
  baseUrl: text('URL').optional().describe('address of the service'),
  sandbox: flag().describe('use the embedded sandbox: no account, no server'),
  json: flag().describe('print one JSON document'),
  output: choice(formats, 'FORMAT')
    .optional()
    .short('o')
    .describe(`print as ${formats.join(', ')}`),
  fields: word('LIST', (given) => given.split(',').map((field) => field.trim()))
    .optional()
    .describe('only these fields, e.g. txnState,sourceReq.ccy; --fields help lists the names'),
  rawCells: flag().describe('in CSV, do not escape cells that a spreadsheet would run as formulas'),
  quiet: flag().short('q').describe('print only one value, such as the id'),
  yes: flag().short('y').describe('answer yes to the confirmation'),
  input: unless().describe('never ask a question'),
  color: unless().describe('no colours'),
  debug: flag().describe('log every request to stderr, without secrets'),
  logFormat: choice(['text', 'json'], 'FORMAT')
    .optional()
    .describe('with json, write every line on stderr as a JSON object'),
  insecure: flag().describe(
    'allow a service without a verified certificate (NODE_TLS_REJECT_UNAUTHORIZED=0)',
  ),
  timeout: duration().optional().describe('longest time for one request (default 30s)'),
};

export type Globals = ValuesOf<typeof globalOptions>;
