// The commands whose round trips to a distant service are counted and timed.
import { payoutWords } from './payout.js';

export interface FarCommand {
  readonly name: string;
  /** The arguments of the command; an empty list opens the home screen, which needs a terminal. */
  readonly args: readonly string[];
  /** The largest permitted number of sequential round trips, including TCP and TLS handshakes. */
  readonly most: number;
}

export const readingCommands = (txnId: string): readonly FarCommand[] => [
  { name: 'tx pending', args: ['tx', 'pending', '--json'], most: 3 },
  { name: 'home', args: [], most: 3 },
  { name: 'wallets', args: ['wallets', '--json'], most: 3 },
  { name: 'rates', args: ['rates', '--json'], most: 3 },
  { name: 'tx list', args: ['tx', 'list', '--json'], most: 3 },
  { name: 'tx get', args: ['tx', 'get', txnId, '--json'], most: 3 },
  {
    name: 'receive lightning',
    args: ['receive', 'lightning', '1000sat', '--no-wait', '--json'],
    most: 4,
  },
];

const payout = payoutWords();

/** @param invoice creates an unpaid invoice */
export const payingCommands = async (
  invoice: () => Promise<string>,
  suffix = '',
): Promise<readonly FarCommand[]> => {
  const commands: FarCommand[] = [
    { name: 'send lightning', args: ['send', 'lightning', await invoice()], most: 4 },
    {
      name: 'send lightning --ref',
      args: ['send', 'lightning', await invoice(), '--ref', `far-order${suffix}`],
      most: 4,
    },
    {
      name: 'send lightning --from',
      args: ['send', 'lightning', await invoice(), '--from', 'USDT'],
      most: 4,
    },
    {
      name: 'send onchain',
      args: ['send', 'onchain', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', '20000sat'],
      most: 4,
    },
    {
      name: 'send usdt',
      args: ['send', 'usdt', 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8', '5usdt'],
      most: 4,
    },
    { name: 'swap', args: ['swap', '5', 'USDT', 'BTC'], most: 4 },
    { name: 'payout', args: payout, most: 5 },
    { name: 'payout --ref', args: [...payout, '--ref', `far-wages${suffix}`], most: 5 },
  ];
  return commands.map((command) => ({
    ...command,
    args: [...command.args, '--yes', '--again', '--no-wait', '--json'],
  }));
};
