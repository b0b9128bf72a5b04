/**
 * Serves the corpus on loopback. Pages reach it by two host names, so that frames can be foreign.
 */

import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { extname, join, normalize } from 'node:path';

const TYPES: ReadonlyMap<string, string> = new Map([['.html', 'text/html; charset=utf-8']]);

export class PageServer {
  readonly #server: Server;
  readonly #port: number;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.#port = port;
  }

  static start(folder: string): Promise<PageServer> {
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://host');
      const body = read(join(folder, normalize(decodeURIComponent(pathname))));
      const type = TYPES.get(extname(pathname)) ?? 'application/octet-stream';
      response.writeHead(body === null ? 404 : 200, { 'content-type': type });
      response.end(body ?? '');
    });
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        if (address === null || typeof address === 'string') reject(new Error('no port'));
        else resolve(new PageServer(server, address.port));
      });
    });
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.#port}/${path}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

function read(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch {
    return null;
  }
}
