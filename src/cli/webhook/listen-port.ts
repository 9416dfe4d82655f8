// Where `webhook listen` is found unless it was told otherwise.

export const defaultListenPort = 4712;
export const defaultListenUrl = `http://127.0.0.1:${defaultListenPort}`;
