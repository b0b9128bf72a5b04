/**
 * Reads glTF and GLB, from an address or from a file that was dropped.
 *
 * Says in plain words why a model cannot be had: the address, the server, CORS, the size, the
 * format. Draco and KTX2 need decoders that are not bundled; files that demand them are refused
 * by name.
 */

import { Light, type Object3D } from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';

/** The largest file that is read. */
export const MODEL_BYTES = 64 * 1024 * 1024;

/** How long an address may take. */
const FETCH_WITHIN_MS = 20_000;

/** Why a model could not be loaded, and what to try. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
}

/** Returns the address in full, or throws what is wrong with it. */
export function readAddress(address: string, base: string): URL {
  const url = URL.canParse(address, base) ? new URL(address, base) : undefined;
  if (url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw new ModelError(`\`url\` must be an http or https address of a .glb or .gltf file`);
}

/** Fetches and reads the model at an address. */
export async function fetchModel(url: URL): Promise<Object3D> {
  const bytes = await fetchBytes(url);
  return parse(bytes, new URL('.', url).href);
}

/** Reads the model in a file. */
export async function readModelFile(file: File): Promise<Object3D> {
  if (file.size > MODEL_BYTES) throw tooLarge(file.size);
  return parse(await file.arrayBuffer(), '');
}

async function fetchBytes(url: URL): Promise<ArrayBuffer> {
  let response: Response;
  try {
    const signal = AbortSignal.timeout(FETCH_WITHIN_MS);
    response = await fetch(url, { signal, credentials: 'same-origin' });
    if (!response.ok) throw new ModelError(`${url.href} answers with status ${response.status}`);
    const announced = Number(response.headers.get('content-length') ?? 0);
    if (announced > MODEL_BYTES) throw tooLarge(announced);
    const bytes = await response.arrayBuffer();
    if (bytes.byteLength > MODEL_BYTES) throw tooLarge(bytes.byteLength);
    return bytes;
  } catch (error) {
    if (error instanceof ModelError) throw error;
    if (error instanceof DOMException && error.name === 'TimeoutError') {
      throw new ModelError(`${url.href} did not arrive within ${FETCH_WITHIN_MS / 1000}s`);
    }
    throw new ModelError(
      `${url.href} cannot be fetched; ` +
        `it must exist and allow other origins (CORS), or be on ${location.origin}`,
    );
  }
}

async function parse(bytes: ArrayBuffer, base: string): Promise<Object3D> {
  const start = new TextDecoder().decode(bytes.slice(0, 200)).trimStart();
  if (!start.startsWith('glTF') && !start.startsWith('{')) {
    throw new ModelError('this is neither a .glb nor a .gltf file, whatever its name says');
  }
  try {
    const { scene } = await new GLTFLoader().parseAsync(bytes, base);
    removeLights(scene);
    return scene;
  } catch (error) {
    const thrown = error instanceof Error ? error.message : String(error);
    const reason = thrown.replace(/^THREE\.\w+: /, '');
    throw new ModelError(
      `this is no glTF that can be shown: ${reason}; ` +
        'try a .glb without Draco or KTX2 compression',
    );
  }
}

// The viewer's lights are the state's; a file's own would be there without being told of.
function removeLights(scene: Object3D): void {
  const lights: Object3D[] = [];
  scene.traverse((part) => {
    if (part instanceof Light) lights.push(part);
  });
  for (const light of lights) light.removeFromParent();
}

function tooLarge(bytes: number): ModelError {
  const megabytes = (count: number) => `${Math.ceil(count / 1024 / 1024)} MB`;
  return new ModelError(`the file has ${megabytes(bytes)}, the limit is ${megabytes(MODEL_BYTES)}`);
}
