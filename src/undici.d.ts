// Declares types for the files of undici 7.30.2 that svcpay imports. svcpay does not import the
// index of undici: on Node 22, a process that loads the index takes 101 ms, and a process that
// loads the files for a request takes 50 ms (median of 15 runs).
declare module 'undici/lib/core/connect.js' {
  import type { Socket } from 'node:net';
  import type { buildConnector } from 'undici';

  const build: (options: buildConnector.BuildOptions) => (target: buildConnector.Options) => Socket;
  export default build;
}

declare module 'undici/lib/dispatcher/pool.js' {
  import type { Duplex } from 'node:stream';
  import type { Pool, buildConnector } from 'undici';

  export type Connect = (
    target: buildConnector.Options,
    callback: (error: Error | null, socket: Duplex | null) => void,
  ) => void;

  export interface PoolOptions extends Omit<Pool.Options, 'connect'> {
    connect?: Connect;
  }

  export default class extends Pool {
    constructor(origin: string | URL, options: PoolOptions);
  }
}

declare module 'undici/lib/dispatcher/agent.js' {
  import type { Agent, Dispatcher, buildConnector } from 'undici';
  import type { Connect, PoolOptions } from 'undici/lib/dispatcher/pool.js';

  export interface AgentOptions extends Omit<Agent.Options, 'connect' | 'factory'> {
    connect?: Connect | buildConnector.BuildOptions;
    factory?: (origin: string | URL, pool: PoolOptions & { connect: Connect }) => Dispatcher;
  }

  export default class extends Agent {
    constructor(options: AgentOptions);
  }
}

declare module 'undici/lib/dispatcher/env-http-proxy-agent.js' {
  import type { Dispatcher, EnvHttpProxyAgent } from 'undici';
  import type { AgentOptions } from 'undici/lib/dispatcher/agent.js';

  type ProxyOptions = Omit<EnvHttpProxyAgent.Options, keyof AgentOptions>;

  export default class extends Dispatcher {
    constructor(options: AgentOptions & ProxyOptions);
  }
}

declare module 'undici/lib/api/api-connect.js' {
  import type { Dispatcher } from 'undici';

  const connect: Dispatcher['connect'];
  export default connect;
}

declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';

  const request: (
    this: Dispatcher,
    options: Dispatcher.RequestOptions & { origin: string },
  ) => Promise<Dispatcher.ResponseData>;
  export default request;
}
