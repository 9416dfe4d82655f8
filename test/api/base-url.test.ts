// parseBaseUrl accepts only addresses that may receive a token.
import { describe, expect, test } from 'vitest';
import { parseBaseUrl } from '../../src/api/check-options.js';
import { Failure } from '../../src/formats/failure.js';

describe('base URL', () => {
  test.for([
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com/', 'https://api.example.com'],
    ['  https://api.example.com//\n', 'https://api.example.com'],
    ['https://api.example.com/api/v2', 'https://api.example.com'],
    ['https://api.example.com/api/v2/', 'https://api.example.com'],
    ['https://gate.example.com/wallet/api/v2', 'https://gate.example.com/wallet'],
    ['https://gate.example.com/wallet/', 'https://gate.example.com/wallet'],
    ['HTTPS://API.Example.com:443', 'https://api.example.com'],
    ['https://api.example.com:8443', 'https://api.example.com:8443'],
    ['http://localhost:8080/', 'http://localhost:8080'],
    ['http://sandbox.localhost', 'http://sandbox.localhost'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://127.8.9.10', 'http://127.8.9.10'],
    ['http://127.1', 'http://127.0.0.1'],
    ['http://[::1]:3000/api/v2', 'http://[::1]:3000'],
    ['api.example.com', 'https://api.example.com'],
    ['localhost:8080', 'http://localhost:8080'],
  ] as const)('parseBaseUrl reads %j as %s', ([text, expected]) => {
    expect(parseBaseUrl(text)).toBe(expected);
  });

  test.for([
    ['http://api.example.com', 'not encrypted'],
    ['http://10.0.0.1', 'not encrypted'],
    ['http://0.0.0.0', 'not encrypted'],
    ['http://128.0.0.1', 'not encrypted'],
    ['http://127.0.0.1.example.com', 'not encrypted'],
    ['http://localhost.example.com', 'not encrypted'],
    ['http://notlocalhost', 'not encrypted'],
    ['http://[::2]', 'not encrypted'],
    ['https://user:hunter2@api.example.com', 'user name or password'],
    ['https://hunter2@api.example.com', 'user name or password'],
    ['http://127.0.0.1@api.example.com', 'user name or password'],
    ['https://api.example.com?key=hunter2', 'query'],
    ['https://api.example.com/#top', 'fragment'],
    ['user:hunter2@api.example.com', 'The base URL is not valid'],
    ['ftp://api.example.com', 'The base URL is not valid'],
    ['https://', 'The base URL is not valid'],
    ['', 'The base URL is not valid'],
  ] as const)('parseBaseUrl refuses %j with "%s" in the message', ([text, why]) => {
    const parse = (): string => parseBaseUrl(text);
    expect(parse).toThrow(Failure);
    expect(parse).toThrow(
      expect.objectContaining({ kind: 'usage', message: expect.stringContaining(why) }),
    );
    expect(parse).not.toThrow(/hunter2/);
  });
});
