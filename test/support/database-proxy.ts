// A proxy to the database that drops the answers to COMMITs, or forwards no bytes.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface DatabaseProxy {
  readonly through: (url: string) => string;
  /**
   * Lets `passing` COMMITs through, then drops the answers to the next `count` COMMITs and closes
   * their connections.
   */
  cutCommits(count: number, passing?: number): void;
  /** Forwards no more bytes, and keeps the connections open. */
  silence(): void;
  readonly cuts: () => number;
  stop(): Promise<void>;
}

export async function startDatabaseProxy(port: number): Promise<DatabaseProxy> {
  let [toCut, toPass, cuts, isSilent] = [0, 0, 0, false];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(port, '127.0.0.1');
    let isCut = false;
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket);
          if (!isSilent) setTimeout(() => (client.destroy(), database.destroy()), 20);
        });
    }
    client.on('data', (bytes) => {
      if (isSilent) return;
      const isCommit = toCut > 0 && /COMMIT(?!TED)/.test(bytes.toString('latin1'));
      if (isCommit && (toPass -= 1) < 0) {
        [toCut, cuts, isCut] = [toCut - 1, cuts + 1, true];
      }
      database.write(bytes);
    });
    database.on('data', (bytes) => {
      if (isSilent) return;
      if (isCut) client.destroy();
      else client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const listening = (server.address() as AddressInfo).port;
  return {
    through: (url) => url.replace(`:${port}/`, `:${listening}/`),
    cutCommits: (count, passing = 0) => void ([toCut, toPass] = [count, passing]),
    silence: () => void (isSilent = true),
    cuts: () => cuts,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) =>
        server.listening ? server.close(() => resolve()) : resolve(),
      );
    },
  };
}
