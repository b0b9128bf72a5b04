import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Box3, BoxGeometry, Group, Mesh, MeshStandardMaterial, Vector3 } from 'three';
import { BUILTINS } from '../src/models/builtin';
import { fit, materialsOf, outlineOf } from '../src/models/fit';
import { readAddress } from '../src/models/gltf';
import { BUILTIN_NAMES } from '../src/models/names';

test('every built-in model is centred, of the common size and partly of the set colour', () => {
  for (const name of BUILTIN_NAMES) {
    const model = fit(BUILTINS[name].build());
    const box = new Box3().setFromObject(model, true);
    const size = box.getSize(new Vector3());
    assert.ok(box.getCenter(new Vector3()).length() < 1e-6, name);
    assert.ok(Math.max(size.x, size.y, size.z) <= 8.2 + 1e-6, name);
    assert.ok(Math.max(size.x, size.y, size.z) > 6, name);
    assert.ok(
      [...materialsOf(model)].some(({ userData }) => !userData.keepsColor),
      name,
    );
    assert.match(BUILTINS[name].color, /^#[0-9a-f]{6}$/);
  }
});

test('a model of any size and place is brought to the middle', () => {
  for (const scale of [0.0001, 1, 100_000]) {
    const box = new Mesh(new BoxGeometry(1, 2, 1), new MeshStandardMaterial());
    box.position.set(5, -3, 40);
    const object = new Group();
    object.add(box);
    object.scale.setScalar(scale);
    const bounds = new Box3().setFromObject(fit(object), true);
    assert.ok(bounds.getCenter(new Vector3()).length() < 1e-6);
    assert.ok(Math.abs(bounds.max.y - 4.1) < 1e-6);
  }
});

test('a model without anything to show is refused', () => {
  assert.throws(() => fit(new Group()), /nothing to show/);
});

test('the outline of a model has few points and nearly its box', () => {
  const model = fit(BUILTINS.knot.build());
  const points = outlineOf(model, 2000);
  assert.ok(points.length <= 2001, `${points.length}`);
  const near = new Box3().setFromPoints([...points]).getSize(new Vector3());
  const exact = new Box3().setFromObject(model, true).getSize(new Vector3());
  assert.ok(near.distanceTo(exact) < 0.2);
});

test('addresses of models are http or https, relative ones belong to the page', () => {
  const page = 'http://127.0.0.1:8765/viewer/?name=a';
  assert.equal(readAddress('chair.glb', page).href, 'http://127.0.0.1:8765/viewer/chair.glb');
  assert.equal(readAddress('https://a.example/b.gltf', page).host, 'a.example');
  for (const wrong of ['file:///etc/passwd', 'javascript:alert(1)', 'http://', 'ftp://a/b.glb']) {
    assert.throws(() => readAddress(wrong, page), /must be an http or https address/, wrong);
  }
});
