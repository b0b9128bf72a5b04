// What a page has seen, in order, in short words; tests ask for it with `tell`.
const seen = [];

function note(what) {
  seen.push(what);
}

// Reports what was seen since the last time.
function tell(name) {
  report(name, seen.splice(0));
}

// Notes events: type, id of the target, and what else there is to say.
function watch(target, ...types) {
  for (const type of types) target.addEventListener(type, (event) => note(words(event)), true);
}

function words(event) {
  const at = event.composedPath()[0];
  const parts = [event.type, at.id || at.localName || 'page'];
  for (const key of ['ctrl', 'alt', 'shift', 'meta']) if (event[`${key}Key`]) parts.push(key);
  if (event.button > 0) parts.push(`button${event.button}`);
  if (event.detail > 1 && event.type !== 'dblclick') parts.push(`x${event.detail}`);
  if (event.key) parts.push(event.key);
  if (!event.isTrusted) parts.push('untrusted');
  return parts.join(' ');
}

// Makes elements from ids.
function at(id) {
  return document.getElementById(id);
}
