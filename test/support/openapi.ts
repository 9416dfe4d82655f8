// Checks the sandbox's responses against the OpenAPI description that it serves: paths, statuses
// and every field.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import * as v from 'valibot';
import type { Incoming, Outgoing } from '../../src/sandbox/routing.js';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.js';
import { openSqlite } from '../../src/store/files/sqlite-file.js';
import { withLiveShapes, type ShapedOptions } from './live-shapes/apply.js';

/** A request and its response. */
export interface Exchange {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly requestBody?: string | undefined;
  readonly status: number;
  readonly body: string;
}

/**
 * Throws if the description does not allow the response, or if the service accepted a request that
 * the description does not allow.
 */
export type Check = (exchange: Exchange) => void;

const content = v.object({
  content: v.object({ 'application/json': v.object({ schema: v.looseObject({}) }) }),
});
const operationShape = v.object({
  requestBody: v.optional(content),
  responses: v.record(v.string(), content),
});
const documentShape = v.object({
  paths: v.record(v.string(), v.record(v.string(), operationShape)),
  components: v.object({ schemas: v.record(v.string(), v.looseObject({})) }),
});

interface Operation {
  readonly method: string;
  readonly pattern: RegExp;
  readonly answers: ReadonlyMap<string, ValidateFunction>;
  readonly request: ValidateFunction | undefined;
}

/**
 * The paths that the OpenAPI description omits: the sandbox's test controls, the payment pages, and
 * the description itself.
 */
const apart = /^\/(_sandbox\/|pay\/|openapi\.json)/;
const notFound = '{"error":"not found"}';

export function openApiCheck(text: string): Check {
  const operations = compile(text);
  return ({ method, target, requestBody, status, body }) => {
    const [path = ''] = target.split('?');
    if (apart.test(path)) return;
    const complain = (what: string): never => {
      throw new Error(`${method} ${target} answered ${status}: ${what}\n${body.slice(0, 2000)}`);
    };
    const operation = operations.find((each) => each.method === method && each.pattern.test(path));
    if (operation === undefined) {
      if (status !== 404 || body !== notFound) complain('it is not described');
      return;
    }
    const answer = operation.answers.get(String(status)) ?? complain('the status is not described');
    if (!answer(JSON.parse(body))) complain(faults(answer));
    const { request } = operation;
    if (status === 200 && request && !request(JSON.parse(requestBody ?? '')))
      complain(`request: ${faults(request)}`);
  };
}

const faults = ({ errors }: ValidateFunction): string =>
  (errors ?? [])
    .map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
    .join('\n');

const compiled = new Map<string, readonly Operation[]>();

function compile(text: string): readonly Operation[] {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const { paths, components } = v.parse(documentShape, JSON.parse(text));
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    strictTypes: false,
    allErrors: true,
  });
  ajv
    .addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
    .addFormat('uri', URL.canParse);
  ajv.addVocabulary(['components']);
  const validators = new Map<string, ValidateFunction>();
  // Most responses share a few schemas, so each schema is compiled only once.
  const validator = (schema: object): ValidateFunction => {
    const name = JSON.stringify(schema);
    const validate = validators.get(name) ?? ajv.compile({ ...schema, components });
    validators.set(name, validate);
    return validate;
  };
  // In OpenAPI, a path without parameters takes precedence over a path with parameters.
  const rows = Object.entries(paths).toSorted(([a], [b]) => braces(a) - braces(b));
  const operations = rows.flatMap(([path, methods]) => {
    const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`);
    return Object.entries(methods).map(([method, { requestBody, responses }]): Operation => ({
      method: method.toUpperCase(),
      pattern,
      answers: new Map(
        Object.entries(responses).map(([status, answer]) => [status, validator(schemaOf(answer))]),
      ),
      request: requestBody && validator(schemaOf(requestBody)),
    }));
  });
  compiled.set(text, operations);
  return operations;
}

const braces = (path: string): number => path.split('{').length;
const schemaOf = (described: v.InferOutput<typeof content>): object =>
  described.content['application/json'].schema;

const checks = new Map<string, Promise<Check>>();

/**
 * Returns the check for the service at `url`. Services with the same service name share one check,
 * because their OpenAPI descriptions are identical.
 */
export async function checkFor(
  url: string,
  send: (request: Request) => Promise<Response> = fetch,
  serviceName = 'service',
): Promise<Check> {
  const known = checks.get(serviceName);
  if (known !== undefined) return known;
  const check = send(new Request(`${url}/openapi.json`)).then(async (response) =>
    openApiCheck(await response.text()),
  );
  checks.set(serviceName, check);
  return check;
}

/**
 * Starts a sandbox and checks its responses before a live shape or a fault changes them; `stop`
 * rejects if a response did not match.
 */
export async function startCheckedSandbox(options: ShapedOptions = {}): Promise<Sandbox> {
  const checks: Check[] = [];
  const wrong: unknown[] = [];
  const verify = ({ method, target, body }: Incoming, answer: Outgoing): void => {
    try {
      const requestBody = Buffer.from(body).toString();
      for (const check of checks)
        check({ method, target, requestBody, status: answer.status, body: answer.body });
    } catch (error) {
      wrong.push(error);
    }
  };
  const shaped = withLiveShapes(options);
  const { intercept = (incoming, respond) => respond(incoming) } = shaped;
  const sandbox = await startSandbox({
    openFile: openSqlite,
    ...shaped,
    intercept: (incoming, respond) =>
      intercept(incoming, (asked) => {
        const answer = respond(asked);
        verify(asked, answer);
        return answer;
      }),
  });
  checks.push(await checkFor(sandbox.url, fetch, options.maker));
  return {
    ...sandbox,
    async stop() {
      await sandbox.stop();
      if (wrong.length > 0) throw new AggregateError(wrong, wrong.map(String).join('\n\n'));
    },
  };
}
