// A registry on loopback that serves the packed package, and sends npm to the real registry for
// every other package.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** Starts the registry. Returns its `url`, and `close`. */
export async function startRegistry(tarball, upstream) {
  const bytes = readFileSync(tarball);
  const packageJson = JSON.parse(
    execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }),
  );
  const { name, version } = packageJson;
  const path = `/${name}/-/${name}-${version}.tgz`;
  const listing = (url) => ({
    name,
    'dist-tags': { latest: version },
    versions: {
      [version]: {
        ...packageJson,
        dist: {
          tarball: `${url}${path}`,
          shasum: createHash('sha1').update(bytes).digest('hex'),
          integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
        },
      },
    },
  });
  const server = createServer((request, response) => {
    if (request.url === path) response.end(bytes);
    else if (request.url === `/${name}`)
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify(listing(`http://${request.headers.host}`)));
    else response.writeHead(302, { location: new URL(request.url.slice(1), upstream).href }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
